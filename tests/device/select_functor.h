// A condition of one's own, as a user of select_functor.h writes it, and what its tests share on every target.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "rooftile/core/context.h"
#include "rooftile/core/memory.h"
#include "rooftile/core/tensor.h"

namespace rooftile {
namespace sim {
Status select_odd(StreamRef stream, std::int64_t n, const std::uint16_t* g_in, std::uint16_t* g_out,
                  std::int64_t* g_count, bool keeps_others, const Workspace& workspace);
WorkspaceSpec select_odd_workspace(std::int64_t n);
}  // namespace sim
namespace cuda {
Status select_odd(StreamRef stream, std::int64_t n, const std::uint16_t* g_in, std::uint16_t* g_out,
                  std::int64_t* g_count, bool keeps_others, const Workspace& workspace);
WorkspaceSpec select_odd_workspace(std::int64_t n);
}  // namespace cuda

namespace testing_select {

using SelectOdd = Status (*)(StreamRef, std::int64_t, const std::uint16_t*, std::uint16_t*, std::int64_t*,
                             bool, const Workspace&);
using SelectOddSpec = WorkspaceSpec (*)(std::int64_t);

// Off the alignment, twice with the same workspace.
inline void expect_odd_numbers(Device device, SelectOdd launch, SelectOddSpec spec) {
  Context context = Context::create(device).value();
  for (const std::int64_t n : {0, 1, 33, 8193, 140001}) {
    for (const bool keeps_others : {false, true}) {
      constexpr std::size_t kOff = 3;
      std::vector<std::uint16_t> x(kOff + static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint16_t>(i * 40503u >> 3);
      std::vector<std::uint16_t> expected;
      for (std::size_t i = kOff; i < x.size(); ++i)
        if (x[i] % 2 == 1) expected.push_back(x[i]);
      const auto chosen = static_cast<std::int64_t>(expected.size());
      for (std::size_t i = x.size(); i-- > kOff && keeps_others;)
        if (x[i] % 2 == 0) expected.push_back(x[i]);
      Tensor in = Tensor::from(context, view(x)).value();
      Tensor out = Tensor::zeros(context, {n}, DType::u16).value();
      Tensor count = Tensor::zeros(context, {1}, DType::i64).value();
      const Workspace workspace = context.workspace(spec(n)).value();
      // Half of them, then all: the second would see the first one's counts, were the tiles' words not zero again.
      for (const std::int64_t here : {n / 2, n}) {
        const Status status =
            launch(context.stream(), here, static_cast<std::uint16_t*>(in.data()) + kOff + (n - here),
                   static_cast<std::uint16_t*>(out.data()), static_cast<std::int64_t*>(count.data()),
                   keeps_others, workspace);
        ASSERT_TRUE(status.ok()) << status.message();
      }
      ASSERT_TRUE(context.check().ok());
      EXPECT_EQ(count.to_vector<std::int64_t>().value()[0], chosen);
      std::vector<std::uint16_t> got = out.to_vector<std::uint16_t>().value();
      got.resize(expected.size());
      EXPECT_EQ(got, expected) << n;
    }
  }
  const Status refused = launch(context.stream(), 1 << 20, nullptr, nullptr, nullptr, false, Workspace{});
  EXPECT_EQ(refused.rule(), "select_with: the workspace is smaller than select_with_workspace() asks for");
}

}  // namespace testing_select
}  // namespace rooftile
