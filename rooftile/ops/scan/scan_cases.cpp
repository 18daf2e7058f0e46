#include <array>
#include <string_view>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/ops/scan/scan.h"
#include "rooftile/ops/scan/scan_plan.h"
#include "rooftile/ops/scan/scan_ref.h"

namespace rooftile {
namespace {

constexpr std::array<DType, 10> kDTypes = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,
                                           DType::u8,  DType::i32, DType::u32, DType::i64,  DType::u64};

struct Spec {
  std::int64_t m = 0;  // rows; 0: a vector
  std::int64_t n = 0;
  DType dtype = DType::f32;
  std::string_view op = "sum";
  bool exclusive = false;
  std::string_view initial = "default";
  Fill fill = Fill::uniform;
  int offset = 0;
  bool in_place = false;
  CaseTier tier = CaseTier::quick;
};

Case make_case(const Spec& spec) {
  const std::vector<ParamSpec>& params = scan_operator().params;
  Params values = with(params, "op", spec.op);
  // Legal: from the lists here.
  (void)values.set(params, "exclusive", spec.exclusive ? "true" : "false").ok();
  (void)values.set(params, "initial", spec.initial).ok();
  Shape shape = {{"n", spec.n}};
  if (spec.m > 0) shape.insert(shape.begin(), {"m", spec.m});
  return {.shape = shape,
          .dtype = spec.dtype,
          .params = values,
          .fill = spec.fill,
          .offset = spec.offset,
          .in_place = spec.in_place,
          .tier = spec.tier};
}

std::int64_t elements_in(std::int64_t bytes, DType dtype) {
  return bytes / static_cast<std::int64_t>(size_of(dtype));
}
constexpr std::int64_t kSmallBytes = scan_plan::kTileBytes / scan_plan::kVectors;

// Around warps, blocks and tiles, and several tiles.
void add_lengths(std::vector<Case>& cases, DType dtype, std::string_view op, bool exclusive) {
  const std::int64_t small = elements_in(kSmallBytes, dtype);
  if (op != "sum" && dtype != DType::f32 &&
      dtype != DType::i32) {  // the path is the same, the keys are others
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{257}, 2 * small + 5})
      cases.push_back(
          make_case({.n = n, .dtype = dtype, .op = op, .exclusive = exclusive, .fill = Fill::any_bits}));
    return;
  }
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{31}, std::int64_t{257},
                               small - 1, small + 1, 3 * small + 5}) {
    cases.push_back(make_case({.n = n, .dtype = dtype, .op = op, .exclusive = exclusive}));
  }
  for (const int offset : {1, 3}) {
    for (const std::int64_t n : {std::int64_t{2}, 2 * small})
      cases.push_back(
          make_case({.n = n, .dtype = dtype, .op = op, .exclusive = exclusive, .offset = offset}));
  }
  cases.push_back(
      make_case({.n = small, .dtype = dtype, .op = op, .exclusive = exclusive, .in_place = true}));
  cases.push_back(
      make_case({.n = 777, .dtype = dtype, .op = op, .exclusive = exclusive, .fill = Fill::small_integers}));
  if (op == "sum") {
    const std::int64_t tile = elements_in(scan_plan::kTileBytes, dtype);
    for (const std::int64_t n : {tile - 1, tile, 2 * tile + 1})
      cases.push_back(make_case({.n = n, .dtype = dtype, .op = op, .exclusive = exclusive}));
  }
  if (is_float(dtype)) {
    cases.push_back(
        make_case({.n = 4099, .dtype = dtype, .op = op, .exclusive = exclusive, .fill = Fill::nan_inside}));
  }
}

void add_rows(std::vector<Case>& cases, DType dtype, std::string_view op, bool exclusive) {
  const std::int64_t small = elements_in(kSmallBytes, dtype);
  struct Size {
    std::int64_t m, n;
  };
  for (const Size& size : {Size{5, 3}, Size{37, 129}, Size{3, small}, Size{3, 5 * small + 7}}) {
    cases.push_back(make_case({.m = size.m, .n = size.n, .dtype = dtype, .op = op, .exclusive = exclusive}));
  }
  cases.push_back(
      make_case({.m = 9, .n = 65, .dtype = dtype, .op = op, .exclusive = exclusive, .offset = 1}));
}

