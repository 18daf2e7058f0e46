// An operator for tests of the lab: y = 2 x, with one CPU rung that is right and one rung per way of being
// wrong.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "rooftile/core/registry.h"

namespace rooftile::lab::test {

enum class Bug {
  none,
  skips_tail,       // the elements after the last full group of 32
  wrong_lane,       // one element in 32 is off by one unit in the last place
  nan_at_end,       // NaN in the last element
  writes_behind,    // one element past the end
  writes_in_front,  // one element before the start
  writes_behind_workspace,
  leaves_zeroed_dirty,
  modifies_input,
  counts_runs,  // the result depends on how often it ran, within the tolerance
  writes_nothing,
  reads_workspace,  // adds what the workspace held at entry
  reports_error,
  writes_error_word,
  reads_what_it_wrote,  // right, but not in place
};

struct BugRow {
  Bug bug;
  const char* id;
  const char* finding;  // words that the failed check must contain
};
inline constexpr std::array<BugRow, 13> kBugs = {{
    {Bug::skips_tail, "skips_tail", "y element"},
    {Bug::wrong_lane, "wrong_lane", "y element"},
    {Bug::nan_at_end, "nan_at_end", "got nan"},
    {Bug::writes_behind, "writes_behind", "behind its end"},
    {Bug::writes_in_front, "writes_in_front", "in front of it"},
    {Bug::writes_behind_workspace, "writes_behind_workspace", "the workspace"},
    {Bug::leaves_zeroed_dirty, "leaves_zeroed_dirty", "not zero at exit"},
    {Bug::modifies_input, "modifies_input", "input x was modified"},
    {Bug::counts_runs, "counts_runs", "differs between two runs"},
    {Bug::writes_nothing, "writes_nothing", "y element"},
    {Bug::reads_workspace, "reads_workspace", "y element"},
    {Bug::reports_error, "reports_error", "planted"},
    {Bug::writes_error_word, "writes_error_word", "error 7"},
}};

struct FakeArgs {
  ConstTensorView x;
  TensorView y;
};

inline int& run_counter() {
  static int runs = 0;
  return runs;
}

template <class T>
void double_elements(Bug bug, const FakeArgs& args, const Workspace& workspace) {
  const auto* x = static_cast<const T*>(args.x.data);
  auto* y = static_cast<T*>(args.y.data);
  const std::int64_t n = args.x.numel();
  if (bug == Bug::writes_nothing) return;
  if (bug == Bug::reads_what_it_wrote) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[0];
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[i];
  }
  const std::int64_t last = bug == Bug::skips_tail ? n / 32 * 32 : n;
  for (std::int64_t i = 0; i < last; ++i) {
    if constexpr (std::is_floating_point_v<T>)
      y[i] = x[i] + x[i];
    else
      y[i] = static_cast<T>(2u * static_cast<std::uint32_t>(x[i]));  // wraps around
  }
  if (n == 0) return;
  if (bug == Bug::wrong_lane) {
    T& wrong = y[n / 2];
    if constexpr (std::is_floating_point_v<T>) {
      wrong = std::nextafter(wrong, std::numeric_limits<T>::infinity());
    } else {
      wrong ^= 1;
    }
  }
  if (bug == Bug::nan_at_end) y[n - 1] = std::numeric_limits<T>::quiet_NaN();
  if (bug == Bug::writes_behind) y[n] = T{1};
  if (bug == Bug::writes_in_front) y[-1] = T{1};
  if (bug == Bug::writes_behind_workspace)
    static_cast<std::byte*>(workspace.data)[workspace.bytes] = std::byte{1};
  if (bug == Bug::leaves_zeroed_dirty) static_cast<std::byte*>(workspace.zeroed)[3] = std::byte{1};
  if (bug == Bug::writes_error_word) *workspace.error_word = 7;
  if (bug == Bug::modifies_input) const_cast<T*>(x)[n - 1] = T{0};
  if (bug == Bug::reads_workspace) {
    T scratch;
    std::memcpy(&scratch, workspace.data, sizeof(T));
    if constexpr (std::is_floating_point_v<T>)
      y[0] += scratch;
    else
      y[0] ^= scratch;
  }
  if (bug == Bug::counts_runs && run_counter()++ % 2 == 1) {
    if constexpr (std::is_floating_point_v<T>) y[0] += T{1e-3f};
  }
}

inline LaunchFn fake_launch(Bug bug) {
  return [bug](const AnyCall& call) -> Status {
    if (bug == Bug::reports_error) return Status::error(StatusCode::device_error, "planted");
    const FakeArgs& args = call.args.as<FakeArgs>();
    const Workspace& workspace = call.workspace;
    if (args.x.dtype == DType::f32)
      double_elements<float>(bug, args, workspace);
    else
      double_elements<std::int32_t>(bug, args, workspace);
    return {};
  };
}

