// The path that every call takes, for every operator: nothing is allocated, nothing throws, and each shared rule is
// asked of each slot.
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/lab/case/problem.h"
#include "tests/operators/counted_new.h"
#include "tests/operators/operators_testing.h"

namespace rooftile::operators_testing {
namespace {

// The first small case of an operator that is served on the CPU, and its tensors.
class Calls : public OperatorTest {
 protected:
  void SetUp() override {
    OperatorTest::SetUp();
    for (const Case& c : cases_->cases()) {
      if (c.tier != CaseTier::quick || c.in_place || c.offset != 0) continue;
      Result<lab::HostProblem> host = lab::HostProblem::create(*op_, *cases_, c);
      if (!host.ok() || host->tensor_bytes() < 64) continue;
      host_.emplace(std::move(*host));
      Result<lab::DeviceProblem> problem = lab::DeviceProblem::create(*host_, kCpu);
      ASSERT_TRUE(problem.ok()) << problem.status();
      problem_.emplace(std::move(*problem));
      break;
    }
    ASSERT_TRUE(problem_) << "no small case";
    for (const TensorSlot& slot : op_->slots) {
      const ConstTensorView view = slot.view(problem_->args());
      views_.push_back({const_cast<void*>(view.data), view.dtype, view.device, view.shape, view.strides});
    }
    // What differs from it is refused as if it had never been.
    ASSERT_TRUE(run(*op_, context_, problem_->args()).ok());
  }
  // The call with other tensors.
  Status call(const std::vector<TensorView>& views) {
    return run(*op_, context_, op_->with_tensors(problem_->args(), views));
  }
  // For each slot: the call with that slot's view changed must fail with this code.
  template <class Change>
  void each_slot_refuses(StatusCode code, Change&& change) {
    for (std::size_t i = 0; i < views_.size(); ++i) {
      std::vector<TensorView> changed = views_;
      if (is_absent(changed[i]) || !change(op_->slots[i], changed[i])) continue;
      const Status status = call(changed);
      EXPECT_EQ(status.code(), code) << op_->slots[i].name << ": " << status;
      EXPECT_EQ(status.operator_name(), op_->name);
      EXPECT_NE(status.rule().find(op_->slots[i].name), std::string::npos) << status;
    }
  }

