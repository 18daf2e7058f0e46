#include "rooftile/ops/gemm/gemm_cases.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/cases/draws.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/gemm/gemm.h"
#include "rooftile/ops/gemm/gemm_ref.h"

namespace rooftile {

GemmSizes gemm_sizes(const Case& c) {
  GemmSizes sizes{.m = shape_at(c.shape, "m"), .n = shape_at(c.shape, "n"), .k = shape_at(c.shape, "k")};
  if (c.shape.front().first == "b") sizes.batches = c.shape.front().second;
  return sizes;
}

Extents gemm_output_shape(const Case& c) {
  const GemmSizes sizes = gemm_sizes(c);
  return c.shape.front().first == "b" ? Extents{sizes.batches, sizes.m, sizes.n} : Extents{sizes.m, sizes.n};
}

DType gemm_out_dtype(const Case& c) { return c.params.get_optional_dtype("out_dtype").value_or(c.dtype); }

namespace {

constexpr std::array<DType, 4> kDTypes = {DType::f32, DType::f64, DType::bf16, DType::f16};

struct Spec {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batches = 0;  // 0: matrices without a batch
  DType dtype = DType::f32;
  std::vector<std::pair<std::string, std::string>> params{};
  Fill fill = Fill::uniform;
  int offset = 0;
  bool in_place = false;
  CaseTier tier = CaseTier::quick;
};

Case make_case(const Spec& spec) {
  const std::vector<ParamSpec>& params = gemm_operator().params;
  Params values(params);
  for (const auto& [name, value] : spec.params)
    (void)values.set(params, name, value).ok();  // legal: from the lists here
  Case c{.shape = {{"m", spec.m}, {"n", spec.n}, {"k", spec.k}},
         .dtype = spec.dtype,
         .params = values,
         .fill = spec.fill,
         .offset = spec.offset,
         .in_place = spec.in_place,
         .tier = spec.tier};
  if (spec.batches > 0) c.shape.insert(c.shape.begin(), {"b", spec.batches});
  return c;
}

// Around a thread's vector, a warp's and a block's tile, the depth of a step, and all steps that are under way at once.
void add_edges(std::vector<Case>& cases, DType dtype) {
  struct Size {
    std::int64_t m, n, k;
  };
  constexpr std::array<Size, 17> kSizes = {{{1, 1, 1},
                                            {1, 1, 0},
                                            {3, 5, 0},
                                            {0, 5, 3},
                                            {5, 0, 3},
                                            {3, 5, 7},
                                            {4, 4, 8},
                                            {64, 64, 64},
                                            {64, 32, 33},
                                            {65, 63, 9},
                                            {128, 128, 16},
                                            {130, 257, 25},
                                            {33, 77, 1025},
                                            {16, 40, 300},
                                            {200, 100, 40},
                                            {1, 500, 65},
                                            {500, 1, 65}}};
  for (const Size& s : kSizes) cases.push_back(make_case({.m = s.m, .n = s.n, .k = s.k, .dtype = dtype}));
  for (const Size& s : {kSizes[5], kSizes[9], kSizes[11]})
    cases.push_back(make_case({.m = s.m, .n = s.n, .k = s.k, .dtype = dtype, .fill = Fill::small_integers}));
}

// Every way in which matrices lie, with what a vector asks for and without.
void add_layouts(std::vector<Case>& cases, DType dtype) {
  const bool is_half = size_of(dtype) == 2;
  for (const char* a : {"false", "true"}) {
    for (const char* b : {"false", "true"}) {
      for (const char* padding : {"0", "1", is_half ? "8" : "4"}) {
        for (const char* column_major : {"0", "1"}) {
          cases.push_back(make_case({.m = 72,
                                     .n = 136,
                                     .k = is_half ? 88 : 44,
                                     .dtype = dtype,
                                     .params = {{"transpose_a", a},
                                                {"transpose_b", b},
                                                {"padding", padding},
                                                {"column_major", column_major},
                                                {"with_c", "1"},
                                                {"with_bias", "1"},
                                                {"alpha", "1.5"},
                                                {"beta", "-0.5"}}}));
        }
      }
      cases.push_back(make_case({.m = 132,
                                 .n = 200,
                                 .k = 20,
                                 .dtype = dtype,
                                 .params = {{"transpose_a", a}, {"transpose_b", b}},
                                 .offset = 1}));
      cases.push_back(make_case({.m = 40,
                                 .n = 36,
                                 .k = 28,
                                 .batches = 3,
                                 .dtype = dtype,
                                 .params = {{"transpose_a", a}, {"transpose_b", b}, {"with_c", "1"}}}));
    }
  }
}

// A few rows or columns, and more lines than skinny takes at a time.
void add_few(std::vector<Case>& cases) {
  for (const char* a : {"false", "true"}) {
    for (const char* b : {"false", "true"}) {
      const std::vector<std::pair<std::string, std::string>> params = {{"transpose_a", a},
                                                                       {"transpose_b", b}};
      cases.push_back(make_case({.m = 9, .n = 132, .k = 300, .params = params}));
      cases.push_back(make_case({.m = 130, .n = 3, .k = 301, .params = params}));
    }
  }
  cases.push_back(make_case({.m = 4, .n = 40, .k = 140, .batches = 3, .params = {{"with_bias", "1"}}}));
}

// Of 16-bit operands: around what direct_fragments and swap_ab take of rows, more steps than are ahead, clusters of two and four parts (on the
// simulated device's four multiprocessors), and every way in which the few and the others lie.
void add_few_halves(std::vector<Case>& cases, DType dtype) {
  struct Size {
    std::int64_t m, n, k;
  };
  // Along k.
  constexpr std::array<Size, 15> kSizes = {{{1, 70, 520},
                                            {1, 9, 6152},
                                            {2, 17, 8},
                                            {7, 24, 3208},
                                            {8, 33, 1032},
                                            {9, 60, 1160},
                                            {9, 200, 77},
                                            {16, 64, 640},
                                            {17, 65, 200},
                                            {32, 130, 1100},
                                            {33, 64, 1100},
                                            {63, 130, 65},
                                            {64, 130, 1100},
                                            {130, 1, 264},
                                            {130, 3, 264}}};
  for (const Size& s : kSizes)
    cases.push_back(
        make_case({.m = s.m, .n = s.n, .k = s.k, .dtype = dtype, .params = {{"transpose_b", "true"}}}));
  for (const char* a : {"false", "true"}) {
    for (const char* b : {"false", "true"}) {
      cases.push_back(make_case(
          {.m = 24, .n = 72, .k = 600, .dtype = dtype, .params = {{"transpose_a", a}, {"transpose_b", b}}}));
      cases.push_back(make_case({.m = 136,
                                 .n = 40,
                                 .k = 72,
                                 .dtype = dtype,
                                 .params = {{"transpose_a", a}, {"transpose_b", b}, {"with_bias", "1"}}}));
    }
  }
  for (const std::int64_t m : {1, 5, 40}) {
    for (const char* column_major : {"0", "1"}) {
      cases.push_back(make_case({.m = m,
                                 .n = 72,
                                 .k = 520,
                                 .dtype = dtype,
                                 .params = {{"transpose_b", "true"},
                                            {"out_dtype", "f32"},
                                            {"column_major", column_major},
                                            {"activation", "silu"},
                                            {"with_c", "1"},
                                            {"with_bias", "1"},
                                            {"alpha", "1.5"},
                                            {"beta", "-0.5"}}}));
    }
    cases.push_back(make_case(
        {.m = m, .n = 40, .k = 136, .batches = 3, .dtype = dtype, .params = {{"transpose_b", "true"}}}));
    // Zeros behind k must meet zeros.
    cases.push_back(make_case({.m = m,
                               .n = 40,
                               .k = 136,
                               .dtype = dtype,
                               .params = {{"transpose_b", "true"}},
                               .fill = Fill::inf_inside}));
  }
  cases.push_back(make_case({.m = 16,
                             .n = 4096,
                             .k = 4096,
                             .dtype = dtype,
                             .params = {{"transpose_b", "true"}},
                             .tier = CaseTier::full}));
  cases.push_back(make_case({.m = 1,
                             .n = 4100,
                             .k = 11008,
                             .dtype = dtype,
                             .params = {{"transpose_b", "true"}},
                             .tier = CaseTier::full}));
}

// More small tiles than persistent has blocks: stages run on from one into the next, with rows that hold vectors and without.
void add_small(std::vector<Case>& cases) {
  cases.push_back(make_case({.m = 36, .n = 40, .k = 36, .batches = 40}));
  cases.push_back(make_case({.m = 33, .n = 21, .k = 37, .batches = 40, .params = {{"with_c", "1"}}}));
  cases.push_back(make_case({.m = 20, .n = 24, .k = 12, .batches = 130}));
  cases.push_back(make_case({.m = 7, .n = 31, .k = 9, .batches = 130, .params = {{"transpose_a", "true"}}}));
  cases.push_back(make_case({.m = 20, .n = 8, .k = 0, .batches = 130}));
  cases.push_back(make_case({.m = 36,
                             .n = 72,
                             .k = 20,
                             .batches = 40,
                             .params = {{"activation", "silu"}, {"with_c", "1"}, {"with_bias", "1"}}}));
  // More than a large GPU has.
  cases.push_back(make_case(
      {.m = 35, .n = 37, .k = 5, .batches = 600, .params = {{"with_bias", "1"}}, .tier = CaseTier::full}));
  cases.push_back(make_case({.m = 9, .n = 11, .k = 3, .batches = 2000, .tier = CaseTier::full}));
}

// Of 16-bit operands, activations of a few instructions, whose results leave by TMA.
void add_direct_results(std::vector<Case>& cases, DType dtype) {
  for (const char* activation : {"none", "relu", "gelu_tanh_approx"}) {
    cases.push_back(
        make_case({.m = 136,
                   .n = 200,
                   .k = 72,
                   .dtype = dtype,
                   .params = {{"activation", activation}, {"with_bias", "1"}, {"alpha", "1.5"}}}));
  }
}

// Of 16-bit operands, results that are not rounded to 16 bits, and with what they are added to.
void add_wide_results(std::vector<Case>& cases, DType dtype) {
  for (const char* column_major : {"0", "1"}) {
    cases.push_back(make_case({.m = 70,
                               .n = 72,
                               .k = 80,
                               .dtype = dtype,
                               .params = {{"out_dtype", "f32"},
                                          {"column_major", column_major},
                                          {"with_c", "1"},
                                          {"with_bias", "1"},
                                          {"beta", "0.5"}}}));
    cases.push_back(make_case({.m = 33,
                               .n = 35,
                               .k = 37,
                               .dtype = dtype,
                               .params = {{"out_dtype", "f32"}, {"column_major", column_major}}}));
  }
}

void add_results(std::vector<Case>& cases, DType dtype) {
  for (const std::string_view activation : kEnumNames<GemmActivation>) {
    cases.push_back(make_case({.m = 40,
                               .n = 70,
                               .k = 30,
                               .dtype = dtype,
                               .params = {{"activation", std::string(activation)}, {"with_bias", "1"}}}));
  }
  // c is not read, whatever it holds.
  cases.push_back(
      make_case({.m = 40, .n = 70, .k = 30, .dtype = dtype, .params = {{"beta", "0"}, {"with_c", "1"}}}));
  // Nor are a and b.
  cases.push_back(make_case({.m = 40,
                             .n = 70,
                             .k = 30,
                             .dtype = dtype,
                             .params = {{"alpha", "0"}, {"with_bias", "1"}},
                             .fill = Fill::nan_inside}));
  for (const char* k : {"0", "30"}) {
    cases.push_back(make_case({.m = 40,
                               .n = 72,
                               .k = std::stoll(k),
                               .dtype = dtype,
                               .params = {{"beta", "2"}, {"with_c", "1"}},
                               .in_place = true}));
  }
  for (const Fill fill : {Fill::nan_inside, Fill::inf_inside, Fill::nan_at_last, Fill::normal})
    cases.push_back(make_case({.m = 70, .n = 40, .k = 30, .dtype = dtype, .fill = fill}));
  cases.push_back(make_case({.m = 70, .n = 130, .k = 100, .dtype = dtype, .params = {{"ramp", "1"}}}));
}

std::vector<Case> gemm_cases() {
  std::vector<Case> cases;
  // What `sim` shows; on its four multiprocessors a unit of stream_k has a whole tile and a part of the next.
  cases.push_back(make_case({.m = 384, .n = 384, .k = 64}));
  // Of 16 bits: every ring of stages goes round, and clusters have tiles below each other and side by side.
  cases.push_back(make_case({.m = 130, .n = 136, .k = 776, .dtype = DType::bf16}));
  // Of 16 bits: blocks that stay have several wide tiles each.
  cases.push_back(make_case({.m = 512, .n = 1024, .k = 72, .dtype = DType::bf16}));
  // The parts of a tile meet in a cluster.
  cases.push_back(make_case({.m = 30, .n = 30, .k = 1500, .dtype = DType::bf16}));
  for (const DType dtype : kDTypes) {
    add_edges(cases, dtype);
    add_layouts(cases, dtype);
    add_results(cases, dtype);
    if (size_of(dtype) == 2) {
      add_direct_results(cases, dtype);
      add_wide_results(cases, dtype);
      add_few_halves(cases, dtype);
    }
    // Units that end in the middle of tiles, some in three of them.
    cases.push_back(make_case({.m = 200, .n = 200, .k = 100, .dtype = dtype}));
    cases.push_back(make_case({.m = 500, .n = 500, .k = 500, .dtype = dtype, .tier = CaseTier::full}));
    cases.push_back(
        make_case({.m = 1025, .n = 770, .k = 333, .dtype = dtype, .offset = 1, .tier = CaseTier::full}));
    cases.push_back(make_case({.m = 128, .n = 128, .k = 8192, .dtype = dtype, .tier = CaseTier::full}));
    cases.push_back(
        make_case({.m = 64, .n = 64, .k = 64, .batches = 300, .dtype = dtype, .tier = CaseTier::full}));
    cases.push_back(make_case({.m = 4097, .n = 4097, .k = 4097, .dtype = dtype, .tier = CaseTier::huge}));
  }
  add_few(cases);
  add_small(cases);
  // A matrix of more than 2^31 elements.
  cases.push_back(make_case({.m = 70000, .n = 64, .k = 32768, .tier = CaseTier::huge}));
  return cases;
}

// a[i][l] = i + l or b[l][j] = l - j, whichever way the matrix lies.
Draw drawn_ramp(bool is_transposed, int sign) {
  return made_from(sign > 0 ? "i + j" : "i - j", [=](HostTensor& tensor, std::span<const HostTensor>) {
    const std::int64_t columns = tensor.shape()[tensor.shape().rank() - 1];
    const std::int64_t rows = tensor.shape()[tensor.shape().rank() - 2];
    for (std::int64_t e = 0; e < tensor.numel(); ++e) {
      std::int64_t row = e / columns % rows;
      std::int64_t column = e % columns;
      if (is_transposed) std::swap(row, column);
      tensor.set(e, static_cast<double>(row + sign * column));
    }
    return Status();
  });
}

struct Layout {
  Extents shape;
  Extents strides;
};
Layout layout_of(const Case& c, std::int64_t rows, std::int64_t columns) {
  const bool is_column_major = case_number(c, "column_major") != 0;
  const auto padding = case_count(c, "padding");
  const std::int64_t leading = (is_column_major ? rows : columns) + padding;
  Layout layout{.shape = {rows, columns},
                .strides = is_column_major ? Extents{1, leading} : Extents{leading, 1}};
  if (c.shape.front().first == "b") {
    const std::int64_t batch = leading * (is_column_major ? columns : rows);
    layout = {.shape = {c.shape.front().second, rows, columns},
              .strides = {batch, layout.strides[0], layout.strides[1]}};
  }
  if (padding == 0 && !is_column_major) layout.strides = Extents{};
  return layout;
}

FlopUnit unit_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return FlopUnit::fma_f64;
    case DType::bf16:
      return FlopUnit::tensor_bf16;
    case DType::f16:
      return FlopUnit::tensor_f16;
    default:
      return FlopUnit::fma_f32;
  }
}

