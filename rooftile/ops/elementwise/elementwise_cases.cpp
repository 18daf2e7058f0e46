#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/cases/draws.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/elementwise/elementwise.h"
#include "rooftile/ops/elementwise/elementwise_program.h"
#include "rooftile/ops/elementwise/elementwise_ref.h"

namespace rooftile {
namespace {

struct Spec {
  Shape shape;
  DType dtype = DType::f32;
  std::string op = "add";
  std::string out_dtype = "default";
  Fill fill = Fill::uniform;
  int offset = 0;
  bool in_place = false;
  CaseTier tier = CaseTier::quick;
};

Case make_case(const Spec& spec) {
  const std::vector<ParamSpec>& params = elementwise_operator().params;
  Params values = with(params, "op", spec.op);
  // Literals, legal by construction. Bounds and a factor that integers have, too.
  (void)values.set(params, "out_dtype", spec.out_dtype).ok();
  (void)values.set(params, "alpha", "3").ok();
  (void)values.set(params, "high", "2").ok();
  return {.shape = spec.shape,
          .dtype = spec.dtype,
          .params = values,
          .fill = spec.fill,
          .offset = spec.offset,
          .in_place = spec.in_place,
          .tier = spec.tier};
}

Shape vector_of(std::int64_t n) { return {{"n", n}}; }

bool takes_integers(ElementwiseOp op) {
  switch (op) {
    case ElementwiseOp::cast:
    case ElementwiseOp::neg:
    case ElementwiseOp::abs:
    case ElementwiseOp::relu:
    case ElementwiseOp::clamp:
    case ElementwiseOp::add:
    case ElementwiseOp::sub:
    case ElementwiseOp::mul:
    case ElementwiseOp::div:
    case ElementwiseOp::min:
    case ElementwiseOp::max:
    case ElementwiseOp::saxpy:
    case ElementwiseOp::fma:
    case ElementwiseOp::where:
      return true;
    default:
      return false;
  }
}

// Every function in every dtype; floats with everything that is special about them.
void add_functions(std::vector<Case>& cases) {
  constexpr std::int64_t kLength = 301;
  for (std::size_t i = 0; i < kEnumNames<ElementwiseOp>.size(); ++i) {
    const auto op = static_cast<ElementwiseOp>(i);
    const std::string name(kEnumNames<ElementwiseOp>[i]);
    for (const DType dtype : all_dtypes()) {
      const Fill fill = is_float(dtype) ? Fill::log_uniform : Fill::any_bits;
      if (is_float(dtype) || takes_integers(op))
        cases.push_back(make_case({.shape = vector_of(kLength), .dtype = dtype, .op = name, .fill = fill}));
      if (is_float(dtype))
        cases.push_back(
            make_case({.shape = vector_of(kLength), .dtype = dtype, .op = name, .fill = Fill::special}));
    }
    // Real functions of integers, and integers that are not apart from zero, which divide and choose.
    for (const DType dtype : {DType::i32, DType::u8}) {
      cases.push_back(
          make_case({.shape = vector_of(kLength), .dtype = dtype, .op = name, .fill = Fill::small_integers}));
    }
  }
}

void add_casts(std::vector<Case>& cases) {
  for (const DType from : all_dtypes()) {
    for (const DType to : all_dtypes()) {
      cases.push_back(make_case({.shape = vector_of(259),
                                 .dtype = from,
                                 .op = "cast",
                                 .out_dtype = std::string(to_string(to)),
                                 .fill = is_float(from) ? Fill::special : Fill::any_bits,
                                 .offset = from == to ? 0 : 1}));
      if (is_float(from) && from != to) {
        cases.push_back(make_case({.shape = vector_of(259),
                                   .dtype = from,
                                   .op = "cast",
                                   .out_dtype = std::string(to_string(to)),
                                   .fill = Fill::log_uniform}));
      }
    }
  }
}

// Lengths around packs, warps and blocks, and pointers off their alignment by every element of a pack.
void add_edges(std::vector<Case>& cases) {
  for (const std::string op : {"add", "gelu_tanh", "where"}) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::u8}) {
      if (dtype == DType::u8 && op == "gelu_tanh") continue;
      for (const std::int64_t n : edge_lengths())
        cases.push_back(make_case({.shape = vector_of(n), .dtype = dtype, .op = op}));
      const int pack = 16 / static_cast<int>(size_of(dtype));
      for (int offset = 1; offset < pack; offset += dtype == DType::u8 ? 2 : 1) {
        cases.push_back(
            make_case({.shape = vector_of(700 + offset), .dtype = dtype, .op = op, .offset = offset}));
        cases.push_back(make_case({.shape = vector_of(offset), .dtype = dtype, .op = op, .offset = offset}));
      }
      if (op == "where") continue;  // zeros are drawn for it, in place they would not be
      for (const int offset : {0, 1}) {
        cases.push_back(make_case(
            {.shape = vector_of(1025), .dtype = dtype, .op = op, .offset = offset, .in_place = true}));
      }
    }
  }
  for (const Fill fill : all_fills())
    cases.push_back(
        make_case({.shape = vector_of(1025), .op = "mul", .fill = fill, .offset = static_cast<int>(fill)}));
}

