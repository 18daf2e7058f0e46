#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "tests/core/cuda_testing.h"

namespace rooftile {
namespace {

class CudaContext : public CudaTest {
 protected:
  static bool all_zero(StreamRef stream, const Workspace& workspace) {
    const std::vector<unsigned char> bytes = read(stream, workspace.zeroed, workspace.zeroed_bytes);
    return std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0; });
  }
};

TEST_F(CudaContext, WorkspaceGrowsInOrderAndIsZeroed) {
  Context context = Context::create(kGpu).value();
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{1} << 16, std::size_t{1} << 24}) {
    const Result<Workspace> workspace = context.workspace({.bytes = bytes, .zeroed_bytes = bytes});
    ASSERT_TRUE(workspace.ok()) << workspace.status().message();
    EXPECT_TRUE(all_zero(context.stream(), *workspace));
    // Dirt in the part that may hold anything, which the next growth may hand out as the zeroed part.
    ASSERT_TRUE(fill_bytes(context.stream(), workspace->data, 0xff, workspace->bytes).ok());
  }
  const Workspace kept = context.workspace({.bytes = 1, .zeroed_bytes = 1}).value();
  EXPECT_GE(kept.bytes, std::size_t{1} << 24);
}

TEST_F(CudaContext, GrowthDoesNotSynchronise) {
  Context context = Context::create(kGpu).value();
  ASSERT_TRUE(context.workspace({.bytes = 1 << 12, .zeroed_bytes = 1 << 12}).ok());
  Gate gate(context.stream());
  EXPECT_TRUE(context.workspace({.bytes = 1 << 16, .zeroed_bytes = 1 << 16}).ok());
  EXPECT_EQ(cudaStreamQuery(static_cast<cudaStream_t>(context.stream().handle)), cudaErrorNotReady);
  (void)cudaGetLastError();
  gate.open();
  EXPECT_TRUE(context.synchronize().ok());
}

TEST_F(CudaContext, ACapturedStreamGetsNoWorkspaceButKeepsItsCapture) {
  Context context = Context::create(kGpu).value();
  const OwnedWorkspace owned =
      OwnedWorkspace::create(context.stream(), {.bytes = 512, .zeroed_bytes = 512}).value();
  EXPECT_TRUE(all_zero(context.stream(), owned.get()));
  const Result<Graph> graph = Graph::capture(context.stream(), [&]() -> Status {
    const Status refused = context.workspace({.bytes = 64}).status();
    EXPECT_EQ(refused.code(), StatusCode::invalid_argument);
    EXPECT_NE(refused.rule().find("reserve()"), std::string::npos) << refused.rule();
    EXPECT_FALSE(OwnedWorkspace::create(context.stream(), {.bytes = 64}).ok());
    EXPECT_TRUE(context.workspace({}).ok());
    return fill_bytes(context.stream(), owned.get().data, 8, 512);
  });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_TRUE(GraphExec::instantiate(*graph)->launch(context.stream()).ok());
  EXPECT_EQ(read(context.stream(), owned.get().data, 512), std::vector<unsigned char>(512, 8));
}

TEST_F(CudaContext, AGraphExecKeepsWhatItsGraphOwned) {
  const DeviceMemory result = DeviceMemory::allocate(kGpu, 512).value();
  const auto recorded = [&](int value) {
    Context context = Context::create(kGpu).value();
    return Graph::record(context,
                         [&]() -> Status {
                           ROOFTILE_TRY_ASSIGN(const Workspace workspace, context.workspace({.bytes = 512}));
                           ROOFTILE_TRY(fill_bytes(context.stream(), workspace.data, value, 512));
                           return copy(context.stream(), result.data(), kGpu, workspace.data, kGpu, 512);
                         })
        .value();
  };
  const Stream stream = Stream::create(kGpu).value();
  // Neither Graph nor Context is there any more. Who allocates now must not get memory that the launch writes.
  GraphExec exec = GraphExec::instantiate(recorded(5)).value();
  for (const int value : {5, 6}) {
    if (value == 6) {
      ASSERT_TRUE(exec.update(recorded(6)).ok());
    }
    std::vector<DeviceMemory> others;
    for (int i = 0; i < 8; ++i) {
      others.push_back(DeviceMemory::allocate(kGpu, 512).value());
      ASSERT_TRUE(fill_bytes(stream.ref(), others.back().data(), 9, 512).ok());
    }
    ASSERT_TRUE(exec.launch(stream.ref()).ok());
    EXPECT_EQ(read(stream.ref(), result.data(), 512),
              std::vector<unsigned char>(512, static_cast<unsigned char>(value)));
    for (const DeviceMemory& other : others)
      EXPECT_EQ(read(stream.ref(), other.data(), 512), std::vector<unsigned char>(512, 9));
  }
}

TEST_F(CudaContext, CheckReportsTheErrorWordOnce) {
  Context context = Context::create(kGpu).value();
  EXPECT_TRUE(context.check().ok());
  ASSERT_TRUE(fill_bytes(context.stream(), context.error_word(), 1, 4).ok());
  const Status status = context.check();
  EXPECT_EQ(status.code(), StatusCode::device_error);
  EXPECT_NE(status.rule().find("error word 16843009"), std::string::npos) << status.rule();
  EXPECT_TRUE(context.check().ok());
}

TEST_F(CudaContext, EveryFailedAllocationIsAStatusAndTheNextCallWorks) {
  for (int k = 0; k < 2; ++k) {
    detail::fail_allocation_after(k);
    EXPECT_EQ(Context::create(kGpu).status().code(), StatusCode::out_of_memory) << k;
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    Context context = Context::create(kGpu).value();
    detail::fail_allocation_after(k);
    const WorkspaceSpec spec{.bytes = 512, .zeroed_bytes = 512};
    EXPECT_EQ(context.workspace(spec).status().code(), StatusCode::out_of_memory) << k;
    const Result<Workspace> next = context.workspace(spec);
    ASSERT_TRUE(next.ok()) << k;
    EXPECT_TRUE(all_zero(context.stream(), *next));
  }
}

TEST_F(CudaContext, ItsEndWaitsForItsWork) {
  const DeviceMemory memory = DeviceMemory::allocate(kGpu, std::size_t{1} << 28).value();
  const Stream reader = Stream::create(kGpu).value();
  {
    const Context context = Context::create(kGpu).value();
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(fill_bytes(context.stream(), memory.data(), i, memory.bytes()).ok());
    }
  }
  const auto* const last = static_cast<const unsigned char*>(memory.data()) + memory.bytes() - 16;
  EXPECT_EQ(read(reader.ref(), last, 16), std::vector<unsigned char>(16, 19));
}

TEST_F(CudaContext, ContextsOfSeveralThreadsWorkSideBySide) {
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (std::size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([t, &good] {
      Context context = Context::create(kGpu).value();
      for (int i = 0; i < 50; ++i) {
        const auto value = static_cast<unsigned char>(16 * static_cast<int>(t) + i % 16);
        const std::size_t bytes = 1000 + 100 * static_cast<std::size_t>(i);
        const Result<Workspace> workspace = context.workspace({.bytes = bytes, .zeroed_bytes = 64});
        if (!workspace.ok() || !fill_bytes(context.stream(), workspace->data, value, bytes).ok()) return;
        if (read(context.stream(), workspace->data, bytes) != std::vector<unsigned char>(bytes, value))
          return;
        if (!all_zero(context.stream(), *workspace)) return;
      }
      good[t] = context.check().ok() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, std::vector<int>(4, 1));
}

}  // namespace
}  // namespace rooftile
