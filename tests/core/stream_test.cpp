#include "rooftile/core/stream.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <utility>

namespace rooftile {
namespace {

class HostStream : public testing::TestWithParam<Device> {};
INSTANTIATE_TEST_SUITE_P(Devices, HostStream, testing::Values(kCpu, kSim),
                         [](const auto& test) { return to_string(test.param); });

TEST_P(HostStream, IsANameThatNeedsNoWaiting) {
  const Result<Stream> stream = Stream::create(GetParam());
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ(stream->ref().device, GetParam());
  EXPECT_EQ(stream->ref().handle, nullptr);
  EXPECT_TRUE(stream->synchronize().ok());
  EXPECT_FALSE(*is_capturing(stream->ref()));
}

TEST_P(HostStream, EventsMeasureTime) {
  Event start = Event::create(GetParam()).value();
  Event stop = Event::create(GetParam()).value();
  EXPECT_EQ(stop.elapsed_us_since(start).status().code(), StatusCode::invalid_argument);
  const StreamRef stream{GetParam(), nullptr};
  ASSERT_TRUE(start.record(stream).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_TRUE(stop.record(stream).ok());
  ASSERT_TRUE(stop.synchronize().ok());
  ASSERT_TRUE(stop.block(stream).ok());
  EXPECT_GE(*stop.elapsed_us_since(start), 5000.0);
  EXPECT_LT(*stop.elapsed_us_since(start), 60e6);
  const Event moved = std::move(stop);
  EXPECT_GE(*moved.elapsed_us_since(start), 5000.0);
}

TEST_P(HostStream, EventsStayOnTheirDevice) {
  const Device other = GetParam() == kCpu ? kSim : kCpu;
  Event event = Event::create(GetParam()).value();
  EXPECT_EQ(event.record({other, nullptr}).code(), StatusCode::invalid_argument);
  Event foreign = Event::create(other).value();
  EXPECT_EQ(event.elapsed_us_since(foreign).status().code(), StatusCode::invalid_argument);
}

TEST_P(HostStream, GraphsAreUnsupportedAndTheWorkIsNotEnqueued) {
  bool enqueued = false;
  const Result<Graph> graph = Graph::capture({GetParam(), nullptr}, [&]() -> Status {
    enqueued = true;
    return {};
  });
  EXPECT_EQ(graph.status().code(), StatusCode::unsupported);
  EXPECT_NE(graph.status().rule().find(to_string(GetParam())), std::string::npos);
  EXPECT_FALSE(enqueued);
}

TEST(GraphExec, NeedsAGraph) {
  EXPECT_EQ(GraphExec::instantiate(Graph()).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(GraphExec().update(Graph()).code(), StatusCode::invalid_argument);
  EXPECT_EQ(GraphExec().launch({kCpu, nullptr}).code(), StatusCode::unsupported);
}

TEST(Stream, ADeviceThatIsNotThereIsUnavailable) {
  const Device missing = cuda_device(cuda_device_count());
  EXPECT_EQ(Stream::create(missing).status().code(), StatusCode::unavailable);
  EXPECT_EQ(Event::create(missing).status().code(), StatusCode::unavailable);
  EXPECT_EQ(synchronize({missing, nullptr}).code(), StatusCode::unavailable);
  EXPECT_EQ(Graph::capture({missing, nullptr}, [] { return Status(); }).status().code(),
            StatusCode::unavailable);
}

}  // namespace
}  // namespace rooftile
