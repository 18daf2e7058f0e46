// A scan of one's own, as a user of scan_functor.h writes it, and what its tests share on every target.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "rooftile/core/context.h"
#include "rooftile/core/memory.h"
#include "rooftile/core/tensor.h"

namespace rooftile {
namespace sim {
Status compose(StreamRef stream, const std::uint32_t* g_in, std::uint32_t* g_out, std::int64_t rows,
               std::int64_t length, bool exclusive, const Workspace& workspace);
WorkspaceSpec compose_workspace(std::int64_t rows, std::int64_t length);
}  // namespace sim
namespace cuda {
Status compose(StreamRef stream, const std::uint32_t* g_in, std::uint32_t* g_out, std::int64_t rows,
               std::int64_t length, bool exclusive, const Workspace& workspace);
WorkspaceSpec compose_workspace(std::int64_t rows, std::int64_t length);
}  // namespace cuda

namespace testing_scan {

using Compose = Status (*)(StreamRef, const std::uint32_t*, std::uint32_t*, std::int64_t, std::int64_t, bool,
                           const Workspace&);
using ComposeSpec = WorkspaceSpec (*)(std::int64_t, std::int64_t);

// Compositions of x -> (value % 5 + 1) x + value, which do not commute, in place and out of place, off the alignment.
inline void expect_compositions(Device device, Compose launch, ComposeSpec spec) {
  Context context = Context::create(device).value();
  for (const std::int64_t length : {0, 1, 33, 4097, 140001}) {
    for (const std::int64_t rows : {1, 3}) {
      for (const bool exclusive : {false, true}) {
        constexpr std::size_t kOff = 1;
        std::vector<std::uint32_t> x(kOff + static_cast<std::size_t>(rows * length));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint32_t>(i * 2654435761u);
        std::vector<std::uint32_t> expected = x;
        for (std::int64_t row = 0; row < rows; ++row) {
          std::uint32_t sum = 0;
          for (std::int64_t i = 0; i < length; ++i) {
            const std::size_t at = kOff + static_cast<std::size_t>(row * length + i);
            const std::uint32_t next = sum * (x[at] % 5 + 1) + x[at];
            expected[at] = exclusive ? sum : next;
            sum = next;
          }
        }
        Tensor data = Tensor::from(context, view(x)).value();
        auto* g_data = static_cast<std::uint32_t*>(data.data()) + kOff;
        Tensor other = Tensor::from(context, view(x)).value();
        auto* g_other = static_cast<std::uint32_t*>(other.data()) + kOff;
        const Workspace workspace = context.workspace(spec(rows, length)).value();
        // The second finds the nodes at zero again.
        for (std::uint32_t* g_out : {g_other, g_data}) {
          const Status status = launch(context.stream(), g_data, g_out, rows, length, exclusive, workspace);
          ASSERT_TRUE(status.ok()) << status.message();
        }
        ASSERT_TRUE(context.check().ok());
        EXPECT_EQ(other.to_vector<std::uint32_t>().value(), expected) << rows << " x " << length;
        EXPECT_EQ(data.to_vector<std::uint32_t>().value(), expected)
            << rows << " x " << length << ", in place";
      }
    }
  }
  const Status refused = launch(context.stream(), nullptr, nullptr, 1, 1 << 20, false, Workspace{});
  EXPECT_EQ(refused.rule(), "scan_with: the workspace is smaller than scan_with_workspace() asks for");
}

}  // namespace testing_scan
}  // namespace rooftile
