// A Context checks and plans a call that equals its last one no second time, and any other call as if it were the first.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/core/describe.h"

namespace rooftile {
namespace {

struct Args {
  ConstTensorView x{};
  TensorView y{};
  int shift = 0;

  friend bool operator==(const Args&, const Args&) = default;
};
// The same without a comparison.
struct OtherArgs {
  ConstTensorView x{};
  TensorView y{};
  int shift = 0;
};

struct Counts {
  int checks = 0;
  int plans = 0;
  std::vector<int> shifts;         // that were launched
  std::vector<int> configs;        // that they were launched with
  std::vector<const void*> where;  // x
  int without_workspace = 0;
  std::function<Status()> nested;  // is called by the next launch
} g_seen;

template <class A>
Status launch(const Call<A>& call) {
  if (const auto nested = std::exchange(g_seen.nested, nullptr)) ROOFTILE_TRY(nested());
  g_seen.shifts.push_back(call.args.shift);
  g_seen.configs.push_back(call.template config<int>());
  g_seen.where.push_back(call.args.x.data);
  if (call.workspace.bytes < static_cast<std::size_t>(call.args.shift) * 8) ++g_seen.without_workspace;
  return {};
}
template <class A>
Status check(const A& args) {
  ++g_seen.checks;
  return args.shift > 9 ? invalid_argument("shift must be at most 9") : Status();
}
template <class A>
RungPlan plan(const A& args, const DeviceProperties&) {
  ++g_seen.plans;
  return {.workspace = {.bytes = static_cast<std::size_t>(args.shift) * 8},
          .config = PlanConfig::of(args.shift * 10)};
}
template <class A>
std::string_view supports(const A& args, const DeviceProperties&) {
  return args.shift == 5 ? "not by 5" : "";
}
template <class A>
OperatorDescriptor shifting() {
  return describe<A>(
      {.name = "shift",
       .summary = "",
       .maths = "",
       .model = "",
       .source = "",
       .slots = {in("x", &A::x, {.dtypes = {DType::f32}, .dense = true}),
                 out("y", &A::y, {.dtype_of = "x", .shape_of = "x", .dense = true})},
       .params = {param("shift", &A::shift, {})},
       .check = check<A>,
       .choose = [](const A&, const DeviceProperties&) -> std::string_view { return "host"; },
       .rungs = {
           {.rung = cpu_rung<A>("host", launch<A>), .idea = "", .supports = supports<A>, .plan = plan<A>}}});
}

class LastCall : public testing::Test {
 protected:
  LastCall() { g_seen = {}; }
  Args args(int shift, int first = 0) {
    return {.x = view(memory_.data() + first, {4}), .y = view(memory_.data() + 16, {4}), .shift = shift};
  }
  Status call(const OperatorDescriptor& op, const Args& with) { return run(op, context_, ArgsRef::of(with)); }

