// A reduction of one's own, as a user of reduce_functor.h writes it, and what its tests share on every
// target.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "rooftile/core/context.h"
#include "rooftile/core/memory.h"

namespace rooftile {
namespace sim {
Status root_of_squares(StreamRef stream, const DeviceProperties& device, const float* g_in, std::int64_t n,
                       float* g_out, const Workspace& workspace);
WorkspaceSpec root_of_squares_workspace(const DeviceProperties& device);
}  // namespace sim
namespace cuda {
Status root_of_squares(StreamRef stream, const DeviceProperties& device, const float* g_in, std::int64_t n,
                       float* g_out, const Workspace& workspace);
WorkspaceSpec root_of_squares_workspace(const DeviceProperties& device);
}  // namespace cuda

namespace testing_reduce {

using Launch = Status (*)(StreamRef, const DeviceProperties&, const float*, std::int64_t, float*,
                          const Workspace&);
using Spec = WorkspaceSpec (*)(const DeviceProperties&);

// 3, 4, 3, 4 ...: the squares add up exactly.
inline void expect_root_of_squares(Device device, Launch launch, Spec spec) {
  Result<Context> context = Context::create(device);
  ASSERT_TRUE(context.ok()) << context.status().message();
  for (const std::int64_t n : {0, 1, 33, 4096, 70001}) {
    std::vector<float> x(static_cast<std::size_t>(n) + 1, -1.0f);
    double squares = 0.0;
    for (std::size_t i = 0; i + 1 < x.size(); ++i) {
      x[i] = i % 2 == 0 ? 3.0f : 4.0f;
      squares += static_cast<double>(x[i]) * x[i];
    }
    Result<DeviceMemory> memory = DeviceMemory::allocate(device, x.size() * sizeof(float));
    ASSERT_TRUE(memory.ok());
    auto* data = static_cast<float*>(memory->data());
    ASSERT_TRUE(copy(context->stream(), data, device, x.data(), kCpu, x.size() * sizeof(float)).ok());
    Result<Workspace> workspace = context->workspace(spec(context->properties()));
    ASSERT_TRUE(workspace.ok());
    for (int run = 0; run < 2; ++run) {  // the second finds the tickets at zero again
      const Status status = launch(context->stream(), context->properties(), data, n, data + n, *workspace);
      ASSERT_TRUE(status.ok()) << status.message();
    }
    float out = -1.0f;
    ASSERT_TRUE(copy(context->stream(), &out, kCpu, data + n, device, sizeof(out)).ok());
    ASSERT_TRUE(context->check().ok());
    EXPECT_EQ(out, static_cast<float>(std::sqrt(squares))) << "n = " << n;
  }
  const Status refused = launch(context->stream(), context->properties(), nullptr, 8, nullptr, Workspace{});
  EXPECT_EQ(refused.rule(), "reduce_with: the workspace is smaller than reduce_with_workspace() asks for");
}

}  // namespace testing_reduce
}  // namespace rooftile
