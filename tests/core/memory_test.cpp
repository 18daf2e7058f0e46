#include "rooftile/core/memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "rooftile/core/detail/fault.h"
#include "rooftile/core/host_tensor.h"

namespace rooftile {
namespace {

bool aligned(const void* data, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(data) % alignment == 0;
}

class HostMemory : public testing::TestWithParam<Device> {
 protected:
  void TearDown() override { detail::fail_allocation_after(-1); }
  [[nodiscard]] StreamRef stream() const { return {GetParam(), nullptr}; }
};
INSTANTIATE_TEST_SUITE_P(Devices, HostMemory, testing::Values(kCpu, kSim),
                         [](const auto& test) { return to_string(test.param); });

TEST_P(HostMemory, IsAlignedOwnedAndMovable) {
  Result<DeviceMemory> memory = DeviceMemory::allocate(GetParam(), 1000);
  ASSERT_TRUE(memory.ok());
  EXPECT_TRUE(aligned(memory->data(), kAllocationAlignment));
  EXPECT_EQ(memory->bytes(), 1000u);
  EXPECT_EQ(memory->device(), GetParam());
  std::memset(memory->data(), 1, 1000);
  void* const data = memory->data();
  DeviceMemory moved = std::move(*memory);
  EXPECT_EQ(moved.data(), data);
  EXPECT_EQ(memory->data(), nullptr);
  DeviceMemory other;
  other = std::move(moved);
  EXPECT_EQ(other.data(), data);
  EXPECT_TRUE(aligned(PinnedMemory::allocate(GetParam(), 1)->data(), kAllocationAlignment));
}

TEST_P(HostMemory, ZeroBytesAreLegal) {
  EXPECT_EQ(DeviceMemory::allocate(GetParam(), 0)->data(), nullptr);
  EXPECT_EQ(PinnedMemory::allocate(GetParam(), 0)->data(), nullptr);
  const Result<MemoryPool> pool = MemoryPool::create(GetParam());
  ASSERT_TRUE(pool.ok());
  EXPECT_EQ(*pool->allocate(stream(), 0), nullptr);
  EXPECT_TRUE(pool->release(stream(), nullptr).ok());
  EXPECT_TRUE(copy(stream(), nullptr, GetParam(), nullptr, GetParam(), 0).ok());
  EXPECT_TRUE(fill_bytes(stream(), nullptr, 0, 0).ok());
}

TEST_P(HostMemory, AbsurdSizesAreOutOfMemory) {
  for (const std::size_t bytes : {std::size_t{1} << 62, std::numeric_limits<std::size_t>::max()}) {
    const Result<DeviceMemory> memory = DeviceMemory::allocate(GetParam(), bytes);
    EXPECT_EQ(memory.status().code(), StatusCode::out_of_memory);
    EXPECT_NE(memory.status().rule().find("EiB"), std::string::npos) << memory.status().rule();
  }
}

TEST_P(HostMemory, CopiesAndFills) {
  std::vector<unsigned char> from(100, 7);
  std::vector<unsigned char> to(100, 0);
  ASSERT_TRUE(copy(stream(), to.data(), GetParam(), from.data(), kCpu, 100).ok());
  EXPECT_EQ(to, from);
  ASSERT_TRUE(fill_bytes(stream(), to.data(), 0xff, 50).ok());
  EXPECT_EQ(to[49], 0xff);
  EXPECT_EQ(to[50], 7);
  EXPECT_EQ(copy(stream(), nullptr, GetParam(), from.data(), kCpu, 1).code(), StatusCode::invalid_argument);
  EXPECT_EQ(copy(stream(), to.data(), GetParam(), nullptr, kCpu, 1).code(), StatusCode::invalid_argument);
  EXPECT_EQ(fill_bytes(stream(), nullptr, 0, 1).code(), StatusCode::invalid_argument);
  EXPECT_FALSE(copy(stream(), to.data(), cuda_device(0), from.data(), kCpu, 1).ok());
}

TEST_P(HostMemory, TheChosenAllocationFailsAndTheNextWorks) {
  const Result<MemoryPool> pool = MemoryPool::create(GetParam());
  ASSERT_TRUE(pool.ok());
  detail::fail_allocation_after(0);
  EXPECT_EQ(DeviceMemory::allocate(GetParam(), 8).status().code(), StatusCode::out_of_memory);
  EXPECT_TRUE(DeviceMemory::allocate(GetParam(), 8).ok());
  detail::fail_allocation_after(0);
  EXPECT_EQ(PinnedMemory::allocate(GetParam(), 8).status().code(), StatusCode::out_of_memory);
  detail::fail_allocation_after(0);
  EXPECT_EQ(pool->allocate(stream(), 8).status().code(), StatusCode::out_of_memory);
  detail::fail_allocation_after(2);
  EXPECT_TRUE(DeviceMemory::allocate(GetParam(), 8).ok());
  EXPECT_TRUE(DeviceMemory::allocate(GetParam(), 8).ok());
  EXPECT_FALSE(DeviceMemory::allocate(GetParam(), 8).ok());
  EXPECT_TRUE(DeviceMemory::allocate(GetParam(), 8).ok());
  detail::fail_allocation_after(0);
  detail::fail_allocation_after(-1);
  EXPECT_TRUE(DeviceMemory::allocate(GetParam(), 8).ok());
}

TEST_P(HostMemory, APoolServesStreamsOfItsDeviceAlone) {
  const Result<MemoryPool> pool = MemoryPool::create(GetParam());
  const StreamRef foreign{GetParam() == kCpu ? kSim : kCpu, nullptr};
  EXPECT_EQ(pool->allocate(foreign, 8).status().code(), StatusCode::invalid_argument);
  const Result<void*> data = pool->allocate(stream(), 8);
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(pool->release(foreign, *data).code(), StatusCode::invalid_argument);
  EXPECT_TRUE(pool->release(stream(), *data).ok());
}

TEST(FaultInjection, ExactlyOneOfManyThreadsFails) {
  detail::fail_allocation_after(50);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) failures += DeviceMemory::allocate(kCpu, 16).ok() ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 1);
}

TEST(HostTensor, OwnsTypedElements) {
  Result<HostTensor> tensor = HostTensor::create(DType::i32, Extents{2, 3});
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->numel(), 6);
  EXPECT_EQ(tensor->bytes(), 24u);
  EXPECT_TRUE(aligned(tensor->data(), 64));
  for (std::int64_t i = 0; i < 6; ++i) tensor->set(i, static_cast<double>(i));
  EXPECT_EQ(tensor->as<std::int32_t>()[5], 5);
  EXPECT_EQ(tensor->at(4), 4.0);
  EXPECT_TRUE(check_view(tensor->view(), "tensor").ok());
  EXPECT_EQ(HostTensor().numel(), 0);
}

TEST(HostTensor, RefusesShapesThatCannotBe) {
  EXPECT_EQ(HostTensor::create(DType::f32, Extents{-1}).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(HostTensor::create(DType::f32, Extents{std::int64_t{1} << 62}).status().code(),
            StatusCode::invalid_argument);
  EXPECT_EQ(HostTensor::create(DType::f32, Extents{std::int64_t{1} << 58}).status().code(),
            StatusCode::out_of_memory);
  EXPECT_TRUE(HostTensor::create(DType::f32, Extents{0}).ok());
}

}  // namespace
}  // namespace rooftile