void add_large(std::vector<Case>& cases) {
  cases.push_back(make_case({.m = 32, .n = scan_plan::kTreeElements}));
  // A cluster of 16 tiles, and rows of fewer; off the vectors' boundary.
  const auto tiles_of = [](std::int64_t tiles, DType dtype) {
    return elements_in(tiles * scan_plan::kTileBytes, dtype);
  };
  cases.push_back(make_case({.n = tiles_of(scan_plan::kClusterTiles, DType::f32)}));
  cases.push_back(
      make_case({.m = 3, .n = tiles_of(scan_plan::kClusterTiles - 1, DType::f16) + 9, .dtype = DType::f16}));
  cases.push_back(
      make_case({.m = 3, .n = tiles_of(2, DType::f16) - 1, .dtype = DType::f16}));  // a tile of nothing
  cases.push_back(make_case({.n = tiles_of(5, DType::i32) + 1, .dtype = DType::i32, .in_place = true}));
  cases.push_back(make_case({.m = 2, .n = tiles_of(7, DType::i64), .dtype = DType::i64, .exclusive = true}));
  cases.push_back(make_case({.n = tiles_of(scan_plan::kClusterTiles, DType::i32) - 3,
                             .dtype = DType::i32,
                             .op = "max",
                             .offset = 1}));
  // A tree of two levels and a walk along two groups of totals, on the simulated SM, too; three of each are in scan_test.cpp.
  cases.push_back(make_case({.n = 1 << 18}));
  cases.push_back(make_case({.n = elements_in(131 * scan_plan::ring_of(4).tile_bytes(), DType::f32) + 1}));
  cases.push_back(make_case({.n = 1 << 18, .dtype = DType::i32, .exclusive = true}));
  cases.push_back(make_case({.n = 1 << 20, .dtype = DType::u8}));
  cases.push_back(
      make_case({.m = 2, .n = elements_in(34 * scan_plan::kTileBytes, DType::f64), .dtype = DType::f64}));
  for (const DType dtype : {DType::f32, DType::i32, DType::f16, DType::u8, DType::f64}) {
    cases.push_back(make_case({.n = (1 << 22) + 1, .dtype = dtype, .tier = CaseTier::full}));
    cases.push_back(
        make_case({.n = 1234567, .dtype = dtype, .op = "max", .offset = 1, .tier = CaseTier::full}));
  }
  cases.push_back(make_case({.n = 1 << 25, .tier = CaseTier::huge}));
  cases.push_back(make_case({.m = 1024, .n = 16384, .tier = CaseTier::full}));
  cases.push_back(make_case({.m = 100003, .n = 33, .dtype = DType::f16, .tier = CaseTier::full}));
  cases.push_back(make_case({.n = 1 << 28, .tier = CaseTier::huge}));
  cases.push_back(make_case({.n = (std::int64_t{1} << 31) + 1, .dtype = DType::u8, .tier = CaseTier::huge}));
}

std::vector<Case> scan_cases() {
  std::vector<Case> cases;
  for (const DType dtype : kDTypes) {
    for (const std::string_view op : {"sum", "min", "max"}) {
      for (const bool exclusive : {false, true}) {
        add_lengths(cases, dtype, op, exclusive);
        if (op == "sum" || dtype == DType::f32) add_rows(cases, dtype, op, exclusive);
        cases.push_back(
            make_case({.n = 300, .dtype = dtype, .op = op, .exclusive = exclusive, .initial = "3"}));
      }
    }
  }
  cases.push_back(make_case({.m = 3, .n = 5000, .initial = "-0.75"}));
  cases.push_back(
      make_case({.n = 5000, .dtype = DType::i8, .op = "max", .exclusive = true, .initial = "-128"}));
  // An extremum that stands alone, in front of a tile's edge: leaving it out shows.
  for (const Fill fill : {Fill::one_maximum, Fill::tile_maximum, Fill::rising, Fill::falling}) {
    for (const std::string_view op : {"min", "max"})
      cases.push_back(make_case({.n = 3 * 1024 + 5, .dtype = DType::i32, .op = op, .fill = fill}));
  }
  add_large(cases);
  return cases;
}

Result<CasePlan> plan_case(const Case& c) {
  std::vector<std::int64_t> extents;
  for (const auto& [key, extent] : c.shape) extents.push_back(extent);
  return elementwise_plan(c, Extents(extents), 1);
}

}  // namespace

void register_scan_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "scan";
  cases.shapes = {"n", "m,n"};
  cases.default_case = make_case({.n = 1 << 28, .tier = CaseTier::full});
  cases.default_host_case = make_case({.n = 1 << 25, .tier = CaseTier::huge});
  cases.cases = scan_cases;
  cases.plan = plan_case;
  cases.reference = scan_reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
