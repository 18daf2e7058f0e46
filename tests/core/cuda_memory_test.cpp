#include <array>
#include <cstdint>
#include <utility>

#include "tests/core/cuda_testing.h"

namespace rooftile {
namespace {

using CudaMemory = CudaTest;

TEST_F(CudaMemory, PropertiesDescribeAGpu) {
  const Result<const DeviceProperties*> properties = device_properties(kGpu);
  ASSERT_TRUE(properties.ok()) << properties.status().message();
  EXPECT_EQ((*properties)->device, kGpu);
  EXPECT_FALSE((*properties)->name.empty());
  EXPECT_GE((*properties)->compute_capability, 50);
  EXPECT_GE((*properties)->multiprocessors, 1);
  EXPECT_GE((*properties)->max_threads_per_block, 1024);
  EXPECT_GE((*properties)->max_threads_per_multiprocessor, 1024);
  EXPECT_GE((*properties)->shared_memory_per_block, std::size_t{48} << 10);
  EXPECT_GT((*properties)->last_level_cache, std::size_t{1} << 18);
  EXPECT_GT((*properties)->memory_bytes, std::size_t{1} << 30);
  EXPECT_GT((*properties)->peak_bandwidth_gbps, 50.0);
  EXPECT_LT((*properties)->peak_bandwidth_gbps, 100000.0);
  EXPECT_GE((*properties)->driver_version, (*properties)->runtime_version / 1000 * 1000);
  EXPECT_EQ(*device_properties(kGpu), *properties);
  EXPECT_EQ(default_device(), kGpu);
}

TEST_F(CudaMemory, RoundTripsThroughPinnedMemory) {
  const Stream stream = Stream::create(kGpu).value();
  const DeviceMemory device = DeviceMemory::allocate(kGpu, 4096).value();
  const PinnedMemory pinned = PinnedMemory::allocate(kGpu, 4096).value();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(device.data()) % kAllocationAlignment, 0u);
  ASSERT_TRUE(fill_bytes(stream.ref(), device.data(), 0xa5, 4096).ok());
  ASSERT_TRUE(copy(stream.ref(), pinned.data(), kCpu, device.data(), kGpu, 4096).ok());
  ASSERT_TRUE(stream.synchronize().ok());
  for (std::size_t i = 0; i < 4096; ++i) ASSERT_EQ(static_cast<unsigned char*>(pinned.data())[i], 0xa5) << i;
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, pinned.data()), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
}

TEST_F(CudaMemory, PoolMemoryIsStreamOrderedAndReused) {
  const Stream stream = Stream::create(kGpu).value();
  const MemoryPool pool = MemoryPool::create(kGpu).value();
  const Result<void*> first = pool.allocate(stream.ref(), 1 << 20);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*first) % kAllocationAlignment, 0u);
  ASSERT_TRUE(fill_bytes(stream.ref(), *first, 3, 1 << 20).ok());
  EXPECT_EQ(read(stream.ref(), *first, 1 << 20), std::vector<unsigned char>(1 << 20, 3));
  ASSERT_TRUE(pool.release(stream.ref(), *first).ok());
  ASSERT_TRUE(stream.synchronize().ok());
  // The threshold keeps it mapped across the synchronisation.
  const Result<void*> second = pool.allocate(stream.ref(), 1 << 20);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(*second, *first);
  EXPECT_TRUE(pool.release(stream.ref(), *second).ok());
}

TEST_F(CudaMemory, AllocationAndReleaseDoNotSynchronise) {
  const Stream stream = Stream::create(kGpu).value();
  const MemoryPool pool = MemoryPool::create(kGpu).value();
  Gate gate(stream.ref());
  const Result<void*> data = pool.allocate(stream.ref(), 1 << 16);
  EXPECT_TRUE(data.ok());
  if (data.ok()) {
    EXPECT_TRUE(fill_bytes(stream.ref(), *data, 0, 1 << 16).ok());
    EXPECT_TRUE(pool.release(stream.ref(), *data).ok());
  }
  EXPECT_EQ(cudaStreamQuery(static_cast<cudaStream_t>(stream.ref().handle)), cudaErrorNotReady);
  (void)cudaGetLastError();
  gate.open();
  EXPECT_TRUE(stream.synchronize().ok());
}

TEST_F(CudaMemory, TheChosenAllocationFailsAndTheNextWorks) {
  const Stream stream = Stream::create(kGpu).value();
  const MemoryPool pool = MemoryPool::create(kGpu).value();
  detail::fail_allocation_after(0);
  EXPECT_EQ(DeviceMemory::allocate(kGpu, 8).status().code(), StatusCode::out_of_memory);
  detail::fail_allocation_after(0);
  EXPECT_EQ(PinnedMemory::allocate(kGpu, 8).status().code(), StatusCode::out_of_memory);
  detail::fail_allocation_after(0);
  EXPECT_EQ(pool.allocate(stream.ref(), 8).status().code(), StatusCode::out_of_memory);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  const Result<void*> data = pool.allocate(stream.ref(), 8);
  ASSERT_TRUE(data.ok());
  EXPECT_TRUE(pool.release(stream.ref(), *data).ok());
}

TEST_F(CudaMemory, MoreThanTheGpuHasIsOutOfMemoryAndTheNextWorks) {
  const std::size_t absurd = 2 * (**device_properties(kGpu)).memory_bytes;
  EXPECT_EQ(DeviceMemory::allocate(kGpu, absurd).status().code(), StatusCode::out_of_memory);
  Context context = Context::create(kGpu).value();
  EXPECT_EQ(context.workspace({.bytes = absurd}).status().code(), StatusCode::out_of_memory);
  EXPECT_TRUE(context.workspace({.bytes = 4096}).ok());
  EXPECT_TRUE(context.check().ok());
}

TEST_F(CudaMemory, StreamsOfOtherDevicesAreRefused) {
  const MemoryPool pool = MemoryPool::create(kGpu).value();
  EXPECT_EQ(pool.allocate({kCpu, nullptr}, 8).status().code(), StatusCode::invalid_argument);
  const DeviceMemory memory = DeviceMemory::allocate(kGpu, 8).value();
  std::array<char, 8> host{};
  EXPECT_EQ(copy({kCpu, nullptr}, host.data(), kCpu, memory.data(), kGpu, 8).code(),
            StatusCode::invalid_argument);
  Event event = Event::create(kGpu).value();
  EXPECT_EQ(event.record({kCpu, nullptr}).code(), StatusCode::invalid_argument);
}

TEST_F(CudaMemory, MovedFromHandlesAreEmpty) {
  MemoryPool pool = MemoryPool::create(kGpu).value();
  const MemoryPool moved_pool = std::move(pool);
  const Stream stream = Stream::create(kGpu).value();
  EXPECT_EQ(pool.allocate(stream.ref(), 8).status().code(), StatusCode::invalid_argument);
  Event event = Event::create(kGpu).value();
  const Event moved_event = std::move(event);
  EXPECT_EQ(event.record(stream.ref()).code(), StatusCode::invalid_argument);
  EXPECT_EQ(event.synchronize().code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace rooftile
