// The oracle, tested: real kernels on the simulated SM, each broken in one way, must turn red in one lane
// order at least; the right one must pass in every order.
#define ROOFTILE_TARGET sim
#include "tests/lab/broken_kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "rooftile/lab/check/verify.h"
#include "tests/lab/fake_operator.h"

namespace rooftile::lab {
namespace {

using sim::lab_tests::KernelBug;

constexpr std::int64_t kBlock = 256;
constexpr std::array<const char*, 3> kOrders = {"forward", "reversed", "random:7"};

struct KernelBugRow {
  KernelBug bug;
  const char* id;
  const char* finding;  // words that the failed check must contain
};
constexpr std::array<KernelBugRow, 7> kKernelBugs = {{
    {KernelBug::skipped_tail, "skipped_tail", "y element 3"},
    {KernelBug::dropped_barrier, "dropped_barrier", "y element"},
    {KernelBug::dropped_first_barrier, "dropped_first_barrier", "y element"},
    {KernelBug::half_accumulation, "half_accumulation", "y element"},
    {KernelBug::wrong_lane, "wrong_lane", "y element"},
    {KernelBug::nan_in_last, "nan_in_last", "got nan"},
    {KernelBug::output_not_written, "output_not_written", "y element 3"},
}};

RungRow kernel_rung(std::string id, KernelBug bug) {
  RungRow row;
  row.id = std::move(id);
  row.idea = "sums blocks of 256";
  row.launch.sim = [bug](const AnyCall& call) {
    const auto& args = call.args.as<test::FakeArgs>();
    return sim::lab_tests::run_block_sums(call.stream, bug, static_cast<const float*>(args.x.data),
                                          args.x.numel(), static_cast<float*>(args.y.data));
  };
  return row;
}

Extents block_sums_shape(std::int64_t n) { return Extents{(n + kBlock - 1) / kBlock}; }

// The rule that reduce and its like use: twice the error of a sound sum of the same precision, plus the
// rounding of a tree of 8 levels.
Result<std::vector<Expected>> block_sums_reference(const Case&, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  const Extents shape = block_sums_shape(x.numel());
  Expected expected;
  expected.floor = 8 * 256 * 0x1p-24;
  expected.rule = "8 additions per value, each rounded to f32";
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, shape));
  ROOFTILE_TRY_ASSIGN(expected.same_precision, HostTensor::create(DType::f64, shape));
  for (std::int64_t block = 0; block < shape[0]; ++block) {
    double exact = 0;
    float rounded = 0;
    for (std::int64_t i = block * kBlock; i < std::min((block + 1) * kBlock, x.numel()); ++i) {
      exact += x.at(i);
      rounded += static_cast<float>(x.at(i));
    }
    expected.exact.set(block, exact);
    expected.same_precision.set(block, static_cast<double>(rounded));
  }
  std::vector<Expected> all;
  all.push_back(std::move(expected));
  return all;
}

class BrokenKernel : public testing::TestWithParam<KernelBugRow> {
 protected:
  static VerifyReport check(const std::string& id, KernelBug bug, const std::string& order) {
    OperatorDescriptor op = test::make_fake("block_sums", {kernel_rung(id, bug)});
    op.infer_outputs = [](std::span<const TensorSpec> inputs,
                          const Params&) -> Result<std::vector<TensorSpec>> {
      return std::vector<TensorSpec>{{DType::f32, block_sums_shape(inputs[0].shape[0])}};
    };
    OperatorCases cases = test::make_fake_cases("block_sums");
    cases.reference = block_sums_reference;
    Registry registry;
    registry.add(op);
    registry.add(std::move(cases));
    VerifyOptions options;
    options.devices = {kSim};
    options.sim_order = order;
    options.single = test::fake_case(3 * kBlock + 100, DType::f32);
    const Result<VerifyReport> report = verify(registry, options);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : VerifyReport{};
  }
};

TEST_F(BrokenKernel, TheRightOnePassesInEveryOrder) {
  for (const char* order : kOrders) {
    const VerifyReport report = check("right", KernelBug::none, order);
    EXPECT_EQ(report.passed, 1) << order;
    EXPECT_EQ(report.failed, 0) << order << ": " << report.failures[0].reason;
  }
}

TEST_P(BrokenKernel, TurnsRed) {
  const KernelBugRow row = GetParam();
  int red = 0;
  for (const char* order : kOrders) {
    const VerifyReport report = check(row.id, row.bug, order);
    EXPECT_EQ(report.passed + report.failed, 1) << order;
    red += report.failed;
    for (const CheckResult& failure : report.failures)
      EXPECT_NE(failure.reason.find(row.finding), std::string::npos) << order << ": " << failure.reason;
  }
  // What does not depend on the order of lanes must show in each of them.
  const bool depends_on_order =
      row.bug == KernelBug::dropped_barrier || row.bug == KernelBug::dropped_first_barrier;
  EXPECT_GE(red, depends_on_order ? 1 : static_cast<int>(kOrders.size()));
}

INSTANTIATE_TEST_SUITE_P(Lab, BrokenKernel, testing::ValuesIn(kKernelBugs),
                         [](const auto& bug) { return std::string(bug.param.id); });

}  // namespace
}  // namespace rooftile::lab
