// The cases of the norms' backward passes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/families/norm/norm_backward_plan.h"
#include "rooftile/families/norm/norm_cases.h"

namespace rooftile::norm_backward_cases {

struct Spec {
  std::int64_t m = 0;
  std::int64_t n = 0;
  DType dtype = DType::f32;
  bool plain = false;  // no weight
  bool adds = false;   // the gradient of the sum
  std::string_view eps{};
  std::string_view mean{};
  int pad = 0;
  Fill fill = Fill::uniform;
  int offset = 0;
  bool in_place = false;
  CaseTier tier = CaseTier::quick;
};

inline Case make_case(const std::vector<ParamSpec>& params, const Spec& spec) {
  Params values = with(params, "weights", spec.plain ? "0" : "1");
  // Legal: from the lists here.
  if (spec.adds) (void)values.set(params, "residuals", "1").ok();
  if (!spec.eps.empty()) (void)values.set(params, "eps", spec.eps).ok();
  if (!spec.mean.empty()) (void)values.set(params, "mean", spec.mean).ok();
  if (spec.pad > 0) (void)values.set(params, "pad", std::to_string(spec.pad)).ok();
  return {.shape = {{"m", spec.m}, {"n", spec.n}},
          .dtype = spec.dtype,
          .params = values,
          .fill = spec.fill,
          .offset = spec.offset,
          .in_place = spec.in_place,
          .tier = spec.tier};
}

inline std::vector<Case> all_cases(const std::vector<ParamSpec>& params) {
  std::vector<Spec> specs;
  for (const DType dtype : norm_cases::kDTypes) {
    const auto add = [&](Spec spec) {
      spec.dtype = dtype;
      specs.push_back(spec);
    };
    const std::int64_t vector = kRowVectorBytes / static_cast<std::int64_t>(size_of(dtype));
    for (const std::int64_t n : {1, 2, 3, 9, 31, 33}) {
      add({.m = 5, .n = n});
      add({.m = 67, .n = n, .adds = true, .offset = 1});
    }
    if (dtype == DType::f32)
      for (std::int64_t n = 1; n <= 33; ++n) add({.m = 11, .n = n});
    // Rows of every shape that registers have, full, short of a vector or of an element; more rows than blocks of the simulated SM.
    for (const norm_backward_plan::GroupShape& shape : norm_backward_plan::kGroupShapes) {
      const std::int64_t n = shape.capacity() * vector;
      if (n > 8192) continue;
      add({.m = n > 1000 ? 3 : 40, .n = n});
      add({.m = 7, .n = n - vector, .adds = true});
      add({.m = 7, .n = n - 1, .adds = true, .pad = 1});
    }
    // The same of single elements; odd.
    bool adds = false;
    for (const norm_backward_plan::GroupShape& shape : norm_backward_plan::kElementShapes) {
      const std::int64_t n = shape.capacity() - 1;
      adds = !adds;
      if (n > 4096 && dtype == DType::f16) continue;
      add({.m = n > 1000 ? 5 : 40, .n = n, .adds = adds});
    }
    // A GPU's blocks take several rows at a time, and more than once.
    add({.m = 1300, .n = 512 * vector, .adds = true, .tier = CaseTier::full});
    add({.m = 1300, .n = 1024 * vector - vector, .tier = CaseTier::full});
    add({.m = 300, .n = 40});
    // Two groups of a block have several rows each: what one adds up lies where the other's rows were.
    add({.m = 40, .n = 260 * vector});
    add({.m = 0, .n = 7});
    add({.m = 3, .n = 0});
    for (const std::int64_t n : {40, 1032}) {
      add({.m = 6, .n = n, .plain = true, .adds = true});
      add({.m = 6, .n = n, .eps = "0.5"});
      add({.m = 6, .n = n, .eps = "0", .fill = Fill::normal});
      add({.m = 6, .n = n, .pad = 8});
      add({.m = 6, .n = n, .mean = "100"});
      add({.m = 6, .n = n, .adds = true, .in_place = true});
      add({.m = 67, .n = n - 1, .offset = 1, .in_place = true});
      if (dtype != DType::f16) add({.m = 7, .n = n, .mean = "1e30"});
    }
    for (const Fill fill : {Fill::nan_inside, Fill::nan_at_last, Fill::special, Fill::rising,
                            Fill::one_maximum, Fill::small_integers, Fill::log_uniform}) {
      add({.m = 9, .n = 264, .fill = fill});
      add({.m = 3, .n = 1301, .fill = fill, .offset = 1});
    }
    for (Spec full : {Spec{.m = 3000, .n = 768}, Spec{.m = 70001, .n = 33}, Spec{.m = 300, .n = 8192},
                      Spec{.m = 17, .n = 40000}}) {
      full.tier = CaseTier::full;
      full.fill = Fill::normal;
      add(full);
    }
  }
  // What the simulated SM's promises and its mutants are of.
  specs.push_back({.m = 64, .n = 1024, .fill = Fill::normal});
  std::vector<Case> cases;
  for (const Spec& spec : specs) cases.push_back(make_case(params, spec));
  return cases;
}

inline Result<CasePlan> plan_case(const Case& c, bool has_bias) {
  const std::int64_t m = shape_at(c.shape, "m");
  const std::int64_t n = shape_at(c.shape, "n");
  const std::int64_t pitch = n + case_count(c, "pad");
  ROOFTILE_TRY_ASSIGN(const std::int64_t elements, checked_numel(Extents{m, pitch}, size_of(c.dtype)));
  (void)elements;
  InputPlan x{.dtype = c.dtype, .shape = Extents{m, n}};
  if (pitch != n) x.strides = Extents{pitch, 1};
  InputPlan dy = x;
  InputPlan dsum = x;
  if (const double mean = case_number(c, "mean"); mean != 0) x.draw = norm_cases::drawn_about(mean, n);
  dy.draw = dsum.draw = drawn_by(Fill::uniform);
  const bool adds = case_number(c, "residuals") != 0;
  const bool weighs = case_number(c, "weights", 1) != 0;
  dsum.absent = !adds;
  if (dsum.absent) dsum.strides = {};
  CasePlan plan;
  plan.output_strides = {pitch != n ? Extents{pitch, 1} : Extents{}};
  plan.inputs = {std::move(x),
                 std::move(dy),
                 {.dtype = c.dtype, .shape = Extents{n}, .draw = drawn_by(Fill::uniform), .absent = !weighs},
                 std::move(dsum)};
  const double row_bytes = static_cast<double>(n) * static_cast<double>(size_of(c.dtype));
  const double tensor_bytes = static_cast<double>(m) * row_bytes;
  plan.read_bytes = tensor_bytes * (adds ? 3 : 2) + (weighs ? row_bytes : 0);
  plan.write_bytes = tensor_bytes + row_bytes * (has_bias ? 2 : 1);
  return plan;
}

}  // namespace rooftile::norm_backward_cases