  std::array<float, 32> memory_{};
  Context context_{kCpu};
  OperatorDescriptor op_ = shifting<Args>();
};

TEST_F(LastCall, IsCheckedAndPlannedOnce) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(call(op_, args(2)).ok());
  EXPECT_EQ(g_seen.checks, 1);
  EXPECT_EQ(g_seen.plans, 1);
  EXPECT_EQ(g_seen.configs, (std::vector<int>{20, 20, 20}));
  EXPECT_EQ(g_seen.without_workspace, 0);
}

TEST_F(LastCall, IsForgottenForAnyOtherArgument) {
  ASSERT_TRUE(call(op_, args(2)).ok());
  ASSERT_TRUE(call(op_, args(3)).ok());
  ASSERT_TRUE(call(op_, args(3, 4)).ok());
  ASSERT_TRUE(call(op_, args(2)).ok());
  EXPECT_EQ(g_seen.checks, 4);
  EXPECT_EQ(g_seen.shifts, (std::vector<int>{2, 3, 3, 2}));
  EXPECT_EQ(g_seen.configs, (std::vector<int>{20, 30, 30, 20}));
  EXPECT_EQ(g_seen.where[2], memory_.data() + 4);
}

TEST_F(LastCall, IsOfOneOperator) {
  OperatorDescriptor twin = shifting<Args>();
  OperatorDescriptor copy = op_;
  for (OperatorDescriptor* op : {&op_, &twin, &op_, &copy, &op_}) ASSERT_TRUE(call(*op, args(1)).ok());
  EXPECT_EQ(g_seen.checks, 5);
}

// The next one may stand at its address, and its rungs, too.
TEST_F(LastCall, IsNotOfAnOperatorThatIsGone) {
  for (int i = 0; i < 3; ++i) {
    const OperatorDescriptor op = shifting<Args>();
    ASSERT_TRUE(call(op, args(1)).ok());
  }
  EXPECT_EQ(g_seen.checks, 3);
}

TEST_F(LastCall, IsNotOfACopyThatIsGone) {
  for (int i = 0; i < 3; ++i) {
    const OperatorDescriptor copy = op_;  // NOLINT(performance-unnecessary-copy-initialization): the point
    ASSERT_TRUE(call(copy, args(1)).ok());
  }
  EXPECT_EQ(g_seen.checks, 3);
}

TEST_F(LastCall, IsOfOneContext) {
  Context other(kCpu);
  ASSERT_TRUE(call(op_, args(1)).ok());
  ASSERT_TRUE(run(op_, other, ArgsRef::of(args(1))).ok());
  EXPECT_EQ(g_seen.checks, 2);
}

TEST_F(LastCall, OfARefusedCallNothingIsKept) {
  ASSERT_TRUE(call(op_, args(1)).ok());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(call(op_, args(10)).rule(), "shift must be at most 9");
  Args short_y = args(1);
  short_y.y = view(memory_.data() + 16, {3});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(call(op_, short_y).rule(), "y must have the shape of x");
  EXPECT_EQ(g_seen.shifts, (std::vector<int>{1}));
}

// By its rung, behind the check.
TEST_F(LastCall, OfACallThatIsNotServedNothingIsKept) {
  ASSERT_TRUE(call(op_, args(1)).ok());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(call(op_, args(5)).code(), StatusCode::unsupported);
  ASSERT_TRUE(call(op_, args(1)).ok());
  EXPECT_EQ(g_seen.configs, (std::vector<int>{10, 10}));
}

// Every way in which a view may be another one, among them legal ones.
TEST_F(LastCall, IsForgottenForAnyOtherView) {
  const Args first = args(1);
  std::vector<Args> others(6, first);
  others[0].y = view(memory_.data() + 20, {4});
  others[1].x.strides = {2};
  others[2].y.device = kSim;
  others[3].x.dtype = DType::i32;
  others[4].x.shape = {3};
  others[5].y.shape = Extents{1, 4};
  for (const Args& other : others) {
    ASSERT_TRUE(call(op_, first).ok());
    const int before = g_seen.checks + static_cast<int>(g_seen.shifts.size());
    const bool ok = call(op_, other).ok();
    EXPECT_EQ(ok, &other == others.data());
    EXPECT_EQ(g_seen.checks + static_cast<int>(g_seen.shifts.size()), before + (ok ? 2 : 0));
  }
}

// A plan is the launch's own: a call that is served while another one waits changes nothing of it.
TEST_F(LastCall, MayBeFollowedByAnotherBeforeItEnds) {
#if !defined(NDEBUG)
  GTEST_SKIP() << "a debug build aborts where two calls use one Context";
#endif
  g_seen.nested = [this] { return call(op_, args(7)); };
  ASSERT_TRUE(call(op_, args(1)).ok());
  g_seen.nested = [this] { return call(op_, args(8)); };
  ASSERT_TRUE(call(op_, args(7)).ok());
  EXPECT_EQ(g_seen.configs, (std::vector<int>{70, 10, 80, 70}));
}

TEST_F(LastCall, WithoutAComparisonEveryCallIsChecked) {
  const OperatorDescriptor op = shifting<OtherArgs>();
  const OtherArgs with = {.x = view(memory_.data(), {4}), .y = view(memory_.data() + 16, {4})};
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(run(op, context_, ArgsRef::of(with)).ok());
  EXPECT_EQ(g_seen.checks, 3);
}

}  // namespace
}  // namespace rooftile
