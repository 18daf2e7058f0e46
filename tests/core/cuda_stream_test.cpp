// Streams, events and graphs on a GPU.
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "tests/core/cuda_testing.h"

namespace rooftile {
namespace {

constexpr std::size_t kBytes = 4096;

class CudaStreams : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped()) return;
    stream_ = Stream::create(kGpu).value();
    memory_ = DeviceMemory::allocate(kGpu, kBytes).value();
  }
  [[nodiscard]] StreamRef stream() const { return stream_.ref(); }
  [[nodiscard]] Status fill(int value) const { return fill_bytes(stream(), memory_.data(), value, kBytes); }
  [[nodiscard]] Result<Graph> captured_fill(int value) const {
    return Graph::capture(stream(), [&] { return fill(value); });
  }
  void expect_filled(unsigned char value) const {
    EXPECT_EQ(read(stream(), memory_.data(), kBytes), std::vector<unsigned char>(kBytes, value));
  }
  Stream stream_;
  DeviceMemory memory_;
};

TEST_F(CudaStreams, EventsMeasureTime) {
  const DeviceMemory large = DeviceMemory::allocate(kGpu, std::size_t{1} << 28).value();
  Event start = Event::create(kGpu).value();
  Event stop = Event::create(kGpu).value();
  ASSERT_TRUE(start.record(stream()).ok());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(fill_bytes(stream(), large.data(), i, large.bytes()).ok());
  ASSERT_TRUE(stop.record(stream()).ok());
  ASSERT_TRUE(stop.synchronize().ok());
  const Result<double> us = stop.elapsed_us_since(start);
  ASSERT_TRUE(us.ok()) << us.status().message();
  EXPECT_GT(*us, 50.0);  // 1 GiB at less than 20 TB/s
  EXPECT_LT(*us, 1e6);
}

TEST_F(CudaStreams, AnEventThatIsNotReachedHasNoTime) {
  Event start = Event::create(kGpu).value();
  Event stop = Event::create(kGpu).value();
  ASSERT_TRUE(start.record(stream()).ok());
  Gate gate(stream());
  ASSERT_TRUE(stop.record(stream()).ok());
  const Status status = stop.elapsed_us_since(start).status();
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.rule().find("synchronize"), std::string::npos) << status.rule();
  gate.open();
  EXPECT_TRUE(stop.synchronize().ok());
  EXPECT_TRUE(stop.elapsed_us_since(start).ok());
}

TEST_F(CudaStreams, AStreamWaitsForAnEventOfAnother) {
  const Stream reader = Stream::create(kGpu).value();
  const PinnedMemory seen = PinnedMemory::allocate(kGpu, kBytes).value();
  ASSERT_TRUE(fill(1).ok());
  ASSERT_TRUE(stream_.synchronize().ok());

  Gate gate(stream());
  Event filled = Event::create(kGpu).value();
  EXPECT_TRUE(fill(2).ok());
  EXPECT_TRUE(filled.record(stream()).ok());
  EXPECT_TRUE(filled.block(reader.ref()).ok());
  EXPECT_TRUE(copy(reader.ref(), seen.data(), kCpu, memory_.data(), kGpu, kBytes).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // time for a reader that does not wait
  gate.open();
  EXPECT_TRUE(reader.synchronize().ok());
  EXPECT_TRUE(stream_.synchronize().ok());
  for (std::size_t i = 0; i < kBytes; ++i) ASSERT_EQ(static_cast<unsigned char*>(seen.data())[i], 2) << i;
}

TEST_F(CudaStreams, AGraphIsCapturedOnceAndReplayed) {
  ASSERT_TRUE(fill(1).ok());
  const Result<Graph> graph = captured_fill(7);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  expect_filled(1);  // captured is not run
  const Result<GraphExec> exec = GraphExec::instantiate(*graph);
  ASSERT_TRUE(exec.ok()) << exec.status().message();
  ASSERT_TRUE(exec->launch(stream()).ok());
  expect_filled(7);
  ASSERT_TRUE(fill(1).ok());
  ASSERT_TRUE(exec->launch(stream()).ok());
  expect_filled(7);
}

TEST_F(CudaStreams, AGraphTakesOverTheSameTopologyAlone) {
  const Graph graph = captured_fill(7).value();
  GraphExec exec = GraphExec::instantiate(graph).value();
  ASSERT_TRUE(exec.update(captured_fill(9).value()).ok());
  ASSERT_TRUE(exec.launch(stream()).ok());
  expect_filled(9);

  const Graph longer = Graph::capture(stream(), [&]() -> Status {
                         ROOFTILE_TRY(fill(1));
                         return fill(2);
                       }).value();
  const Status status = exec.update(longer);
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.rule().find("instantiate the new one"), std::string::npos) << status.rule();
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  ASSERT_TRUE(fill(0).ok());
  ASSERT_TRUE(exec.launch(stream()).ok());
  expect_filled(9);
}

TEST_F(CudaStreams, AnErrorWhileCapturingEndsTheCapture) {
  const Result<Graph> graph = Graph::capture(stream(), [&]() -> Status {
    ROOFTILE_TRY(fill(3));
    return invalid_argument("the caller gave up");
  });
  EXPECT_EQ(graph.status().rule(), "the caller gave up");
  EXPECT_FALSE(*is_capturing(stream()));
  ASSERT_TRUE(fill(4).ok());
  expect_filled(4);
}

TEST_F(CudaStreams, AnInvalidatedCaptureIsAnErrorAndTheStreamWorksAgain) {
  const Result<Graph> graph = Graph::capture(stream(), [&]() -> Status {
    EXPECT_TRUE(*is_capturing(stream()));
    EXPECT_FALSE(synchronize(stream()).ok());  // not allowed, and invalidates the capture
    return {};
  });
  EXPECT_FALSE(graph.ok());
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  ASSERT_TRUE(fill(5).ok());
  expect_filled(5);
}

TEST_F(CudaStreams, TheDefaultStreamCannotBeCaptured) {
  const Result<Graph> graph = Graph::capture({kGpu, nullptr}, [] { return Status(); });
  EXPECT_EQ(graph.status().code(), StatusCode::invalid_argument);
  EXPECT_NE(graph.status().rule().find("use a Stream"), std::string::npos);
}

TEST_F(CudaStreams, UnrelatedObjectsMayComeAndGoDuringACapture) {
  const Result<Graph> graph = Graph::capture(stream(), [&]() -> Status {
    ROOFTILE_TRY(DeviceMemory::allocate(kGpu, 4096).status());
    ROOFTILE_TRY(PinnedMemory::allocate(kGpu, 4096).status());
    ROOFTILE_TRY(Stream::create(kGpu).status());
    ROOFTILE_TRY(Event::create(kGpu).status());
    return fill(6);
  });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_TRUE(GraphExec::instantiate(*graph)->launch(stream()).ok());
  expect_filled(6);
}

}  // namespace
}  // namespace rooftile
