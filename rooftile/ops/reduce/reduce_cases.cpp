#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/ops/reduce/reduce.h"
#include "rooftile/ops/reduce/reduce_plan.h"
#include "rooftile/ops/reduce/reduce_ref.h"

namespace rooftile {
namespace {

constexpr std::array<std::string_view, 6> kOps = {"sum", "mean", "min", "max", "argmin", "argmax"};
constexpr std::array<DType, 12> kDTypes = {DType::f64, DType::f32, DType::f16, DType::bf16,
                                           DType::i8,  DType::i16, DType::i32, DType::i64,
                                           DType::u8,  DType::u16, DType::u32, DType::u64};

struct Spec {
  Shape shape;
  DType dtype = DType::f32;
  std::string_view op = "sum";
  std::string_view axis = "all";  // or several, divided by commas
  Fill fill = Fill::uniform;
  int offset = 0;
  CaseTier tier = CaseTier::quick;
  std::string_view out_dtype = "default";
};

Case make_case(const Spec& spec) {
  const std::vector<ParamSpec>& params = reduce_operator().params;
  Params values = with(params, "op", spec.op);
  // Every value comes from the lists above and from literals: legal by construction.
  (void)values.set(params, "axes", spec.axis).ok();
  (void)values.set(params, "out_dtype", spec.out_dtype).ok();
  return {.shape = spec.shape,
          .dtype = spec.dtype,
          .params = values,
          .fill = spec.fill,
          .offset = spec.offset,
          .tier = spec.tier};
}

Shape vector_of(std::int64_t n) { return {{"n", n}}; }
Shape matrix_of(std::int64_t m, std::int64_t n) { return {{"m", m}, {"n", n}}; }

bool is_arg(std::string_view op) { return op == "argmin" || op == "argmax"; }
std::int64_t tile_elements(DType dtype) {
  return reduce_plan::kTileBytes / static_cast<std::int64_t>(size_of(dtype));
}

// Sizes at the edges of a warp, a block and a tile; the two dtypes and two ops of the lesson rungs in full.
void add_vector_edges(std::vector<Case>& cases, DType dtype, std::string_view op) {
  const std::int64_t tile = tile_elements(dtype);
  const bool lesson = (dtype == DType::f32 || dtype == DType::i32) && (op == "sum" || op == "max");
  std::vector<std::int64_t> sizes = {1, 33, 1025, tile + 1};
  if (lesson) sizes = {1, 2, 31, 32, 33, 255, 256, 257, 511, 512, 513, 1000, tile - 1, tile, tile + 1, 65537};
  if (dtype == DType::f32 && op == "sum") sizes.push_back(1 << 20);
  if (op == "sum") sizes.insert(sizes.begin(), 0);
  for (const std::int64_t n : sizes)
    cases.push_back(make_case({.shape = vector_of(n), .dtype = dtype, .op = op}));
  // Pointers that are off by one, two and three elements; also with fewer elements than the head to peel.
  for (const int offset : {1, 2, 3}) {
    if (!lesson && offset > 1) break;
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{2}, std::int64_t{1025}, tile + 3}) {
      cases.push_back(make_case({.shape = vector_of(n), .dtype = dtype, .op = op, .offset = offset}));
    }
  }
  cases.push_back(make_case(
      {.shape = vector_of(lesson ? 100003 : 20011), .dtype = dtype, .op = op, .fill = Fill::small_integers}));
  if (is_float(dtype)) {
    cases.push_back(
        make_case({.shape = vector_of(4099), .dtype = dtype, .op = op, .fill = Fill::nan_inside}));
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{1025}, std::int64_t{65537}}) {
      cases.push_back(
          make_case({.shape = vector_of(n), .dtype = dtype, .op = op, .fill = Fill::nan_at_last}));
    }
  }
  // Not for sums: the largest finite values overflow in one order of additions and not in another.
  if (op != "sum" && op != "mean") {
    // An extremum that stands alone, at the end and at a tile's edge: leaving it out shows.
    for (const Fill fill : {Fill::one_maximum, Fill::tile_maximum}) {
      for (const std::int64_t n : {std::int64_t{1025}, 3 * tile + 5})
        cases.push_back(make_case({.shape = vector_of(n), .dtype = dtype, .op = op, .fill = fill}));
    }
    cases.push_back(make_case({.shape = vector_of(1025), .dtype = dtype, .op = op, .fill = Fill::special}));
  }
}

