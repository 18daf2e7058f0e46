// What the tests of device/sm90a share: one test body for every target. A header of tests takes its kernels
// through a struct of functions; <name>_test.cpp instantiates it for the simulated SM in several lane orders,
// cuda_<name>_test.cpp for a GPU.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/context.h"
#include "rooftile/core/memory.h"

namespace rooftile::testing_sm90a {

// Where a test runs, and with which kernels.
template <class Kernels>
struct Target {
  std::string name;
  Device device;
  std::string lane_order;  // of the simulated SM
  Kernels kernels;
};
template <class Kernels>
void PrintTo(const Target<Kernels>& target, std::ostream* out) {
  *out << target.name;
}
template <class Kernels>
std::string target_name(const ::testing::TestParamInfo<Target<Kernels>>& info) {
  return info.param.name;
}

template <class Kernels>
std::vector<Target<Kernels>> sim_targets(const Kernels& kernels) {
  return {{"forward", kSim, "forward", kernels},
          {"reversed", kSim, "reversed", kernels},
          {"random", kSim, "random:7", kernels}};
}
template <class Kernels>
std::vector<Target<Kernels>> cuda_targets(const Kernels& kernels) {
  return {{"gpu", cuda_device(0), "", kernels}};
}

inline ::testing::AssertionResult is_ok(const Status& status) {
  if (status.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << status.message();
}

// Defined by the programs that hold the simulator; the others have no use for it.
void set_lane_order(const std::string& order);

// A test's SetUp: skips where the target is not.
template <class Kernels>
void start(const Target<Kernels>& target, std::optional<Context>& context) {
  if (target.device.kind == DeviceKind::cuda && !cuda_availability().ok()) {
    GTEST_SKIP() << cuda_availability().message();
  }
  if (!target.lane_order.empty()) set_lane_order(target.lane_order);
  Result<Context> created = Context::create(target.device);
  ASSERT_TRUE(is_ok(created.status()));
  if (target.device.kind == DeviceKind::cuda && created->properties().compute_capability != 90) {
    GTEST_SKIP() << "needs a GPU of compute capability 9.0";
  }
  context.emplace(std::move(created).value());
}

// An array in device memory that the host fills and reads.
template <class T>
class DeviceArray {
 public:
  DeviceArray(const Context& context, const std::vector<T>& values)
      : stream_(context.stream()), count_(values.size()) {
    Result<DeviceMemory> memory = DeviceMemory::allocate(context.device(), count_ * sizeof(T));
    EXPECT_TRUE(is_ok(memory.status()));
    if (memory.ok()) memory_ = std::move(memory).value();
    EXPECT_TRUE(
        is_ok(copy(stream_, memory_.data(), stream_.device, values.data(), kCpu, count_ * sizeof(T))));
  }
  [[nodiscard]] T* data() const { return static_cast<T*>(memory_.data()); }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(count_);
    EXPECT_TRUE(
        is_ok(copy(stream_, values.data(), kCpu, memory_.data(), stream_.device, count_ * sizeof(T))));
    EXPECT_TRUE(is_ok(synchronize(stream_)));
    return values;
  }

 private:
  StreamRef stream_;
  std::size_t count_;
  DeviceMemory memory_;
};

// Bytes that differ from their neighbours, and are small integers' only by chance.
inline std::vector<std::byte> some_bytes(std::size_t count, std::uint32_t seed = 1) {
  std::vector<std::byte> bytes(count);
  std::uint32_t state = seed;
  for (std::byte& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

}  // namespace rooftile::testing_sm90a
