// What the tests of the building blocks share. Each test is compiled twice, with ROOFTILE_TARGET=sim into the
// simulator's program and with ROOFTILE_TARGET=cuda into the one that is carried to a GPU; the kernels that
// it calls are the same source.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/core/context.h"
#include "rooftile/core/memory.h"
#include "rooftile/sim/config.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {

#define ROOFTILE_TEXT_OF(name) #name
#define ROOFTILE_TEXT(name) ROOFTILE_TEXT_OF(name)
inline constexpr bool kOnSim = std::string_view(ROOFTILE_TEXT(ROOFTILE_TARGET)) == "sim";

inline ::testing::AssertionResult is_ok(const Status& status) {
  if (status.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << status.message();
}

// Device memory that starts as a copy of a vector.
template <class T>
class DeviceArray {
 public:
  DeviceArray(StreamRef stream, const std::vector<T>& values) : stream_(stream), count_(values.size()) {
    Result<DeviceMemory> memory = DeviceMemory::allocate(stream.device, bytes() + kSlack);
    EXPECT_TRUE(memory.ok());
    memory_ = std::move(*memory);
    EXPECT_TRUE(is_ok(copy(stream_, data(), stream_.device, values.data(), kCpu, bytes())));
  }
  [[nodiscard]] T* data() const { return static_cast<T*>(memory_.data()); }
  // After all work of the stream.
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(count_);
    EXPECT_TRUE(is_ok(copy(stream_, values.data(), kCpu, data(), stream_.device, bytes())));
    EXPECT_TRUE(is_ok(synchronize(stream_)));
    return values;
  }

 private:
  static constexpr std::size_t kSlack = 16;  // an empty array has an address too
  [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(T); }
  StreamRef stream_;
  std::size_t count_;
  DeviceMemory memory_;
};

// On the simulated SM each test runs in three lane orders; on a GPU once.
class BlockTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if constexpr (kOnSim) {
#if defined(ROOFTILE_TEST_SIM)
      Result<simt::ExecutorConfig> config = simt::executor_config();
      ASSERT_TRUE(config.ok());
      ASSERT_TRUE(is_ok(simt::parse_lane_order(GetParam(), *config)));
      config->watchdog = std::chrono::seconds(2);
      ASSERT_TRUE(is_ok(simt::set_executor_config(*config)));
#endif
    } else if (cuda_device_count() == 0) {
      GTEST_SKIP() << cuda_availability().message();
    }
    Result<Context> context = Context::create(kOnSim ? kSim : cuda_device(0));
    ASSERT_TRUE(context.ok()) << context.status().message();
    context_.emplace(std::move(*context));
  }

  [[nodiscard]] StreamRef stream() const { return context_->stream(); }
  [[nodiscard]] const DeviceProperties& properties() const { return context_->properties(); }
  template <class T>
  [[nodiscard]] DeviceArray<T> upload(const std::vector<T>& values) const {
    return DeviceArray<T>(stream(), values);
  }
  template <class T>
  [[nodiscard]] DeviceArray<T> poisoned(std::size_t count) const {
    std::vector<T> values(count);
    if (count > 0) std::memset(static_cast<void*>(values.data()), 0xab, count * sizeof(T));
    return upload(values);
  }

 private:
  std::optional<Context> context_;
};

#if defined(ROOFTILE_TEST_SIM)
inline const char* const kOrders[] = {"forward", "reversed", "random:7"};
#else
inline const char* const kOrders[] = {"gpu"};
#endif

// "forward", "reversed", "random".
inline std::string order_name(const ::testing::TestParamInfo<const char*>& info) {
  const std::string_view name = info.param;
  return std::string(name.substr(0, name.find(':')));
}

#define ROOFTILE_ON_EVERY_ORDER(Suite) \
  INSTANTIATE_TEST_SUITE_P(On, Suite, ::testing::ValuesIn(kOrders), order_name)

// Random bytes as values of a type that has no invalid ones.
template <class T>
std::vector<T> random_values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  auto* bytes = reinterpret_cast<unsigned char*>(values.data());
  for (std::size_t i = 0; i < count * sizeof(T); ++i) bytes[i] = static_cast<unsigned char>(random());
  return values;
}

template <class T>
bool same_bytes(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