void add_axis_edges(std::vector<Case>& cases, DType dtype, std::string_view op) {
  const bool full = dtype == DType::f32 || dtype == DType::u8;
  // Rows: shorter than a vector, odd (every row is aligned otherwise), a warp's, a block's, several blocks'.
  std::vector<Shape> rows = {matrix_of(5, 3), matrix_of(37, 129), matrix_of(3, 3 * tile_elements(dtype) + 5)};
  // Columns: with vectors and without, a tile and its neighbours, split over blocks.
  std::vector<Shape> columns = {matrix_of(7, 16), matrix_of(33, 17), matrix_of(600, 48)};
  if (full) {
    rows.insert(rows.end(), {matrix_of(1, 1000), matrix_of(300, 1), matrix_of(9, 4096), matrix_of(2, 65536)});
    columns.insert(columns.end(), {matrix_of(1, 64), matrix_of(65, 512), matrix_of(64, 528)});
  }
  // Many tiles side by side, all of them split over blocks: millions of elements, for one sum and one comparison.
  if ((dtype == DType::f32 && op == "sum") || (dtype == DType::u8 && op == "argmax")) {
    columns.push_back(matrix_of(2000, 1040));
  }
  if (op == "sum") {
    rows.insert(rows.end(), {matrix_of(4, 0), matrix_of(0, 4)});
    columns.insert(columns.end(), {matrix_of(0, 32), matrix_of(32, 0)});
  }
  for (const Shape& shape : rows) {
    cases.push_back(make_case({.shape = shape, .dtype = dtype, .op = op, .axis = "-1"}));
  }
  for (const Shape& shape : columns) {
    cases.push_back(make_case({.shape = shape, .dtype = dtype, .op = op, .axis = "0"}));
  }
  const Shape cube = {{"b", 5}, {"m", 19}, {"n", 32}};
  std::vector<const char*> axes = {"0", "1", "2"};
  if (full) axes.insert(axes.end(), {"0,1", "-1,1", "0,2"});
  for (const char* axis : axes)
    cases.push_back(make_case({.shape = cube, .dtype = dtype, .op = op, .axis = axis}));
  cases.push_back(
      make_case({.shape = matrix_of(37, 132), .dtype = dtype, .op = op, .axis = "-1", .offset = 1}));
  cases.push_back(
      make_case({.shape = matrix_of(37, 64), .dtype = dtype, .op = op, .axis = "0", .offset = 1}));
  if (is_float(dtype)) {
    cases.push_back(make_case(
        {.shape = matrix_of(33, 65), .dtype = dtype, .op = op, .axis = "-1", .fill = Fill::nan_at_last}));
  }
  if (is_arg(op)) {  // small integers: many ties, the first wins
    cases.push_back(make_case(
        {.shape = matrix_of(257, 64), .dtype = dtype, .op = op, .axis = "0", .fill = Fill::small_integers}));
  }
}

void add_large(std::vector<Case>& cases) {
  for (const DType dtype : {DType::f32, DType::i32, DType::bf16, DType::u8}) {
    for (const std::string_view op : {"sum", "max"}) {
      cases.push_back(make_case({.shape = vector_of((std::int64_t{1} << 22) + 1),
                                 .dtype = dtype,
                                 .op = op,
                                 .tier = CaseTier::full}));
    }
  }
  cases.push_back(make_case({.shape = vector_of(std::int64_t{1} << 25), .tier = CaseTier::full}));
  cases.push_back(make_case({.shape = matrix_of(1024, 16384), .axis = "-1", .tier = CaseTier::full}));
  cases.push_back(make_case({.shape = matrix_of(4096, 4096), .axis = "0", .tier = CaseTier::full}));
  cases.push_back(make_case({.shape = vector_of(std::int64_t{1} << 28), .tier = CaseTier::huge}));
  cases.push_back(make_case({.shape = vector_of(std::int64_t{1} << 28),
                             .dtype = DType::i32,
                             .op = "max",
                             .fill = Fill::one_maximum,
                             .tier = CaseTier::huge}));
  for (const std::string_view op : {"sum", "argmax"}) {  // beyond 32-bit indices
    cases.push_back(make_case({.shape = vector_of((std::int64_t{1} << 31) + 1),
                               .dtype = DType::u8,
                               .op = op,
                               .tier = CaseTier::huge}));
  }
}

std::vector<Case> reduce_cases() {
  std::vector<Case> cases;
  for (const DType dtype : kDTypes) {
    for (const std::string_view op : kOps) {
      add_vector_edges(cases, dtype, op);
      add_axis_edges(cases, dtype, op);
    }
  }
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    for (const char* out : {"f64", "f32", "f16", "bf16"}) {
      cases.push_back(make_case({.shape = vector_of(4099), .dtype = dtype, .out_dtype = out}));
      cases.push_back(make_case(
          {.shape = matrix_of(33, 70), .dtype = dtype, .op = "mean", .axis = "0", .out_dtype = out}));
    }
  }
  cases.push_back(
      make_case({.shape = vector_of(4099), .dtype = DType::i32, .op = "mean", .out_dtype = "f32"}));
  add_large(cases);
  return cases;
}

Result<CasePlan> plan_case(const Case& c) {
  std::vector<std::int64_t> extents;
  for (const auto& [key, extent] : c.shape) extents.push_back(extent);
  const Extents shape(extents);
  ROOFTILE_TRY_ASSIGN(const std::int64_t n, checked_numel(shape, size_of(c.dtype)));
  const TensorSpec in{c.dtype, shape};
  ROOFTILE_TRY_ASSIGN(const std::vector<TensorSpec> outputs,
                      reduce_operator().infer_outputs(std::span(&in, 1), c.params));
  ROOFTILE_TRY_ASSIGN(const std::int64_t results, checked_numel(outputs[0].shape, size_of(outputs[0].dtype)));
  CasePlan plan;
  plan.inputs = {{c.dtype, shape}};
  plan.read_bytes = static_cast<double>(n) * static_cast<double>(size_of(c.dtype));
  plan.write_bytes = static_cast<double>(results) * static_cast<double>(size_of(outputs[0].dtype));
  plan.flops = static_cast<double>(n);
  return plan;
}

}  // namespace

void register_reduce_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "reduce";
  cases.shapes = {"n", "m,n", "b,m,n"};
  cases.default_case = make_case({.shape = vector_of(std::int64_t{1} << 28), .tier = CaseTier::full});
  cases.default_host_case = make_case({.shape = vector_of(std::int64_t{1} << 26), .tier = CaseTier::full});
  cases.cases = reduce_cases;
  cases.plan = plan_case;
  cases.reference = reduce_reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