// Rows and columns that meet matrices, gaps, and dimensions in another order (input_plans).
void add_shapes(std::vector<Case>& cases) {
  const std::vector<Shape> shapes = {{{"m", 7}, {"n", 128}},          {{"m", 33}, {"n", 37}},
                                     {{"m", 300}, {"n", 3}},          {{"m", 1}, {"n", 257}},
                                     {{"m", 257}, {"n", 1}},          {{"m", 0}, {"n", 5}},
                                     {{"b", 3}, {"m", 5}, {"n", 64}}, {{"b", 2}, {"m", 9}, {"n", 37}},
                                     {{"m", 5}, {"n", 7}, {"p", 16}}, {{"m", 3}, {"n", 18}, {"p", 5}}};
  for (const Shape& shape : shapes) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f8e4m3, DType::f64, DType::i64, DType::u8}) {
      for (const std::string op : {"neg", "add", "fma"})
        cases.push_back(make_case({.shape = shape, .dtype = dtype, .op = op}));
    }
    cases.push_back(make_case({.shape = shape, .op = "add", .offset = 1}));
    cases.push_back(make_case({.shape = shape, .op = "add,gelu_tanh,mul"}));
    cases.push_back(
        make_case({.shape = shape, .dtype = DType::bf16, .op = "add,gelu_erf", .out_dtype = "f8e5m2"}));
  }
}

void add_chains(std::vector<Case>& cases) {
  for (const DType dtype : {DType::f32, DType::f16, DType::f64, DType::f8e4m3}) {
    for (const std::string chain :
         {"add,gelu_tanh,mul", "mul,add,relu", "saxpy,tanh,neg", "abs,sqrt,add,exp,log,div",
          "neg,neg,neg,neg,neg,neg,neg,neg", "sigmoid,mul", "fma,silu"}) {
      for (const std::int64_t n : {1, 1025, 4099})
        cases.push_back(make_case({.shape = vector_of(n), .dtype = dtype, .op = chain}));
    }
  }
  for (const DType dtype : {DType::i8, DType::i32, DType::u16, DType::u64})
    cases.push_back(
        make_case({.shape = vector_of(1025), .dtype = dtype, .op = "mul,add,clamp", .fill = Fill::any_bits}));
}

void add_large(std::vector<Case>& cases) {
  for (const std::string op : {"add", "gelu_tanh"}) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      for (const int offset : {0, 1}) {
        cases.push_back(make_case({.shape = vector_of((std::int64_t{1} << 22) + 1),
                                   .dtype = dtype,
                                   .op = op,
                                   .offset = offset,
                                   .tier = CaseTier::full}));
      }
    }
  }
  cases.push_back(
      make_case({.shape = {{"m", 2049}, {"n", 1023}}, .op = "add,gelu_tanh,mul", .tier = CaseTier::full}));
  cases.push_back(make_case({.shape = {{"b", 5}, {"m", 500}, {"n", 513}},
                             .dtype = DType::f16,
                             .op = "fma",
                             .tier = CaseTier::full}));
  // More elements than 32 bits count.
  for (const DType dtype : {DType::u8, DType::i8}) {
    cases.push_back(make_case({.shape = vector_of((std::int64_t{1} << 31) + 1),
                               .dtype = dtype,
                               .op = "neg",
                               .tier = CaseTier::huge}));
  }
}