Result<CasePlan> plan_case(const Case& c) {
  const GemmSizes sizes = gemm_sizes(c);
  const bool transpose_a = c.params.get_bool("transpose_a");
  const bool transpose_b = c.params.get_bool("transpose_b");
  const double beta = c.params.get_double("beta");
  const Layout a = transpose_a ? layout_of(c, sizes.k, sizes.m) : layout_of(c, sizes.m, sizes.k);
  const Layout b = transpose_b ? layout_of(c, sizes.n, sizes.k) : layout_of(c, sizes.k, sizes.n);
  const Layout out = layout_of(c, sizes.m, sizes.n);
  const bool with_c = case_number(c, "with_c") != 0 || c.in_place;
  const bool with_bias = case_number(c, "with_bias") != 0;
  const DType out_dtype = gemm_out_dtype(c);
  CasePlan plan;
  plan.inputs = {{.dtype = c.dtype, .shape = a.shape, .strides = a.strides},
                 {.dtype = c.dtype, .shape = b.shape, .strides = b.strides},
                 {.dtype = out_dtype, .shape = out.shape, .strides = out.strides, .absent = !with_c},
                 {.dtype = out_dtype, .shape = {sizes.n}, .absent = !with_bias}};
  if (case_number(c, "ramp") != 0) {
    plan.inputs[0].draw = drawn_ramp(transpose_a, 1);
    plan.inputs[1].draw = drawn_ramp(transpose_b, -1);
  }
  if (beta == 0 && with_c) plan.inputs[2].draw = drawn_by(Fill::nan_inside);
  if (!out.strides.empty()) plan.output_strides = {out.strides};
  for (const InputPlan& input : plan.inputs)
    if (!input.absent) ROOFTILE_TRY(checked_numel(input.shape, size_of(input.dtype)).status());
  const auto size = static_cast<double>(size_of(c.dtype));
  const auto out_size = static_cast<double>(size_of(out_dtype));
  const auto batches = static_cast<double>(sizes.batches);
  const auto m = static_cast<double>(sizes.m);
  const auto n = static_cast<double>(sizes.n);
  const auto k = static_cast<double>(sizes.k);
  plan.read_bytes = size * batches * (m * k + k * n) +
                    out_size * ((with_c && beta != 0 ? batches * m * n : 0) + (with_bias ? n : 0));
  plan.write_bytes = out_size * batches * m * n;
  plan.flops = 2 * batches * m * n * k;
  plan.flops_on = unit_of(c.dtype);
  return plan;
}

}  // namespace

void register_gemm_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "gemm";
  cases.shapes = {"m,n,k", "b,m,n,k"};
  // Of normal data: what multiply-adds draw, and the clock that is left to them, depends on the numbers.
  cases.default_case =
      make_case({.m = 4096, .n = 4096, .k = 4096, .fill = Fill::normal, .tier = CaseTier::full});
  cases.default_host_case = make_case({.m = 1024, .n = 1024, .k = 1024, .tier = CaseTier::full});
  cases.cases = gemm_cases;
  cases.plan = plan_case;
  cases.judge = gemm_judge;
  registry.add(std::move(cases));
}

}  // namespace rooftile
