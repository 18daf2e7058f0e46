#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/cases/draws.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/gemv/gemv.h"
#include "rooftile/ops/gemv/gemv_plan.h"
#include "rooftile/ops/gemv/gemv_ref.h"

namespace rooftile {
namespace {

constexpr std::array<DType, 4> kDTypes = {DType::f32, DType::f16, DType::bf16, DType::f64};

struct Spec {
  std::int64_t b = -1;  // -1: one matrix
  std::int64_t m = 0;
  std::int64_t n = 0;
  DType dtype = DType::f32;
  bool transpose = false;
  std::string_view alpha = "1";
  std::string_view beta = "0";
  std::string_view pad = "none";
  std::string_view step = "one";
  Fill fill = Fill::uniform;
  int offset = 0;
  bool in_place = false;
  CaseTier tier = CaseTier::quick;
};

Case make_case(const Spec& spec) {
  const std::vector<ParamSpec>& params = gemv_operator().params;
  Params values = with(params, "transpose", spec.transpose ? "true" : "false");
  // Legal: from the lists here.
  (void)values.set(params, "alpha", spec.alpha).ok();
  (void)values.set(params, "beta", spec.beta).ok();
  if (spec.pad != "none") (void)values.set(params, "pad", spec.pad).ok();
  if (spec.step != "one") (void)values.set(params, "step", spec.step).ok();
  Shape shape = {{"m", spec.m}, {"n", spec.n}};
  if (spec.b >= 0) shape.insert(shape.begin(), {"b", spec.b});
  return {.shape = shape,
          .dtype = spec.dtype,
          .params = values,
          .fill = spec.fill,
          .offset = spec.offset,
          .in_place = spec.in_place,
          .tier = spec.tier};
}

// Every way through every rung, for one dtype: rows of one vector up to several rounds of a block, groups of lanes of every
// size, fewer rows than are taken together, more than a round of warps, no elements to add; aligned and beginning anywhere.
void add_shapes(std::vector<Case>& cases, DType dtype, bool transpose) {
  const std::int64_t vector = gemv_plan::kVectorBytes / static_cast<std::int64_t>(size_of(dtype));
  for (const int offset : {0, 1}) {
    const auto add = [&](std::int64_t m, std::int64_t n) {
      cases.push_back(make_case({.m = m, .n = n, .dtype = dtype, .transpose = transpose, .offset = offset}));
    };
    add(1, 1);
    // Columns of one element, which are rows in memory: another alpha, for `rooftile sim` takes cases of the default parameters.
    cases.push_back(
        make_case({.m = 37, .n = 1, .dtype = dtype, .transpose = transpose, .alpha = "2", .offset = offset}));
    add(1, 777);
    add(300, 3);  // rows shorter than a vector
    for (const std::int64_t vectors : {1, 2, 3, 5, 9, 17}) add(35, vectors * vector);
    add(5, 7 * vector + 1);
    add(131, 40 * vector);
    add(6, 300 * vector);
    add(5, 512 * vector);   // a block's rows: covered by its threads' loads,
    add(6, 2048 * vector);  // and long ones
    add(3, 1100 * vector + 5);
    add(2, 1096 * vector);
    add(1100, 2 * vector);
    add(900, 9 * vector + 3);  // several parts of rows, and of columns above
  }
  cases.push_back(make_case({.m = 9, .n = 0, .dtype = dtype, .transpose = transpose}));
  cases.push_back(make_case({.m = 0, .n = 9, .dtype = dtype, .transpose = transpose, .beta = "2"}));
}

// What alpha, beta, gaps and batches change.
void add_options(std::vector<Case>& cases, DType dtype, bool transpose) {
  const std::string vector =
      std::to_string(gemv_plan::kVectorBytes / static_cast<std::int64_t>(size_of(dtype)));
  for (const int offset : {0, 1}) {
    const auto with_options = [&](Spec spec) {
      spec.dtype = dtype;
      spec.transpose = transpose;
      spec.offset = offset;
      cases.push_back(make_case(spec));
    };
    with_options({.m = 67, .n = 144, .alpha = "1.5", .beta = "-0.5"});
    with_options({.m = 67, .n = 144, .alpha = "-2", .beta = "1", .in_place = true});
    with_options({.m = 5, .n = 4112, .alpha = "1.5", .beta = "-0.5"});
    with_options({.m = 3000, .n = 8, .alpha = "1.5", .beta = "-0.5"});
    with_options({.m = 70, .n = 600, .pad = "1"});
    with_options({.m = 70, .n = 599, .pad = "1"});
    with_options({.m = 41, .n = 80, .pad = vector});
    with_options({.m = 3, .n = 2064, .pad = "3"});
    with_options({.m = 40, .n = 72, .beta = "2", .pad = vector, .step = "3"});
    with_options({.m = 2, .n = 4112, .step = "2"});
    with_options({.b = 3, .m = 37, .n = 48, .alpha = "0.5"});
    with_options({.b = 3, .m = 5, .n = 1104, .beta = "2"});
    with_options({.b = 2, .m = 1100, .n = 40, .beta = "2"});
    with_options({.b = 150, .m = 4, .n = 8});
    with_options({.b = 40, .m = 3, .n = 5, .beta = "1", .in_place = true});
  }
  // c is NaN: beta = 0 does not read it.
  for (const std::int64_t n : {0, 33, 1000}) {
    cases.push_back(make_case({.m = 10, .n = n, .dtype = dtype, .transpose = transpose, .in_place = true}));
  }
  for (const std::string_view beta : {"0", "3"}) {
    cases.push_back(
        make_case({.m = 9, .n = 40, .dtype = dtype, .transpose = transpose, .alpha = "0", .beta = beta}));
  }
  for (const Fill fill :
       {Fill::nan_inside, Fill::nan_at_last, Fill::inf_inside, Fill::small_integers, Fill::equal})
    cases.push_back(
        make_case({.m = 19, .n = 261, .dtype = dtype, .transpose = transpose, .fill = fill, .offset = 1}));
}

std::vector<Case> gemv_cases() {
  std::vector<Case> cases;
  for (const DType dtype : kDTypes) {
    for (const bool transpose : {false, true}) {
      add_shapes(cases, dtype, transpose);
      add_options(cases, dtype, transpose);
      for (const Spec& spec :
           {Spec{.m = 1000, .n = 3001}, Spec{.m = 7, .n = 300000}, Spec{.m = 300001, .n = 7},
            Spec{.b = 3000, .m = 30, .n = 32}, Spec{.m = 4999, .n = 512, .offset = 1}}) {
        Spec full = spec;
        full.dtype = dtype;
        full.transpose = transpose;
        full.tier = CaseTier::full;
        cases.push_back(make_case(full));
      }
    }
  }
  for (const bool transpose : {false, true}) {
    // Several parts, rounds and turns of a ring on the simulated SM, too: what its mutants and promises are of.
    cases.push_back(transpose ? make_case({.m = 1000, .n = 128, .transpose = true})
                              : make_case({.m = 16, .n = 8000}));
    cases.push_back(make_case({.m = 2048, .n = 4096, .transpose = transpose, .tier = CaseTier::full}));
    // Beyond 2^31 elements; a sample of the outputs is judged.
    cases.push_back(make_case(
        {.m = 50001, .n = 50008, .dtype = DType::bf16, .transpose = transpose, .tier = CaseTier::huge}));
    cases.push_back(make_case({.m = 3,
                               .n = (std::int64_t{1} << 30) + 1,
                               .dtype = DType::f16,
                               .transpose = transpose,
                               .tier = CaseTier::huge}));
  }
  return cases;
}

std::int64_t batches_of(const Case& c) { return c.shape.front().first == "b" ? shape_at(c.shape, "b") : 1; }

Draw only_nan() {
  return made_from("NaN", [](HostTensor& tensor, std::span<const HostTensor>) -> Status {
    for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.set(i, std::numeric_limits<double>::quiet_NaN());
    return {};
  });
}

Result<CasePlan> plan_case(const Case& c) {
  const bool has_batch = c.shape.front().first == "b";
  const std::int64_t b = batches_of(c);
  const std::int64_t m = shape_at(c.shape, "m");
  const std::int64_t n = shape_at(c.shape, "n");
  const bool transpose = c.params.get_bool("transpose");
  const std::int64_t pitch = n + case_count(c, "pad");
  const std::int64_t step = case_count(c, "step", 1);
  ROOFTILE_TRY_ASSIGN(const std::int64_t elements, checked_numel(Extents{b, m, pitch}, size_of(c.dtype)));
  (void)elements;
  const auto vector = [&](std::int64_t length) { return has_batch ? Extents{b, length} : Extents{length}; };
  const auto strides = [&](std::int64_t length) {
    if (step == 1) return Extents{};
    return has_batch ? Extents{length * step, step} : Extents{step};
  };
  const std::int64_t inputs = transpose ? m : n;
  const std::int64_t outputs = transpose ? n : m;
  const bool reads_c = c.params.get_double("beta") != 0;

  InputPlan a{.dtype = c.dtype, .shape = has_batch ? Extents{b, m, n} : Extents{m, n}};
  if (pitch != n) a.strides = has_batch ? Extents{m * pitch, pitch, 1} : Extents{pitch, 1};
  InputPlan x{.dtype = c.dtype, .shape = vector(inputs), .strides = strides(inputs)};
  // Or every output would be NaN.
  if (c.fill == Fill::nan_inside || c.fill == Fill::nan_at_last || c.fill == Fill::inf_inside)
    x.draw = drawn_by(Fill::uniform);
  InputPlan addend{.dtype = c.dtype, .shape = vector(outputs), .strides = strides(outputs)};
  addend.absent = !reads_c && !c.in_place;
  if (!reads_c) addend.draw = only_nan();

  const auto size = static_cast<double>(size_of(c.dtype));
  const bool adds = c.params.get_double("alpha") != 0;
  const auto as_bytes = [&](std::int64_t count) {
    return static_cast<double>(b) * static_cast<double>(count) * size;
  };
  CasePlan plan;
  plan.inputs = {std::move(a), std::move(x), std::move(addend)};
  plan.output_strides = {strides(outputs)};
  plan.read_bytes = (adds ? as_bytes(m * n) + as_bytes(inputs) : 0) + (reads_c ? as_bytes(outputs) : 0);
  plan.write_bytes = as_bytes(outputs);
  plan.flops = adds ? 2 * static_cast<double>(b) * static_cast<double>(m) * static_cast<double>(n) : 0;
  return plan;
}

}  // namespace

void register_gemv_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "gemv";
  cases.shapes = {"m,n", "b,m,n"};
  cases.default_case = make_case({.m = 16384, .n = 16384, .tier = CaseTier::full});
  cases.default_host_case = make_case({.m = 4096, .n = 4096, .tier = CaseTier::full});
  cases.cases = gemv_cases;
  cases.plan = plan_case;
  cases.reference = gemv_reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
