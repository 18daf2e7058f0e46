#include "rooftile/core/registry.h"
#include "rooftile/ops/reduce/reduce.h"
#include "rooftile/ops/reduce/reduce_plan.h"
#include "rooftile/ops/reduce/reduce_ref.h"

namespace rooftile {
namespace {

constexpr std::int64_t kTileElements = reduce_plan::kTileBytes / 4;

Case make_case(std::int64_t n, DType dtype, std::string_view op, Fill fill, int offset, CaseTier tier) {
  return {.shape = {{"n", n}},
          .dtype = dtype,
          .params = with(reduce_operator().params, "op", op),
          .fill = fill,
          .offset = offset,
          .tier = tier};
}

std::vector<Case> reduce_cases() {
  std::vector<Case> cases;
  for (const DType dtype : {DType::f32, DType::i32}) {
    for (const char* op : {"sum", "max"}) {
      if (std::string_view(op) == "sum") cases.push_back(make_case(0, dtype, op, Fill::uniform, 0, CaseTier::quick));
      // Warp, block and tile edges, and one size that needs three passes.
      for (const std::int64_t n : {std::int64_t{1}, std::int64_t{2}, std::int64_t{31}, std::int64_t{32},
                                   std::int64_t{33}, std::int64_t{255}, std::int64_t{256}, std::int64_t{257},
                                   std::int64_t{1000}, kTileElements - 1, kTileElements, kTileElements + 1,
                                   std::int64_t{65537}, std::int64_t{1} << 20}) {
        cases.push_back(make_case(n, dtype, op, Fill::uniform, 0, CaseTier::quick));
      }
      // Pointers that are off by one, two and three elements; also with fewer elements than the head to peel.
      for (const int offset : {1, 2, 3}) {
        for (const std::int64_t n : {std::int64_t{1}, std::int64_t{2}, std::int64_t{1025}, kTileElements + 3}) {
          cases.push_back(make_case(n, dtype, op, Fill::uniform, offset, CaseTier::quick));
        }
      }
      for (const std::int64_t n : {std::int64_t{1023}, std::int64_t{100003}}) {
        cases.push_back(make_case(n, dtype, op, Fill::small_integers, 0, CaseTier::quick));
      }
      if (dtype == DType::f32) {
        for (const std::int64_t n : {std::int64_t{33}, std::int64_t{1025}, std::int64_t{65537}}) {
          cases.push_back(make_case(n, dtype, op, Fill::nan_at_last, 0, CaseTier::quick));
        }
        // Not for sum: the largest finite values overflow in one order of additions and not in another.
        if (std::string_view(op) == "max") {
          cases.push_back(make_case(1025, dtype, op, Fill::special, 0, CaseTier::quick));
        }
      }
      cases.push_back(make_case((std::int64_t{1} << 22) + 1, dtype, op, Fill::uniform, 0, CaseTier::full));
      cases.push_back(make_case(std::int64_t{1} << 25, dtype, op, Fill::uniform, 0, CaseTier::full));
      cases.push_back(make_case(std::int64_t{1} << 28, dtype, op, Fill::uniform, 0, CaseTier::huge));
    }
  }
  cases.push_back(make_case((std::int64_t{1} << 31) + 1, DType::f32, "sum", Fill::uniform, 0, CaseTier::huge));
  return cases;
}

Result<CasePlan> reduce_plan_case(const Case& c) {
  const std::int64_t n = shape_at(c.shape, "n");
  ROOFTILE_TRY(checked_numel(Extents{n}, size_of(c.dtype)).status());
  if (c.dtype != DType::f32 && c.dtype != DType::i32) {
    return invalid_argument("reduce takes f32 or i32").with_operator("reduce");
  }
  const ReduceOp op = c.params.get_string("op") == "max" ? ReduceOp::max : ReduceOp::sum;
  CasePlan plan;
  plan.inputs = {{c.dtype, Extents{n}}};
  plan.read_bytes = static_cast<double>(n) * static_cast<double>(size_of(c.dtype));
  plan.write_bytes = static_cast<double>(size_of(reduce_out_dtype(op, c.dtype)));
  plan.flops = n > 0 ? static_cast<double>(n - 1) : 0.0;
  return plan;
}

}  // namespace

void register_reduce_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "reduce";
  cases.shape_keys = {"n"};
  cases.default_case = make_case(std::int64_t{1} << 28, DType::f32, "sum", Fill::uniform, 0, CaseTier::full);
  cases.default_host_case = make_case(std::int64_t{1} << 26, DType::f32, "sum", Fill::uniform, 0, CaseTier::full);
  cases.cases = reduce_cases;
  cases.plan = reduce_plan_case;
  cases.reference = reduce_reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
