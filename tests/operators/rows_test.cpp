// Rows and cases of every operator: complete and without doubles.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <regex>
#include <string>

#include "rooftile/lab/case/case_request.h"
#include "rooftile/lab/case/problem.h"
#include "tests/operators/operators_testing.h"

namespace rooftile::operators_testing {
namespace {

class Rows : public OperatorTest {};
INSTANTIATE_TEST_SUITE_P(Operators, Rows, ::testing::ValuesIn(operator_names()), operator_name);

// Elsewhere a launch that is not linked in is a reason to skip; this program links them all, so here it is a launcher
// whose name differs from its row's.
TEST_P(Rows, AreBuiltForTheSimulatedSm) {
  int kernels = 0;
  for (const RungRow& rung : op_->rungs) {
    if (rung.kind != RungKind::gpu) {
      EXPECT_TRUE(launch_for(rung, DeviceKind::cpu)) << rung.id << " has no launch for the CPU";
      continue;
    }
    ++kernels;
    EXPECT_TRUE(rung.launch.sim) << rung.id << " has no launch for sim: its file defines another function";
#ifdef ROOFTILE_TEST_CHECKED
    EXPECT_TRUE(rung.launch.checked) << rung.id << " has no launch with instrumented accesses";
#endif
  }
  EXPECT_GT(kernels, 0) << "no rung is a kernel";
}

// A file in rungs/ whose row was forgotten is a kernel that nobody runs.
TEST_P(Rows, EveryFileOfARungHasARow) {
  const std::regex file_of_a_rung("[rc][0-9]+_([a-z0-9_]+?)(\\.sm[0-9]+a?)?\\.(cu|cpp)");
  for (const char* home : {"rooftile/ops/", "rooftile/lessons/"}) {
    const std::filesystem::path folder =
        std::filesystem::path(ROOFTILE_SOURCE_DIR) / home / op_->name / "rungs";
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      const std::string name = file.path().filename().string();
      std::smatch match;
      if (!std::regex_match(name, match, file_of_a_rung)) continue;
      EXPECT_NE(op_->find_rung(match[1].str()), nullptr)
          << name << " has no row in " << op_->name << "'s table";
    }
  }
}

TEST_P(Rows, CasesHaveIdsOfTheirOwn) {
  std::map<std::string, int> count;
  for (const Case& c : cases_->cases()) ++count[case_id(c)];
  EXPECT_FALSE(count.empty());
  for (const auto& [id, times] : count) EXPECT_EQ(times, 1) << id;
}

// What a repro line names is a case that the operator takes.
TEST_P(Rows, CasesHaveShapesThatACallerMayName) {
  std::vector<Case> cases = cases_->cases();
  cases.push_back(cases_->default_case);
  cases.push_back(cases_->default_host_case);
  for (const Case& c : cases) {
    lab::CaseRequest request;
    for (const auto& [key, extent] : c.shape) request.shape.emplace_back(key, std::to_string(extent));
    const Result<Case> named = lab::make_case(*op_, *cases_, request, DeviceKind::cpu);
    ASSERT_TRUE(named.ok()) << case_id(c) << ": " << named.status().message();
    EXPECT_EQ(named->shape, c.shape);
  }
}

// The arguments of a case whose tensors have addresses and no memory.
Result<AnyArgs> args_without_memory(const OperatorDescriptor& op, const OperatorCases& cases, const Case& c,
                                    Device device) {
  ROOFTILE_TRY_ASSIGN(const lab::TensorPlan plan, lab::plan_tensors(op, cases, c));
  std::vector<TensorView> views;
  std::size_t input = 0;
  std::size_t output = 0;
  for (const TensorSlot& slot : op.slots) {
    const TensorSpec& spec = is_read(slot) ? plan.inputs[input] : plan.outputs[output];
    Extents strides = is_absent(spec) ? Extents() : contiguous_strides(spec.shape);
    if (is_read(slot) && !plan.work.inputs[input].strides.empty()) strides = plan.work.inputs[input].strides;
    if (!is_read(slot) && output < plan.work.output_strides.size() &&
        !plan.work.output_strides[output].empty())
      strides = plan.work.output_strides[output];
    const bool absent = is_read(slot) && plan.work.inputs[input].absent;
    // Far apart, and as far off their alignment as the case says.
    const std::uintptr_t address =
        ((views.size() + 1) << 42) + static_cast<std::size_t>(c.offset) * size_of(spec.dtype);
    TensorView view(reinterpret_cast<void*>(address), spec.dtype, device, spec.shape, strides);
    for (std::size_t i = 0; i < views.size(); ++i) {
      if (c.in_place && !is_read(slot) && op.slots[i].name == slot.alias_of_cases()) view = views[i];
    }
    views.push_back(absent ? TensorView() : view);
    is_read(slot) ? ++input : ++output;
  }
  return op.make_args(views, c.params);
}

DeviceProperties made_up_gpu(int compute_capability, int multiprocessors) {
  DeviceProperties gpu = *device_properties(kSim).value();
  gpu.device = cuda_device(0);
  gpu.compute_capability = compute_capability;
  gpu.multiprocessors = multiprocessors;
  return gpu;
}

// Whichever device a call is on, the rung that is chosen for it has a row, is of that device, and serves it.
TEST_P(Rows, ChooseNamesARungThatServesTheCall) {
  if (!op_->choose) GTEST_SKIP() << "a lesson: nobody calls it";
  for (const DeviceProperties& device : {*device_properties(kCpu).value(), *device_properties(kSim).value(),
                                         made_up_gpu(80, 108), made_up_gpu(90, 132), made_up_gpu(100, 148)}) {
    const bool is_cpu = device.device.kind == DeviceKind::cpu;
    for (const Case& c : cases_->cases()) {
      const Result<AnyArgs> args = args_without_memory(*op_, *cases_, c, device.device);
      ASSERT_TRUE(args.ok()) << case_id(c) << ": " << args.status();
      if (writes_nothing(*op_, *args)) continue;
      const std::string chosen(op_->choose(*args, device));
      const std::string where = case_id(c) + " on " + to_string(device.device) + ", sm_" +
                                std::to_string(device.compute_capability) + ": " + chosen;
      const RungRow* rung = op_->find_rung(chosen);
      ASSERT_NE(rung, nullptr) << where << " is no rung";
      EXPECT_EQ(rung->kind, is_cpu ? RungKind::cpu : RungKind::gpu) << where;
      EXPECT_TRUE(rung->wrong_on_purpose.empty()) << where;
      if (device.device.kind == DeviceKind::cuda) {
        const int has = device.compute_capability;
        EXPECT_TRUE(rung->arch.exact ? has == rung->arch.minimum : has >= rung->arch.minimum) << where;
      }
      if (rung->supports) {
        EXPECT_EQ(rung->supports(*args, device), "") << where;
      }
    }
  }
}

}  // namespace
}  // namespace rooftile::operators_testing