inline RungRow fake_rung(std::string id, Bug bug) {
  RungRow row;
  row.id = std::move(id);
  row.kind = RungKind::cpu;
  row.idea = "doubles every element";
  row.plan = [](ArgsRef, const DeviceProperties&) {
    return RungPlan{.workspace = {.bytes = 40, .zeroed_bytes = 4}};
  };
  row.launch.cpu = fake_launch(bug);
  return row;
}

inline PeerRow fake_peer(std::string id, Bug bug) {
  return {
      .operator_name = "fake",
      .id = std::move(id),
      .version = "a peer",
      .plan = [](ArgsRef,
                 const DeviceProperties&) { return RungPlan{.workspace = {.bytes = 40, .zeroed_bytes = 4}}; },
      .launch = fake_launch(bug),
      .device = DeviceKind::cpu};
}

inline OperatorDescriptor make_fake(const std::string& name, std::vector<RungRow> rungs) {
  OperatorDescriptor op;
  op.name = name;
  op.summary = "twice every element";
  op.slots = {{.name = "x",
               .direction = SlotDirection::in,
               .dtypes = {DType::f32, DType::i32},
               .view = [](ArgsRef args) { return args.as<FakeArgs>().x; }},
              {.name = "y",
               .direction = SlotDirection::out,
               .dtypes = {DType::f32, DType::i32},
               .may_alias = "x",
               .view = [](ArgsRef args) -> ConstTensorView { return args.as<FakeArgs>().y; }}};
  op.params = {{.name = "mode", .default_value = std::string("plain"), .choices = {"plain", "other"}}};
  op.make_args = [](std::span<const TensorView> tensors, const Params&) -> Result<AnyArgs> {
    return AnyArgs::of(FakeArgs{tensors[0], tensors[1]});
  };
  op.infer_outputs = [](std::span<const TensorSpec> inputs,
                        const Params&) -> Result<std::vector<TensorSpec>> {
    return std::vector<TensorSpec>{inputs[0]};
  };
  op.choose = [](ArgsRef, const DeviceProperties&) { return std::string_view("right"); };
  op.rungs = std::move(rungs);
  return op;
}

inline Case fake_case(std::int64_t n, DType dtype, Fill fill = Fill::uniform, int offset = 0) {
  static const std::vector<ParamSpec> specs = {
      {.name = "mode", .default_value = std::string("plain"), .choices = {"plain", "other"}}};
  return {.shape = {{"n", n}}, .dtype = dtype, .params = Params(specs), .fill = fill, .offset = offset};
}

// `rule_floor` is the tolerance of the float cases: 0 asks for exact results.
inline OperatorCases make_fake_cases(const std::string& name, double rule_floor = 0.0) {
  OperatorCases cases;
  cases.operator_name = name;
  cases.shapes = {"n"};
  cases.default_case = fake_case(1 << 20, DType::f32);
  cases.default_host_case = fake_case(1 << 16, DType::f32);
  cases.cases = [] {
    std::vector<Case> list;
    for (const DType dtype : {DType::f32, DType::i32}) {
      for (const std::int64_t n : {0, 1, 33, 1000}) list.push_back(fake_case(n, dtype));
      list.push_back(fake_case(1000, dtype, Fill::special, 1));
      list.push_back(fake_case(1000, dtype, Fill::nan_at_last, 3));
    }
    return list;
  };
  cases.plan = [](const Case& c) -> Result<CasePlan> {
    const std::int64_t n = shape_at(c.shape, "n");
    ROOFTILE_TRY(checked_numel(Extents{n}, size_of(c.dtype)).status());
    const double bytes = static_cast<double>(n) * static_cast<double>(size_of(c.dtype));
    return CasePlan{{{c.dtype, Extents{n}}}, bytes, bytes, static_cast<double>(n)};
  };
  cases.reference = [rule_floor](const Case& c,
                                 std::span<const HostTensor> inputs) -> Result<std::vector<Expected>> {
    const HostTensor& x = inputs[0];
    Expected expected;
    expected.floor = rule_floor;
    expected.rule = "the test's floor";
    ROOFTILE_TRY_ASSIGN(expected.exact,
                        HostTensor::create(is_float(c.dtype) ? DType::f64 : c.dtype, x.shape()));
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      if (c.dtype == DType::i32) {
        const auto value = static_cast<std::uint32_t>(x.as<std::int32_t>()[static_cast<std::size_t>(i)]);
        expected.exact.as<std::int32_t>()[static_cast<std::size_t>(i)] =
            static_cast<std::int32_t>(2u * value);
      } else {
        expected.exact.set(i, 2.0 * x.at(i));
      }
    }
    std::vector<Expected> all;
    all.push_back(std::move(expected));
    return all;
  };
  return cases;
}

}  // namespace rooftile::lab::test
