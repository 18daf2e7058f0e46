#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/cases/draws.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/softmax/softmax.h"
#include "rooftile/ops/softmax/softmax_plan.h"
#include "rooftile/ops/softmax/softmax_ref.h"

namespace rooftile {
namespace {

constexpr std::array<DType, 3> kDTypes = {DType::f32, DType::f16, DType::bf16};

struct Spec {
  std::int64_t m = -1;  // -1: a vector
  std::int64_t n = 0;
  DType dtype = DType::f32;
  std::string_view temperature = "1";
  bool log = false;
  int pad = 0;
  int bias_rows = 0;  // 0: no bias; 1: one for all rows; 2: as many as x
  int mask_rows = 0;
  Fill fill = Fill::uniform;
  int offset = 0;
  bool in_place = false;
  CaseTier tier = CaseTier::quick;
};

Case make_case(const Spec& spec) {
  const std::vector<ParamSpec>& params = softmax_operator().params;
  Params values = with(params, "log", spec.log ? "true" : "false");
  // Legal: from the lists here.
  (void)values.set(params, "temperature", spec.temperature).ok();
  if (spec.pad > 0) (void)values.set(params, "pad", std::to_string(spec.pad)).ok();
  if (spec.bias_rows > 0) (void)values.set(params, "bias_rows", std::to_string(spec.bias_rows)).ok();
  if (spec.mask_rows > 0) (void)values.set(params, "mask_rows", std::to_string(spec.mask_rows)).ok();
  Shape shape = {{"n", spec.n}};
  if (spec.m >= 0) shape.insert(shape.begin(), {"m", spec.m});
  return {.shape = shape,
          .dtype = spec.dtype,
          .params = values,
          .fill = spec.fill,
          .offset = spec.offset,
          .in_place = spec.in_place,
          .tier = spec.tier};
}

// Rows of every shape that registers have, full and with one element more; aligned and beginning anywhere.
void add_lengths(std::vector<Case>& cases, DType dtype) {
  const std::int64_t vector = kRowVectorBytes / static_cast<std::int64_t>(size_of(dtype));
  for (const std::int64_t n : {1, 2, 3, 5, 9, 17, 31, 33}) {
    cases.push_back(make_case({.m = 67, .n = n, .dtype = dtype}));
    cases.push_back(make_case({.m = 5, .n = n, .dtype = dtype, .log = true, .offset = 1}));
  }
  if (dtype == DType::f32) {
    for (std::int64_t n = 1; n <= 33; ++n) cases.push_back(make_case({.m = 11, .n = n, .dtype = dtype}));
  }
  for (const RowShape& shape : softmax_plan::kRowShapes) {
    const std::int64_t n = shape.capacity() * vector;
    if (n > 16384) continue;
    const std::int64_t m = n > 2000 ? 2 : n > 200 ? 5 : 131;
    cases.push_back(make_case({.m = m, .n = n, .dtype = dtype}));
    cases.push_back(make_case({.m = m, .n = n + 1, .dtype = dtype, .offset = 1}));
  }
  cases.push_back(make_case({.n = 1000, .dtype = dtype}));
  for (const std::int64_t m : {0, 3}) cases.push_back(make_case({.m = m, .n = 0, .dtype = dtype}));
  cases.push_back(make_case({.m = 0, .n = 7, .dtype = dtype}));
}

// Rounds of a ring, of blocks that have another row behind it, and rows of several blocks.
void add_rings(std::vector<Case>& cases, DType dtype) {
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  for (const int offset : {0, 1}) {
    cases.push_back(make_case({.m = 40, .n = 16384 / size + offset, .dtype = dtype, .offset = offset}));
    cases.push_back(
        make_case({.m = 19, .n = 65536 / size + std::int64_t{5} * offset, .dtype = dtype, .offset = offset}));
    cases.push_back(
        make_case({.m = 2, .n = 262144 / size + std::int64_t{3} * offset, .dtype = dtype, .offset = offset}));
  }
}

// Whole rows, of which every block of the grid has a part: more than it has groups of warps, and fewer.
void add_grids(std::vector<Case>& cases, DType dtype) {
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const auto add = [&](std::int64_t m, std::int64_t bytes, Spec spec = {}) {
    spec.m = m;
    spec.n = bytes / size;
    spec.dtype = dtype;
    cases.push_back(make_case(spec));
  };
  add(37, 16384);
  add(20, 32752, {.log = true});
  add(5, 40000, {.temperature = "0.05"});
  add(3, 65536, {.pad = 8});
  add(2, 131072, {.in_place = true});
  add(1, 262144, {.log = true});
  for (const Fill fill : {Fill::nan_inside, Fill::inf_inside, Fill::one_maximum, Fill::rising})
    add(9, 8192, {.fill = fill});
  add(16, 1 << 20, {.fill = Fill::normal, .tier = CaseTier::full});
  add(33, 1 << 19, {.log = true, .fill = Fill::normal, .in_place = true, .tier = CaseTier::full});
  add(3, 1 << 22, {.fill = Fill::normal, .tier = CaseTier::full});
}

void add_options(std::vector<Case>& cases, DType dtype) {
  const auto add = [&](Spec spec) {
    spec.dtype = dtype;
    cases.push_back(make_case(spec));
  };
  for (const bool log : {false, true}) {
    for (const std::int64_t n : {40, 1031}) {
      add({.m = 6, .n = n, .temperature = "0.05", .log = log});
      add({.m = 6, .n = n, .temperature = "0", .log = log});
      add({.m = 6, .n = n, .log = log, .pad = 8});
      add({.m = 6, .n = n, .log = log, .pad = 3, .offset = 1});
      add({.m = 6, .n = n, .temperature = "2", .log = log, .bias_rows = 1});
      add({.m = 6, .n = n, .log = log, .mask_rows = 1, .offset = 1});
      add({.m = 6, .n = n, .log = log, .bias_rows = 2, .mask_rows = 2});
      add({.m = 6, .n = n, .temperature = "0", .log = log, .bias_rows = 2, .mask_rows = 2});
      add({.m = 6, .n = n, .log = log, .in_place = true});
    }
    add({.m = 3, .n = 9001, .log = log, .offset = 3, .in_place = true});
    add({.m = 3, .n = 9000, .temperature = "30", .log = log, .in_place = true});
    for (const Fill fill :
         {Fill::nan_inside, Fill::nan_at_last, Fill::inf_inside, Fill::special, Fill::any_bits, Fill::equal,
          Fill::rising, Fill::falling, Fill::one_maximum, Fill::small_integers}) {
      add({.m = 9, .n = 261, .log = log, .fill = fill, .offset = 1});
      add({.m = 3, .n = 4800, .log = log, .fill = fill});
      add({.m = 4, .n = 300, .temperature = "0", .log = log, .fill = fill});
    }
  }
}

std::vector<Case> softmax_cases() {
  std::vector<Case> cases;
  for (const DType dtype : kDTypes) {
    add_lengths(cases, dtype);
    add_rings(cases, dtype);
    add_grids(cases, dtype);
    add_options(cases, dtype);
    for (const Spec& spec :
         {Spec{.m = 3000, .n = 769}, Spec{.m = 70001, .n = 33}, Spec{.m = 300, .n = 12289},
          Spec{.m = 33, .n = 57856}, Spec{.m = 5, .n = 300003}, Spec{.m = 2, .n = (1 << 20) + 3}}) {
      Spec full = spec;
      full.dtype = dtype;
      full.tier = CaseTier::full;
      full.fill = Fill::normal;
      cases.push_back(make_case(full));
      full.offset = 1;
      full.log = true;
      cases.push_back(make_case(full));
    }
  }
  // What the simulated SM's promises and its mutants are of.
  for (const std::string_view temperature : {"1", "0"})
    cases.push_back(make_case({.m = 64, .n = 1024, .temperature = temperature, .fill = Fill::normal}));
  cases.push_back(make_case({.m = 8000, .n = 1024, .tier = CaseTier::full}));
  cases.push_back(make_case({.m = 2, .n = 3000000, .tier = CaseTier::full}));
  cases.push_back(make_case(
      {.m = (std::int64_t{1} << 31) / 1000 + 1, .n = 1000, .dtype = DType::bf16, .tier = CaseTier::huge}));
  cases.push_back(make_case({.n = (std::int64_t{1} << 31) + 5, .dtype = DType::f16, .tier = CaseTier::huge}));
  return cases;
}

// 0 in every third place, in a row of its own, and all along every fourth row.
Draw drawn_mask(std::int64_t n) {
  return made_from("mask", [n](HostTensor& tensor, std::span<const HostTensor>) -> Status {
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      tensor.set(i, (i / n + i) % 3 == 0 || i / n % 4 == 3 ? 0 : 1);
    return {};
  });
}

Result<CasePlan> plan_case(const Case& c) {
  const bool is_vector = c.shape.front().first == "n";
  const std::int64_t m = is_vector ? 1 : shape_at(c.shape, "m");
  const std::int64_t n = shape_at(c.shape, "n");
  const std::int64_t pitch = n + case_count(c, "pad");
  ROOFTILE_TRY_ASSIGN(const std::int64_t elements, checked_numel(Extents{m, pitch}, size_of(c.dtype)));
  (void)elements;
  const Extents shape = is_vector ? Extents{n} : Extents{m, n};
  InputPlan x{.dtype = c.dtype, .shape = shape};
  if (pitch != n && !is_vector) x.strides = Extents{pitch, 1};
  const auto added = [&](DType dtype, std::int64_t rows, Draw draw) {
    InputPlan plan{.dtype = dtype, .shape = shape, .draw = std::move(draw), .absent = rows == 0};
    if (rows == 1 && !is_vector) plan.strides = Extents{0, 1};
    return plan;
  };
  const std::int64_t bias_rows = case_count(c, "bias_rows");
  const std::int64_t mask_rows = case_count(c, "mask_rows");
  const double row_bytes = static_cast<double>(n) * static_cast<double>(size_of(c.dtype));
  const auto rows = static_cast<double>(m);
  const auto of_rows = [&](std::int64_t count) { return count == 2 ? rows : static_cast<double>(count); };
  CasePlan plan;
  plan.inputs = {std::move(x), added(c.dtype, bias_rows, drawn_by(Fill::uniform)),
                 added(DType::u8, mask_rows, drawn_mask(n))};
  plan.read_bytes = (rows + of_rows(bias_rows)) * row_bytes + of_rows(mask_rows) * static_cast<double>(n);
  plan.write_bytes = rows * row_bytes;
  return plan;
}

}  // namespace

void register_softmax_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "softmax";
  cases.shapes = {"n", "m,n"};
  cases.default_case = make_case({.m = 16384, .n = 4096, .fill = Fill::normal, .tier = CaseTier::full});
  cases.default_host_case = make_case({.m = 1024, .n = 4096, .fill = Fill::normal, .tier = CaseTier::full});
  cases.cases = softmax_cases;
  cases.plan = plan_case;
  cases.reference = softmax_reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