std::vector<Case> elementwise_cases() {
  std::vector<Case> cases;
  add_functions(cases);
  add_casts(cases);
  add_edges(cases);
  add_shapes(cases);
  add_chains(cases);
  add_large(cases);
  return cases;
}

struct Tensor {
  Extents shape;
  Extents strides{};
};

// What a, b and c are for a case's shape. A vector: all alike. m,n: b a row, c a column. b,m,n: a has gaps between its
// rows, b is a column of every matrix, c a row of each. m,n,p: a has gaps between its elements, b is a matrix that all
// share, c one element.
std::vector<Tensor> tensors_of(const Shape& shape) {
  const auto at = [&](std::string_view key) { return shape_at(shape, key); };
  if (shape.size() == 1) return {{{at("n")}}, {{at("n")}}, {{at("n")}}};
  if (shape.size() == 2) return {{{at("m"), at("n")}}, {{at("n")}}, {{at("m"), 1}}};
  if (shape[0].first == "b") {
    const std::int64_t row = at("n") + 3;
    return {{{at("b"), at("m"), at("n")}, {at("m") * row, row, 1}}, {{at("m"), 1}}, {{at("b"), 1, at("n")}}};
  }
  const std::int64_t row = at("p") * 2;
  return {{{at("m"), at("n"), at("p")}, {at("n") * row, row, 2}}, {{at("n"), at("p")}}, {{1}}};
}

Result<CasePlan> plan_case(const Case& c) {
  const ElementwiseArgs args = elementwise_args(c, {});
  const auto needed = static_cast<std::size_t>(elementwise_program::inputs_needed(args.op));
  const std::vector<Tensor> tensors = tensors_of(c.shape);
  CasePlan plan;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool absent = i >= needed;
    plan.inputs.push_back(
        {.dtype = c.dtype, .shape = tensors[i].shape, .strides = tensors[i].strides, .absent = absent});
    if (absent) continue;
    ROOFTILE_TRY_ASSIGN(const std::int64_t numel, checked_numel(tensors[i].shape, size_of(c.dtype)));
    plan.read_bytes += static_cast<double>(numel) * static_cast<double>(size_of(c.dtype));
  }
  // Chosen among, not computed from: zeros have to be among the first argument's elements.
  if (args.op[0] == ElementwiseOp::where) plan.inputs[0].draw = drawn_by(Fill::small_integers);
  const Extents& shape = tensors[0].shape;
  std::int64_t numel = 1;
  for (const std::int64_t extent : shape) numel *= extent;
  ElementwiseArgs typed = args;
  typed.a.dtype = typed.b.dtype = c.dtype;
  const DType out = args.out_dtype.value_or(elementwise_program::natural_dtype(typed));
  plan.write_bytes = static_cast<double>(numel) * static_cast<double>(size_of(out));
  // Out in another order of dimensions where a has gaps between its elements.
  if (c.shape.size() == 3 && c.shape[0].first == "m" && !c.in_place)
    plan.output_strides = {{1, shape[0] * shape[2], shape[0]}};
  return plan;
}

}  // namespace

void register_elementwise_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "elementwise";
  cases.shapes = {"n", "m,n", "b,m,n", "m,n,p"};
  cases.default_case = make_case({.shape = vector_of(std::int64_t{1} << 28), .tier = CaseTier::full});
  cases.default_host_case = make_case({.shape = vector_of(1 << 24), .tier = CaseTier::full});
  cases.cases = elementwise_cases;
  cases.plan = plan_case;
  cases.reference = elementwise_reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