  Context context_{kCpu};
  std::optional<lab::HostProblem> host_;
  std::optional<lab::DeviceProblem> problem_;
  std::vector<TensorView> views_;
};
INSTANTIATE_TEST_SUITE_P(Operators, Calls, ::testing::ValuesIn(operator_names()), operator_name);

TEST_P(Calls, OfAWarmContextAllocateNothing) {
  const lab::DeviceProblem other = lab::DeviceProblem::create(*host_, kCpu).value();
  const WorkspaceSpec spec = workspace_of(*op_, problem_->args(), kCpu).value();
  const OwnedWorkspace workspace = OwnedWorkspace::create(problem_->stream(), spec).value();
  ASSERT_TRUE(run(*op_, context_, other.args()).ok());
  const CountedNew counted;
  // Another call than the last one, the same again, and one with memory of the caller's.
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(run(*op_, context_, problem_->args()).ok());
  ASSERT_TRUE(run(*op_, problem_->stream(), problem_->args(), workspace.get()).ok());
  EXPECT_EQ(CountedNew::allocations(), 0);
}

// Whichever allocation fails, of a call and of the text of its error.
TEST_P(Calls, WithoutHostMemoryAreAStatus) {
  std::vector<TensorView> wrong = views_;
  wrong.back().device = kSim;
  const AnyArgs wrong_args = op_->with_tensors(problem_->args(), wrong);
  int failures = 0;
  for (long k = 0; k < 1000; ++k) {
    std::optional<Context> context;
    Status created;
    Status called;
    Status refused;
    {
      const CountedNew counted(k);
      context.emplace(kCpu);
      created = context->status();
      called = run(*op_, *context, problem_->args());
      refused = run(*op_, *context, wrong_args);
      if (CountedNew::allocations() <= k) break;
    }
    ++failures;
    for (const Status& status : {created, called})
      EXPECT_TRUE(status.ok() || status.code() == StatusCode::out_of_memory) << k << ": " << status;
    EXPECT_FALSE(refused.ok()) << k;
  }
  EXPECT_GT(failures, 3);
  EXPECT_LT(failures, 1000) << "it never ends";
  EXPECT_TRUE(run(*op_, context_, problem_->args()).ok());
}

TEST_P(Calls, AskForAWorkspaceBeforeThereIsMemory) {
  std::vector<TensorView> later = views_;
  for (TensorView& view : later) view.data = nullptr;
  const Result<WorkspaceSpec> early = workspace_of(*op_, op_->with_tensors(problem_->args(), later), kCpu);
  ASSERT_TRUE(early.ok()) << early.status();
  const WorkspaceSpec exact = workspace_of(*op_, problem_->args(), kCpu).value();
  EXPECT_GE(early->bytes, exact.bytes);
  EXPECT_GE(early->zeroed_bytes, exact.zeroed_bytes);
  const OwnedWorkspace workspace = OwnedWorkspace::create(problem_->stream(), *early).value();
  EXPECT_TRUE(run(*op_, problem_->stream(), problem_->args(), workspace.get()).ok());
}

TEST_P(Calls, OnAMovedContextAreAStatus) {
  const Context moved = std::move(context_);
  const Status status = run(*op_, context_, problem_->args());
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.rule().find("moved from"), std::string::npos) << status;
}

TEST_P(Calls, CarryTheLineOfTheCaller) {
  std::vector<TensorView> wrong = views_;
  wrong[0].data = nullptr;
  const AnyArgs args = op_->with_tensors(problem_->args(), wrong);
  const auto line = static_cast<unsigned>(__LINE__) + 1;
  const Status status = run(*op_, context_, args);
  EXPECT_EQ(status.where().line, line);
  EXPECT_TRUE(std::string_view(status.where().file).ends_with("calls_test.cpp")) << status.where().file;
}

TEST_P(Calls, RefuseTensorsOfAnotherDevice) {
  std::vector<TensorView> elsewhere = views_;
  for (TensorView& view : elsewhere) view.device = kSim;
  EXPECT_EQ(call(elsewhere).code(), StatusCode::invalid_argument);
  each_slot_refuses(StatusCode::invalid_argument, [](const TensorSlot&, TensorView& view) {
    view.device = kSim;
    return true;
  });
}

TEST_P(Calls, RefuseNoMemoryAndMemoryOffItsAlignment) {
  each_slot_refuses(StatusCode::invalid_argument, [](const TensorSlot&, TensorView& view) {
    view.data = nullptr;
    return view.numel() > 0;
  });
  each_slot_refuses(StatusCode::invalid_argument, [](const TensorSlot&, TensorView& view) {
    view.data = static_cast<std::byte*>(view.data) + 1;
    return size_of(view.dtype) > 1 && view.numel() > 0;
  });
}

TEST_P(Calls, RefuseDtypesThatAreNone) {
  each_slot_refuses(StatusCode::invalid_argument, [](const TensorSlot&, TensorView& view) {
    view.dtype = static_cast<DType>(200);
    return true;
  });
}

TEST_P(Calls, RefuseBrokenAndImpossibleViews) {
  each_slot_refuses(StatusCode::invalid_argument, [](const TensorSlot&, TensorView& view) {
    view = view.squeeze(99);
    return true;
  });
  each_slot_refuses(StatusCode::invalid_argument, [](const TensorSlot&, TensorView& view) {
    view.strides.push_back(1);
    return view.rank() < kMaxRank;
  });
  each_slot_refuses(StatusCode::invalid_argument, [](const TensorSlot&, TensorView& view) {
    if (view.rank() == 0) return false;
    view.shape[0] = std::int64_t{1} << 62;
    return true;
  });
}

TEST_P(Calls, RefuseGapsWhereTheSlotIsDense) {
  each_slot_refuses(StatusCode::unsupported, [](const TensorSlot& slot, TensorView& view) {
    if (!slot.dense || view.rank() == 0 || view.shape[view.rank() - 1] < 2) return false;
    view.strides[view.rank() - 1] = 2;
    return true;
  });
}

TEST_P(Calls, RefuseOutputsThatLieHalfInAnInput) {
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (!is_written(op_->slots[i])) continue;
    for (std::size_t j = 0; j < views_.size(); ++j) {
      if (j == i || is_written(op_->slots[j]) || is_absent(views_[j]) || views_[j].numel() < 2) continue;
      if (views_[i].numel() == 0 || size_of(views_[i].dtype) > size_of(views_[j].dtype)) continue;
      std::vector<TensorView> changed = views_;
      changed[i].data = static_cast<std::byte*>(views_[j].data) + size_of(views_[j].dtype);
      EXPECT_EQ(call(changed).code(), StatusCode::invalid_argument) << op_->slots[i].name;
    }
  }
}

}  // namespace
}  // namespace rooftile::operators_testing
