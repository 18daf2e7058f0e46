// Tensors on a GPU, and graphs and Contexts that own what they need.
#include "rooftile/core/tensor.h"

#include <cstdint>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tests/core/cuda_testing.h"

namespace rooftile {
namespace {

class CudaTensor : public CudaTest {
 protected:
  static std::vector<float> numbers(std::size_t n) {
    std::vector<float> x(n);
    std::iota(x.begin(), x.end(), 0.0f);
    return x;
  }
};

TEST_F(CudaTensor, GoesThereAndBack) {
  Context gpu(kGpu);
  Context cpu(kCpu);
  const std::vector<float> x = numbers(100003);
  const Tensor there = Tensor::from(gpu, view(x)).value();
  EXPECT_EQ(there.device(), kGpu);
  EXPECT_EQ(there.to_vector<float>().value(), x);
  const Tensor back = there.to(cpu).value();
  EXPECT_EQ(back.device(), kCpu);
  EXPECT_EQ(back.to_vector<float>().value(), x);
  EXPECT_EQ(back.to(gpu)->to_vector<float>().value(), x);
  EXPECT_EQ(Tensor::from(cpu, there)->to_vector<float>().value(), x);
}

TEST_F(CudaTensor, FillsAnyCount) {
  Context gpu(kGpu);
  for (const std::int64_t n : {1, 2, 3, 1000, 65537}) {
    EXPECT_EQ(Tensor::full(gpu, {n}, 1.25)->to_vector<double>().value(),
              std::vector<double>(static_cast<std::size_t>(n), 1.25));
    EXPECT_EQ(Tensor::zeros(gpu, {n}, DType::i16)->to_vector<std::int16_t>().value(),
              std::vector<std::int16_t>(static_cast<std::size_t>(n), 0));
  }
}

TEST_F(CudaTensor, ClosesGaps) {
  Context gpu(kGpu);
  const std::vector<float> x = numbers(60);
  const auto cube = view(x, {3, 4, 5});
  const auto part = [](const auto& v) { return v.slice(1, 0, 4, 2).flip(2).permute({2, 0, 1}); };
  const std::vector<float> wanted = Tensor::from(gpu, part(cube))->to_vector<float>().value();
  const Tensor there = Tensor::from(gpu, cube).value();
  EXPECT_EQ(Tensor::from(gpu, part(there.view()))->to_vector<float>().value(), wanted);
  EXPECT_EQ(wanted[0], 4.0f);
  EXPECT_EQ(wanted[1], 14.0f);
}

TEST_F(CudaTensor, IsOrderedBetweenTwoStreams) {
  Context first(kGpu);
  std::optional<Context> second(std::in_place, kGpu);
  Gate gate(first.stream());
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gate.open();
  });
  const Tensor x = Tensor::full(first, {1 << 20}, 3.0f).value();  // behind the gate
  const Tensor y = x.to(*second).value();
  second.reset();  // waits; y keeps its stream
  EXPECT_EQ(y.to_vector<float>().value(), std::vector<float>(1 << 20, 3.0f));
  opener.join();
}

TEST_F(CudaTensor, ContextOnACallersStream) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  {
    Context context = Context::on(stream);
    ASSERT_TRUE(context.status().ok()) << context.status();
    EXPECT_EQ(context.device(), kGpu);
    EXPECT_EQ(context.stream().handle, stream);
    const Tensor x = Tensor::full(context, {100}, 2.0f).value();
    EXPECT_EQ(x.to_vector<float>().value(), std::vector<float>(100, 2.0f));
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess) << "the caller's stream is still the caller's";
  Context legacy = Context::on(static_cast<cudaStream_t>(nullptr));
  EXPECT_TRUE(Tensor::zeros(legacy, {4}, DType::f32).ok());
}

TEST_F(CudaTensor, ReservedWorkspaceServesACapture) {
  Context context(kGpu);
  const WorkspaceSpec spec{.bytes = 4096, .zeroed_bytes = 256};
  ASSERT_TRUE(context.reserve(spec).ok());
  ASSERT_TRUE(context.synchronize().ok());
  void* seen = nullptr;
  Result<Graph> graph = Graph::capture(context.stream(), [&]() -> Status {
    ROOFTILE_TRY_ASSIGN(const Workspace workspace, context.workspace(spec));
    seen = workspace.data;
    EXPECT_EQ(context.workspace({.bytes = 1 << 20}).status().code(), StatusCode::invalid_argument);
    return fill_bytes(context.stream(), workspace.data, 5, 4096);
  });
  ASSERT_TRUE(graph.ok()) << graph.status();
  // Grows; the graph's memory stays.
  ASSERT_TRUE(context.workspace({.bytes = 1 << 24}).ok());
  ASSERT_TRUE(graph->launch(context.stream()).ok());
  EXPECT_EQ(read(context.stream(), seen, 4096), std::vector<unsigned char>(4096, 5));
}

TEST_F(CudaTensor, RecordedGraphOwnsItsWorkspaceAndOutlivesItsContext) {
  const Stream replays = Stream::create(kGpu).value();
  Graph graph;
  void* small = nullptr;
  void* large = nullptr;
  {
    Context context(kGpu);
    Result<Graph> recorded = Graph::record(context, [&]() -> Status {
      ROOFTILE_TRY_ASSIGN(const Workspace first, context.workspace({.bytes = 512, .zeroed_bytes = 64}));
      small = first.data;
      ROOFTILE_TRY(fill_bytes(context.stream(), small, 7, 512));
      ROOFTILE_TRY_ASSIGN(const Workspace second, context.workspace({.bytes = 1 << 16, .zeroed_bytes = 64}));
      large = second.data;
      EXPECT_EQ(Tensor::zeros(context, {4}, DType::f32).status().code(), StatusCode::invalid_argument);
      return fill_bytes(context.stream(), large, 9, 1 << 16);
    });
    ASSERT_TRUE(recorded.ok()) << recorded.status();
    graph = std::move(*recorded);
    EXPECT_TRUE(context.workspace({.bytes = 64}).ok()) << "the Context works on";
  }
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(graph.launch(replays.ref()).ok());
  EXPECT_EQ(read(replays.ref(), small, 512), std::vector<unsigned char>(512, 7));
  EXPECT_EQ(read(replays.ref(), large, 1 << 16), std::vector<unsigned char>(1 << 16, 9));
}

TEST_F(CudaTensor, AnErrorInARecordingEndsIt) {
  Context context(kGpu);
  EXPECT_EQ(Graph::record(context, [] { return unsupported("not this"); }).status().rule(), "not this");
  EXPECT_TRUE(Tensor::zeros(context, {4}, DType::f32).ok());
}

TEST_F(CudaTensor, EveryGpuHasAContextOfItsOwn) {
  const int count = cuda_device_count();
  if (count < 2) GTEST_SKIP() << "one GPU";
  Context first(cuda_device(0));
  Context second(cuda_device(1));
  const std::vector<float> x = numbers(70001);
  const Tensor a = Tensor::from(first, view(x)).value();
  const Tensor b = a.to(second).value();
  EXPECT_EQ(b.device(), cuda_device(1));
  EXPECT_EQ(b.to_vector<float>().value(), x);
  EXPECT_EQ(b.to(first)->to_vector<float>().value(), x);
}

}  // namespace
}  // namespace rooftile
