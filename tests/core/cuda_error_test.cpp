// The calling thread's last CUDA error and current device belong to the caller.
#include <string>
#include <utility>

#include "tests/core/cuda_testing.h"

namespace rooftile {
namespace {

constexpr std::size_t kAbsurd = std::size_t{1} << 60;

class CudaErrors : public CudaTest {
 protected:
  // Leaves an error pending that is not Rooftile's.
  static void make_pending() {
    ASSERT_EQ(cudaSetDevice(1 << 20), cudaErrorInvalidDevice);
    ASSERT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  }
  static void expect_pending_and_clear() { EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice); }
};

TEST_F(CudaErrors, OurFailuresLeaveNothingPending) {
  EXPECT_EQ(DeviceMemory::allocate(kGpu, kAbsurd).status().code(), StatusCode::out_of_memory);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_FALSE(PinnedMemory::allocate(kGpu, kAbsurd).ok());
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  const Stream stream = Stream::create(kGpu).value();
  const MemoryPool pool = MemoryPool::create(kGpu).value();
  EXPECT_FALSE(pool.allocate(stream.ref(), kAbsurd).ok());
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  const Event start = Event::create(kGpu).value();
  const Event stop = Event::create(kGpu).value();
  EXPECT_EQ(stop.elapsed_us_since(start).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(CudaErrors, APendingErrorIsNeitherBlamedOnUsNorSwallowed) {
  make_pending();
  {
    Result<Context> context = Context::create(kGpu);
    ASSERT_TRUE(context.ok()) << context.status().message();
    EXPECT_TRUE(context->workspace({.bytes = 1 << 20, .zeroed_bytes = 256}).ok());
    EXPECT_TRUE(context->check().ok());
    EXPECT_TRUE(DeviceMemory::allocate(kGpu, 4096).ok());
    EXPECT_TRUE(PinnedMemory::allocate(kGpu, 4096).ok());
    Event event = Event::create(kGpu).value();
    EXPECT_TRUE(event.record(context->stream()).ok());
    EXPECT_TRUE(event.synchronize().ok());
    EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  }
  expect_pending_and_clear();
}

TEST_F(CudaErrors, APendingErrorSurvivesOurFailures) {
  make_pending();
  EXPECT_EQ(DeviceMemory::allocate(kGpu, kAbsurd).status().code(), StatusCode::out_of_memory);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  const Event start = Event::create(kGpu).value();
  const Event never_recorded = Event::create(kGpu).value();
  EXPECT_EQ(never_recorded.elapsed_us_since(start).status().code(), StatusCode::invalid_argument);
  const Status status = PinnedMemory::allocate(kGpu, kAbsurd).status();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.rule().find("invalid device"), std::string::npos) << status.rule();
  expect_pending_and_clear();
}

TEST_F(CudaErrors, APendingErrorAllowsACapture) {
  const Stream stream = Stream::create(kGpu).value();
  const DeviceMemory memory = DeviceMemory::allocate(kGpu, 64).value();
  make_pending();
  const Result<Graph> graph = Graph::capture(
      stream.ref(), [&] { return fill_bytes(stream.ref(), memory.data(), 1, memory.bytes()); });
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  expect_pending_and_clear();
}

TEST_F(CudaErrors, TheCurrentDeviceStays) {
  if (cuda_device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  {
    Context context = Context::create(kGpu).value();
    EXPECT_TRUE(context.workspace({.bytes = 4096, .zeroed_bytes = 4096}).ok());
    EXPECT_TRUE(context.check().ok());
    EXPECT_TRUE(device_properties(kGpu).ok());
    EXPECT_FALSE(DeviceMemory::allocate(kGpu, kAbsurd).ok());
    int current = -1;
    ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, 1);
  }
  int current = -1;
  ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 1);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(CudaErrors, GpusCopyToEachOther) {
  if (cuda_device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const Stream stream = Stream::create(kGpu).value();
  const Stream other = Stream::create(cuda_device(1)).value();
  const DeviceMemory from = DeviceMemory::allocate(kGpu, 1000).value();
  const DeviceMemory to = DeviceMemory::allocate(cuda_device(1), 1000).value();
  ASSERT_TRUE(fill_bytes(stream.ref(), from.data(), 0x5a, 1000).ok());
  ASSERT_TRUE(copy(stream.ref(), to.data(), to.device(), from.data(), from.device(), 1000).ok());
  ASSERT_TRUE(stream.synchronize().ok());
  EXPECT_EQ(read(other.ref(), to.data(), 1000), std::vector<unsigned char>(1000, 0x5a));
}

}  // namespace
}  // namespace rooftile
