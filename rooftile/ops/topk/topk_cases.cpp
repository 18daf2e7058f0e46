#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/cases/judges.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/topk/topk.h"
#include "rooftile/ops/topk/topk_plan.h"

namespace rooftile {
namespace {

constexpr std::array<DType, 10> kDTypes = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,
                                           DType::u8,  DType::i32, DType::u32, DType::i64,  DType::u64};

struct Spec {
  std::int64_t m = 0;  // rows; 0: a vector
  std::int64_t n = 0;
  std::int64_t k = 1;
  DType dtype = DType::f32;
  bool largest = true;
  bool sorted = true;
  bool stable = true;
  Fill fill = Fill::uniform;
  int offset = 0;
  CaseTier tier = CaseTier::quick;
};

Case make_case(const Spec& spec) {
  const std::vector<ParamSpec>& params = topk_operator().params;
  Params values = with(params, "k", std::to_string(spec.k));
  // Legal: from the lists here.
  (void)values.set(params, "largest", spec.largest ? "true" : "false").ok();
  (void)values.set(params, "sorted", spec.sorted ? "true" : "false").ok();
  (void)values.set(params, "stable", spec.stable ? "true" : "false").ok();
  Shape shape = {{"n", spec.n}};
  if (spec.m > 0) shape.insert(shape.begin(), {"m", spec.m});
  return {.shape = shape,
          .dtype = spec.dtype,
          .params = values,
          .fill = spec.fill,
          .offset = spec.offset,
          .tier = spec.tier};
}

// What every dtype needs, in both orders.
void add_edges(std::vector<Case>& cases, DType dtype, bool largest) {
  cases.push_back(make_case({.n = 257, .k = 50, .dtype = dtype, .largest = largest}));
  cases.push_back(make_case({.m = 3, .n = 700, .k = 3, .dtype = dtype, .largest = largest, .offset = 1}));
  for (const Fill fill : {Fill::any_bits, Fill::special})
    cases.push_back(make_case({.n = 1500, .k = 40, .dtype = dtype, .largest = largest, .fill = fill}));
  if (is_float(dtype))
    cases.push_back(
        make_case({.n = 1050, .k = 60, .dtype = dtype, .largest = largest, .fill = Fill::nan_inside}));
}

// What every dtype needs in one order.
void add_rows(std::vector<Case>& cases, DType dtype) {
  // Rows that a sample is taken of.
  const std::int64_t long_row = topk_plan::kSampledBytes / static_cast<std::int64_t>(size_of(dtype));
  cases.push_back(make_case({.m = 2, .n = 3 * long_row, .k = 50, .dtype = dtype}));
  cases.push_back(make_case({.n = long_row + 5, .k = 50, .dtype = dtype, .offset = 1}));
  cases.push_back(make_case(
      {.n = long_row + 5, .k = 50, .dtype = dtype, .largest = false, .fill = Fill::normal, .offset = 1}));
  cases.push_back(make_case({.n = 1, .k = 1, .dtype = dtype}));
  cases.push_back(make_case({.n = 33, .k = 33, .dtype = dtype, .largest = false}));
  cases.push_back(make_case({.m = 2, .n = 1500, .k = 7, .dtype = dtype, .largest = false, .offset = 3}));
  cases.push_back(make_case({.n = 1500, .k = 40, .dtype = dtype, .fill = Fill::equal}));
}

// What does not depend on the dtype.
void add_lengths(std::vector<Case>& cases, DType dtype) {
  for (const auto& [n, k] : {std::pair{2, 2}, {31, 5}, {1024, 1}, {4099, 1000}})
    cases.push_back(make_case({.n = n, .k = k, .dtype = dtype}));
  for (const auto& [m, n] : {std::pair{5, 3}, {37, 129}})
    cases.push_back(make_case({.m = m, .n = n, .k = 3, .dtype = dtype, .offset = 1}));
  for (const Fill fill : {Fill::rising, Fill::falling, Fill::small_integers, Fill::inf_inside})
    cases.push_back(make_case({.n = 3000, .k = 40, .dtype = dtype, .fill = fill}));
  cases.push_back(
      make_case({.m = 2, .n = 5293, .k = 1024, .dtype = dtype, .fill = Fill::special, .offset = 1}));
}

void add_large(std::vector<Case>& cases) {
  // Sorted rows and equal ones: of several blocks, and long.
  for (const Fill fill : {Fill::rising, Fill::falling, Fill::equal})
    cases.push_back(make_case({.n = 35001, .k = 50, .fill = fill}));
  // More of the last part than there is room for, and an element that hangs over.
  cases.push_back(make_case({.n = 60001, .k = 300, .dtype = DType::u32, .fill = Fill::rising}));
  for (const Fill fill : {Fill::uniform, Fill::rising, Fill::falling, Fill::equal}) {
    cases.push_back(make_case({.m = 64, .n = 128256, .k = 50, .fill = fill, .tier = CaseTier::full}));
    cases.push_back(
        make_case({.m = 2, .n = 70001, .k = 300, .dtype = DType::u32, .fill = fill, .tier = CaseTier::full}));
    for (const DType dtype : {DType::f32, DType::f16, DType::u8, DType::f64, DType::i64})
      cases.push_back(make_case(
          {.n = 1234567, .k = 100, .dtype = dtype, .fill = fill, .offset = 1, .tier = CaseTier::full}));
  }
  for (const DType dtype : {DType::f32, DType::f16, DType::u8, DType::f64, DType::i64}) {
    for (const Fill fill : {Fill::normal, Fill::equal})
      cases.push_back(
          make_case({.m = 2, .n = 100001, .k = 9000, .dtype = dtype, .fill = fill, .tier = CaseTier::full}));
  }
  // Rows of several blocks of a cluster: wide ranks, small elements, more candidates than there is room for.
  cases.push_back(make_case({.n = 12001, .k = 50, .dtype = DType::f64, .fill = Fill::normal}));
  cases.push_back(make_case({.n = 40001, .k = 50, .dtype = DType::f16, .fill = Fill::normal}));
  cases.push_back(make_case({.n = 70001, .k = 256, .dtype = DType::u8, .fill = Fill::equal}));
  for (const DType dtype : {DType::f64, DType::i64}) {
    for (const std::int64_t k : {50, 1024})
      cases.push_back(
          make_case({.n = 131000, .k = k, .dtype = dtype, .fill = Fill::rising, .tier = CaseTier::full}));
  }
  cases.push_back(
      make_case({.n = 300001, .k = 50, .dtype = DType::f16, .offset = 1, .tier = CaseTier::full}));
  cases.push_back(make_case(
      {.n = (1 << 20) - 64, .k = 256, .dtype = DType::u8, .fill = Fill::equal, .tier = CaseTier::full}));
  cases.push_back(make_case({.m = 2, .n = 262000, .k = 1000, .fill = Fill::falling, .tier = CaseTier::full}));
  // k beyond what shared memory keeps.
  for (const DType dtype : {DType::f32, DType::u32, DType::f64, DType::u8}) {
    for (const std::int64_t k : {1025, 2501})
      cases.push_back(make_case({.m = 2, .n = 2501, .k = k, .dtype = dtype, .fill = Fill::any_bits}));
  }
  cases.push_back(make_case({.n = 40001, .k = 1024}));
  cases.push_back(make_case({.n = 1 << 19, .k = 100, .tier = CaseTier::full}));
  cases.push_back(make_case({.n = 1 << 19, .k = 1000, .largest = false, .tier = CaseTier::full}));
  cases.push_back(make_case({.m = 1100,
                             .n = 9,
                             .k = 2,
                             .fill = Fill::small_integers}));  // more rows than radix_select takes at a time
  cases.push_back(make_case({.m = 5, .n = 5000, .k = 77, .sorted = false}));
  cases.push_back(make_case({.n = 3001, .k = 2000, .sorted = false}));
  cases.push_back(make_case({.n = 3001, .k = 50, .stable = false, .fill = Fill::equal}));
  for (const std::int64_t m : {0, 4}) {
    cases.push_back(make_case({.m = m, .n = 100, .k = 0}));
    cases.push_back(make_case({.m = m, .n = 0, .k = 0}));
  }
  cases.push_back(make_case({.n = 1 << 28, .k = 50, .tier = CaseTier::huge}));
  // Indices beyond 2^31, and the longest row.
  cases.push_back(make_case({.n = (std::int64_t{1} << 31) + 1,
                             .k = 50,
                             .dtype = DType::i8,
                             .largest = false,
                             .fill = Fill::falling,
                             .tier = CaseTier::huge}));
  for (const std::int64_t k : {50, 5000}) {
    cases.push_back(make_case({.n = topk_plan::kMostColumns,
                               .k = k,
                               .dtype = DType::u8,
                               .fill = Fill::one_maximum,
                               .tier = CaseTier::huge}));
  }
}

std::vector<Case> topk_cases() {
  std::vector<Case> cases;
  for (const DType dtype : kDTypes) {
    add_rows(cases, dtype);
    for (const bool largest : {true, false}) add_edges(cases, dtype, largest);
  }
  for (const DType dtype : {DType::f32, DType::u32}) add_lengths(cases, dtype);
  add_large(cases);
  return cases;
}

topk_plan::Rows rows_of(const Case& c) {
  const bool is_vector = c.shape.front().first == "n";
  return {is_vector ? 1 : shape_at(c.shape, "m"), shape_at(c.shape, "n")};
}

Result<CasePlan> plan_case(const Case& c) {
  const topk_plan::Rows rows = rows_of(c);
  const std::int64_t k = c.params.get_int("k");
  CasePlan plan;
  plan.inputs = {
      {.dtype = c.dtype,
       .shape = c.shape.front().first == "n" ? Extents{rows.length} : Extents{rows.count, rows.length}}};
  const auto size = static_cast<double>(size_of(c.dtype));
  plan.read_bytes = static_cast<double>(rows.count) * static_cast<double>(rows.length) * size;
  plan.write_bytes = static_cast<double>(rows.count * k) * (size + sizeof(std::int64_t));
  return plan;
}

Result<Judge> judge_case(const Case& c, std::span<const HostTensor> inputs) {
  return top_k({.in = &inputs[0],
                .k = c.params.get_int("k"),
                .largest = c.params.get_bool("largest"),
                .sorted = c.params.get_bool("sorted"),
                .stable = c.params.get_bool("stable")});
}

}  // namespace

void register_topk_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "topk";
  cases.shapes = {"n", "m,n"};
  cases.default_case = make_case({.m = 64, .n = 128256, .k = 50, .tier = CaseTier::full});
  cases.default_host_case = make_case({.m = 4, .n = 128256, .k = 50, .tier = CaseTier::full});
  cases.cases = topk_cases;
  cases.plan = plan_case;
  cases.judge = judge_case;
  registry.add(std::move(cases));
}

}  // namespace rooftile
