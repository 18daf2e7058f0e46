// What the tests that need a GPU share: they skip, with the reason, where there is none.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "rooftile/core/context.h"
#include "rooftile/core/detail/fault.h"
#include "rooftile/core/memory.h"
#include "rooftile/core/stream.h"

namespace rooftile {

class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_availability().ok()) GTEST_SKIP() << cuda_availability().message();
    ASSERT_EQ(cudaPeekAtLastError(), cudaSuccess) << "left by an earlier test";
  }
  void TearDown() override {
    detail::fail_allocation_after(-1);
    if (!IsSkipped()) {
      EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "left by this test";
    }
  }

  // The bytes at `data` after all work of the stream.
  static std::vector<unsigned char> read(StreamRef stream, const void* data, std::size_t bytes) {
    std::vector<unsigned char> host(bytes);
    EXPECT_TRUE(copy(stream, host.data(), kCpu, data, stream.device, bytes).ok());
    EXPECT_TRUE(synchronize(stream).ok());
    return host;
  }

  static constexpr Device kGpu = cuda_device(0);
};

// Holds a stream up until opened: what follows in the stream has certainly not run before. Opens by itself
// after some seconds, so that a call which wrongly waits for the stream fails its test instead of hanging it.
class Gate {
 public:
  explicit Gate(StreamRef stream) : stream_(static_cast<cudaStream_t>(stream.handle)) {
    EXPECT_EQ(cudaLaunchHostFunc(stream_, &Gate::wait, this), cudaSuccess);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() {
    open();
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);  // the waiting function reads this object
  }
  void open() { open_ = true; }

 private:
  static void wait(void* gate) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!static_cast<Gate*>(gate)->open_ && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  cudaStream_t stream_;
  std::atomic<bool> open_{false};
};

}  // namespace rooftile
