// What is special to access_count: 256 threads that add 3, on every device that is usable here and by every
// rung that may be trusted. The cases themselves run through the lab.
#include "rooftile/lessons/access_count/access_count.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

#include "rooftile/core/memory.h"
#include "rooftile/core/operator.h"

namespace rooftile {
namespace {

std::vector<Device> usable_devices() {
  std::vector<Device> devices = {kCpu, kSim};
  if (cuda_device_count() > 0) devices.push_back(cuda_device(0));
  return devices;
}

class AccessCountTest : public ::testing::TestWithParam<Device> {
 protected:
  // What each rung that serves the call leaves, by its id.
  void count(const std::vector<std::int32_t>& values, std::int32_t expected) {
    const Device device = GetParam();
    Result<Context> context = Context::create(device);
    ASSERT_TRUE(context.ok()) << context.status().message();
    const std::size_t bytes = values.size() * sizeof(std::int32_t);
    Result<DeviceMemory> x = DeviceMemory::allocate(device, bytes);
    Result<DeviceMemory> y = DeviceMemory::allocate(device, sizeof(std::int32_t));
    ASSERT_TRUE(x.ok() && y.ok());
    ASSERT_TRUE(copy(context->stream(), x->data(), device, values.data(), kCpu, bytes).ok());
    const AccessCountArgs args{
        .x = contiguous_view<void>(x->data(), DType::i32, device, {static_cast<std::int64_t>(values.size())}),
        .y = contiguous_view<void>(y->data(), DType::i32, device, {})};
    int ran = 0;
    for (const RungRow& rung : access_count_operator().rungs) {
      if (!unsupported_reason(rung, ArgsRef::of(args), context->properties()).empty()) continue;
      const Status status = run_rung(access_count_operator(), rung, *context, ArgsRef::of(args));
      ASSERT_TRUE(status.ok()) << status.message();
      std::int32_t total = -1;
      ASSERT_TRUE(copy(context->stream(), &total, kCpu, y->data(), device, sizeof total).ok());
      EXPECT_EQ(total, expected) << rung.id;
      EXPECT_NE(rung.id, "unguarded");
      ++ran;
    }
    EXPECT_EQ(ran, device.kind == DeviceKind::cpu ? 1 : 3);
  }
};

TEST_P(AccessCountTest, Adds256Times3) { count(std::vector<std::int32_t>(256, 3), 768); }

TEST_P(AccessCountTest, Wraps) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  count({kMost, 1}, std::numeric_limits<std::int32_t>::min());
}

// The race itself, past the dispatchers that refuse it: some additions are lost, but none is torn.
TEST(AccessCountTestRace, LeavesAMultipleOf3OnAGpu) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU is usable here";
  const Device device = cuda_device(0);
  Result<Context> context = Context::create(device);
  Result<DeviceMemory> x = DeviceMemory::allocate(device, 256 * sizeof(std::int32_t));
  Result<DeviceMemory> y = DeviceMemory::allocate(device, sizeof(std::int32_t));
  ASSERT_TRUE(context.ok() && x.ok() && y.ok());
  const std::vector<std::int32_t> threes(256, 3);
  ASSERT_TRUE(copy(context->stream(), x->data(), device, threes.data(), kCpu, x->bytes()).ok());
  const AccessCountArgs args{.x = contiguous_view<void>(x->data(), DType::i32, device, {256}),
                             .y = contiguous_view<void>(y->data(), DType::i32, device, {})};
  const RungRow* race = access_count_operator().find_rung("unguarded");
  const RungPlan plan;
  ASSERT_TRUE(
      race->launch.cuda({context->stream(), &context->properties(), ArgsRef::of(args), &plan, {}}).ok());
  std::int32_t total = -1;
  ASSERT_TRUE(copy(context->stream(), &total, kCpu, y->data(), device, sizeof total).ok());
  std::printf("256 threads add 3 without a guard: %d\n", total);
  EXPECT_EQ(total % 3, 0);
  EXPECT_GE(total, 3);
  EXPECT_LT(total, 768);
}

INSTANTIATE_TEST_SUITE_P(Devices, AccessCountTest, ::testing::ValuesIn(usable_devices()),
                         [](const auto& param) {
                           return std::string(param.param.kind == DeviceKind::cpu   ? "cpu"
                                              : param.param.kind == DeviceKind::sim ? "sim"
                                                                                    : "cuda");
                         });

}  // namespace
}  // namespace rooftile
