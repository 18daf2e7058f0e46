#include "rooftile/core/context.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "rooftile/core/detail/fault.h"

namespace rooftile {
namespace {

bool all_zero(const Workspace& workspace) {
  const auto* bytes = static_cast<const unsigned char*>(workspace.zeroed);
  for (std::size_t i = 0; i < workspace.zeroed_bytes; ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

class HostContext : public testing::TestWithParam<Device> {
 protected:
  void TearDown() override { detail::fail_allocation_after(-1); }
  Context context_ = Context::create(GetParam()).value();
};
INSTANTIATE_TEST_SUITE_P(Devices, HostContext, testing::Values(kCpu, kSim),
                         [](const auto& test) { return to_string(test.param); });

TEST_P(HostContext, KnowsItsDevice) {
  EXPECT_EQ(context_.device(), GetParam());
  EXPECT_EQ(context_.properties().device, GetParam());
  EXPECT_EQ(context_.stream().device, GetParam());
  EXPECT_TRUE(context_.synchronize().ok());
}

TEST_P(HostContext, WorkspaceGrowsAndIsKept) {
  const Workspace first = context_.workspace({.bytes = 1000, .zeroed_bytes = 64}).value();
  EXPECT_TRUE(first.covers({.bytes = 1000, .zeroed_bytes = 64}));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.data) % kAllocationAlignment, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.zeroed) % kAllocationAlignment, 0u);
  EXPECT_TRUE(all_zero(first));
  const Workspace smaller = context_.workspace({.bytes = 10, .zeroed_bytes = 4}).value();
  EXPECT_EQ(smaller.data, first.data);
  EXPECT_EQ(smaller.zeroed, first.zeroed);
  const Workspace larger = context_.workspace({.bytes = 100000, .zeroed_bytes = 50000}).value();
  EXPECT_TRUE(larger.covers({.bytes = 100000, .zeroed_bytes = 50000}));
  EXPECT_TRUE(all_zero(larger));
  const Workspace nothing = context_.workspace({}).value();
  EXPECT_TRUE(nothing.covers({}));
}

TEST_P(HostContext, ADiscardedWorkspaceComesBackZeroed) {
  const Workspace dirty = context_.workspace({.bytes = 0, .zeroed_bytes = 4096}).value();
  std::memset(dirty.zeroed, 0xff, 4096);
  ASSERT_TRUE(context_.discard_workspace().ok());
  EXPECT_TRUE(all_zero(context_.workspace({.bytes = 0, .zeroed_bytes = 4096}).value()));
}

TEST_P(HostContext, EveryFailedAllocationIsAStatusAndTheNextCallWorks) {
  for (int k = 0; k < 2; ++k) {
    Context context = Context::create(GetParam()).value();
    detail::fail_allocation_after(k);
    const WorkspaceSpec spec{.bytes = 512, .zeroed_bytes = 512};
    EXPECT_EQ(context.workspace(spec).status().code(), StatusCode::out_of_memory) << k;
    const Result<Workspace> next = context.workspace(spec);
    ASSERT_TRUE(next.ok()) << k;
    EXPECT_TRUE(next->covers(spec));
    EXPECT_TRUE(all_zero(*next));
  }
  for (int k = 0; k < 2; ++k) {  // the error word and its copy
    detail::fail_allocation_after(k);
    EXPECT_EQ(Context::create(GetParam()).status().code(), StatusCode::out_of_memory) << k;
    EXPECT_TRUE(Context::create(GetParam()).ok());
  }
}

TEST_P(HostContext, CheckReportsTheErrorWordOnce) {
  EXPECT_TRUE(context_.check().ok());
  *context_.error_word() = 3;
  const Status status = context_.check();
  EXPECT_EQ(status.code(), StatusCode::device_error);
  EXPECT_NE(status.rule().find("error word 3"), std::string::npos);
  EXPECT_EQ(*context_.error_word(), 0u);
  EXPECT_TRUE(context_.check().ok());
}

TEST_P(HostContext, MovesWithItsMemory) {
  const Workspace before = context_.workspace({.bytes = 100, .zeroed_bytes = 100}).value();
  Context moved = std::move(context_);
  EXPECT_EQ(moved.workspace({.bytes = 100, .zeroed_bytes = 100})->data, before.data);
  context_ = Context::create(GetParam()).value();
  context_ = std::move(moved);
  EXPECT_EQ(context_.workspace({.bytes = 100, .zeroed_bytes = 100})->data, before.data);
}

TEST_P(HostContext, OwnedWorkspaceCoversAndIsZeroed) {
  const Result<OwnedWorkspace> owned =
      OwnedWorkspace::create(context_.stream(), {.bytes = 300, .zeroed_bytes = 40});
  ASSERT_TRUE(owned.ok());
  EXPECT_TRUE(owned->get().covers({.bytes = 300, .zeroed_bytes = 40}));
  EXPECT_TRUE(all_zero(owned->get()));
  EXPECT_TRUE(OwnedWorkspace::create(context_.stream(), {}).ok());
  detail::fail_allocation_after(1);
  EXPECT_FALSE(OwnedWorkspace::create(context_.stream(), {.bytes = 300, .zeroed_bytes = 40}).ok());
}

TEST_P(HostContext, AReservedWorkspaceStays) {
  ASSERT_TRUE(context_.reserve({.bytes = 4096, .zeroed_bytes = 64}).ok());
  const Workspace reserved = context_.workspace({.bytes = 4096, .zeroed_bytes = 64}).value();
  const Workspace larger = context_.workspace({.bytes = 1 << 20, .zeroed_bytes = 64}).value();
  EXPECT_NE(larger.data, reserved.data);
  // A graph may still use it.
  std::memset(reserved.data, 1, 4096);
  EXPECT_EQ(larger.zeroed, reserved.zeroed);
}

TEST_P(HostContext, OnACallersStream) {
  const Context context = Context::on(context_.stream());
  ASSERT_TRUE(context.status().ok()) << context.status();
  EXPECT_EQ(context.device(), GetParam());
}

TEST_P(HostContext, OnceMovedRefusesEverything) {
  const Context moved = std::move(context_);
  EXPECT_TRUE(moved.status().ok());
  for (const Status& status : {context_.status(), context_.workspace({.bytes = 1}).status(),
                               context_.reserve({}), context_.discard_workspace(), context_.synchronize(),
                               context_.check(), context_.serving(GetParam()).status()}) {
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << status;
    EXPECT_NE(status.rule().find("moved from"), std::string::npos) << status;
  }
  EXPECT_EQ(context_.error_word(), nullptr);
  EXPECT_EQ(context_.device(), kCpu);
  EXPECT_EQ(context_.properties().multiprocessors, 0);
}

TEST_P(HostContext, GraphsAreOfGpusAlone) {
  EXPECT_EQ(Graph::record(context_, [] { return Status(); }).status().code(), StatusCode::unsupported);
}

TEST(Context, ByDefaultIsOfTheDefaultDevice) {
  const Context context;
  ASSERT_TRUE(context.status().ok()) << context.status();
  EXPECT_EQ(context.device(), default_device());
}

TEST(Context, ThatCouldNotBeMadeSaysWhyAtEveryCall) {
  Context context(cuda_device(cuda_device_count()));
  EXPECT_EQ(context.status().code(), StatusCode::unavailable);
  EXPECT_EQ(context.workspace({.bytes = 1}).status().code(), StatusCode::unavailable);
  EXPECT_EQ(context.synchronize().code(), StatusCode::unavailable);
}

TEST(Context, ADeviceThatIsNotThereIsUnavailable) {
  EXPECT_EQ(Context::create(cuda_device(cuda_device_count())).status().code(), StatusCode::unavailable);
}

}  // namespace
}  // namespace rooftile
