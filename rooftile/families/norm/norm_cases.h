// The cases of layer_norm and rms_norm.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/cases/draws.h"
#include "rooftile/core/case.h"
#include "rooftile/families/norm/norm_plan.h"

namespace rooftile::norm_cases {

inline constexpr std::array<DType, 3> kDTypes = {DType::f32, DType::f16, DType::bf16};

struct Spec {
  std::int64_t m = -1;  // -1: a vector
  std::int64_t n = 0;
  DType dtype = DType::f32;
  std::string_view eps{};   // none: the operator's
  std::string_view mean{};  // none: the fill's
  int pad = 0;
  bool plain = false;  // neither weight nor bias
  bool residual = false;
  Fill fill = Fill::uniform;
  int offset = 0;
  bool in_place = false;
  CaseTier tier = CaseTier::quick;
};

inline Case make_case(const std::vector<ParamSpec>& params, const Spec& spec) {
  Params values = with(params, "weights", spec.plain ? "0" : "1");
  // Legal: from the lists here.
  if (spec.residual) (void)values.set(params, "residuals", "1").ok();
  if (!spec.eps.empty()) (void)values.set(params, "eps", spec.eps).ok();
  if (!spec.mean.empty()) (void)values.set(params, "mean", spec.mean).ok();
  if (spec.pad > 0) (void)values.set(params, "pad", std::to_string(spec.pad)).ok();
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
inline void add_lengths(std::vector<Spec>& specs, DType dtype) {
  const std::int64_t vector = kRowVectorBytes / static_cast<std::int64_t>(size_of(dtype));
  for (const std::int64_t n : {1, 2, 3, 5, 9, 17, 31, 33}) {
    specs.push_back({.m = 67, .n = n, .dtype = dtype});
    specs.push_back({.m = 5, .n = n, .dtype = dtype, .residual = true, .offset = 1});
  }
  if (dtype == DType::f32) {
    for (std::int64_t n = 1; n <= 33; ++n) specs.push_back({.m = 11, .n = n, .dtype = dtype});
  }
  for (const RowShape& shape : norm_plan::kRowShapes) {
    const std::int64_t n = shape.capacity() * vector;
    if (n > 16384) continue;
    const std::int64_t m = n > 2000 ? 2 : n > 200 ? 5 : 131;
    specs.push_back({.m = m, .n = n, .dtype = dtype});
    specs.push_back({.m = m, .n = n + 1, .dtype = dtype, .residual = true, .offset = 1});
  }
  // Whole rows with a vector less than fills a shape, and full ones, of which some take their statistics again, beside one that does not.
  for (const RowShape& shape : norm_plan::kWholeShapes) {
    const std::int64_t n = shape.capacity() * vector;
    const std::int64_t m = n > 2000 ? 5 : 23;
    specs.push_back({.m = m, .n = n - vector, .dtype = dtype});
    if (dtype != DType::f16) specs.push_back({.m = m, .n = n, .dtype = dtype, .mean = "1e30"});
  }
  specs.push_back({.n = 1000, .dtype = dtype});
  for (const std::int64_t m : {0, 3}) specs.push_back({.m = m, .n = 0, .dtype = dtype});
  specs.push_back({.m = 0, .n = 7, .dtype = dtype});
}

// Rows of several blocks.
inline void add_clusters(std::vector<Spec>& specs, DType dtype) {
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  for (const int offset : {0, 1}) {
    const bool odd = offset != 0;
    specs.push_back({.m = 9,
                     .n = 65536 / size + std::int64_t{5} * offset,
                     .dtype = dtype,
                     .residual = odd,
                     .offset = offset});
    specs.push_back({.m = 2,
                     .n = 262144 / size + std::int64_t{3} * offset,
                     .dtype = dtype,
                     .residual = !odd,
                     .offset = offset});
  }
  // Clusters that stay: of the simulated SM's few, and of a GPU's.
  specs.push_back({.m = 30, .n = 32768 / size, .dtype = dtype});
  specs.push_back({.m = 49, .n = 6000 / size, .dtype = dtype, .plain = true});
  specs.push_back({.m = 48, .n = 6000 / size, .dtype = dtype, .in_place = true});
  specs.push_back({.m = 25, .n = 8192 / size, .dtype = dtype, .fill = Fill::nan_inside});
  if (dtype != DType::f16) specs.push_back({.m = 33, .n = 2048 / size, .dtype = dtype, .mean = "1e30"});
  const auto add_many = [&](std::int64_t m, std::int64_t bytes, std::string_view mean, CaseTier tier) {
    specs.push_back(
        {.m = m, .n = bytes / size, .dtype = dtype, .mean = mean, .fill = Fill::normal, .tier = tier});
  };
  add_many(1001, 1024, "", CaseTier::full);
  if (dtype != DType::f16) add_many(999, 2048, "1e30", CaseTier::full);
  add_many(130, 524288, "", CaseTier::huge);
}

// Whole rows, of which every block of the grid has a part: more than it has groups of warps, fewer, and such as take their statistics
// again.
inline void add_grids(std::vector<Spec>& specs, DType dtype) {
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const auto add = [&](std::int64_t m, std::int64_t bytes, Spec spec = {}) {
    spec.m = m;
    spec.n = bytes / size;
    spec.dtype = dtype;
    specs.push_back(spec);
  };
  add(37, 16384);
  add(20, 32752);
  add(5, 40000, {.plain = true});
  add(3, 65536, {.pad = 8});
  add(2, 131072, {.in_place = true});
  add(1, 262144);
  add(9, 8192, {.fill = Fill::nan_inside});
  if (dtype != DType::f16) {
    add(19, 8192, {.mean = "1e30"});
    add(9, 80000, {.mean = "1e30"});  // groups of several warps that meet twice, and again in another row
    add(4, 32768, {.eps = "0", .mean = "1e-30"});
  }
  add(16, 1 << 20, {.fill = Fill::normal, .tier = CaseTier::full});
  add(33, 1 << 19, {.fill = Fill::normal, .in_place = true, .tier = CaseTier::full});
  add(3, 1 << 22, {.mean = "300", .tier = CaseTier::full});
}

inline void add_options(std::vector<Spec>& specs, DType dtype) {
  const auto add = [&](Spec spec) {
    spec.dtype = dtype;
    specs.push_back(spec);
  };
  for (const std::int64_t n : {11, 40, 1031}) {
    add({.m = 6, .n = n, .plain = true});
    add({.m = 6, .n = n, .eps = "0.5"});
    add({.m = 6, .n = n, .eps = "0", .fill = Fill::normal});
    add({.m = 6, .n = n, .pad = 8, .residual = true});
    add({.m = 6, .n = n, .pad = 3, .plain = true, .offset = 1});
    add({.m = 6, .n = n, .in_place = true});
    add({.m = 6, .n = n, .residual = true, .in_place = true});
    add({.m = 6, .n = n, .mean = "500", .residual = true});
    add({.m = 6, .n = n, .mean = "-2000", .offset = 1});
    if (dtype != DType::f16) {
      // Squares beyond the range of f32, and below it.
      add({.m = 7, .n = n, .mean = "1e30"});
      add({.m = 7, .n = n, .eps = "0", .mean = "1e-30"});
    }
  }
  if (dtype != DType::f16)
    add({.m = 2, .n = 10000, .mean = "1e30"});  // of one size: sums whose roundings add up
  add({.m = 3, .n = 9001, .offset = 3, .in_place = true});
  add({.m = 3, .n = 9000, .mean = "300", .residual = true});
  for (const Fill fill :
       {Fill::nan_inside, Fill::nan_at_last, Fill::inf_inside, Fill::special, Fill::any_bits, Fill::equal,
        Fill::rising, Fill::falling, Fill::one_maximum, Fill::small_integers, Fill::log_uniform}) {
    // One of these is all of its row, and a chain of the others' equal squares is off by as much as it is long.
    if (fill == Fill::any_bits && dtype == DType::f32) continue;
    add({.m = 9, .n = 261, .fill = fill, .offset = 1});
    add({.m = 3, .n = 4800, .residual = fill == Fill::nan_inside, .fill = fill});
  }
}

inline std::vector<Case> all_cases(const std::vector<ParamSpec>& params) {
  std::vector<Spec> specs;
  for (const DType dtype : kDTypes) {
    add_lengths(specs, dtype);
    add_clusters(specs, dtype);
    add_grids(specs, dtype);
    add_options(specs, dtype);
    for (Spec full :
         {Spec{.m = 1000, .n = 769}, Spec{.m = 70001, .n = 33}, Spec{.m = 140, .n = 12289},
          Spec{.m = 17, .n = 57856}, Spec{.m = 3, .n = 300003}, Spec{.m = 1, .n = (1 << 20) + 3}}) {
      full.dtype = dtype;
      full.tier = CaseTier::full;
      full.fill = Fill::normal;
      specs.push_back(full);
      full.offset = 1;
      full.residual = true;
      specs.push_back(full);
    }
  }
  // What the simulated SM's promises and its mutants are of.
  specs.push_back({.m = 64, .n = 1024, .fill = Fill::normal});
  specs.push_back({.m = 8000, .n = 1024, .tier = CaseTier::full});
  specs.push_back(
      {.m = (std::int64_t{1} << 31) / 1000 + 1, .n = 1000, .dtype = DType::bf16, .tier = CaseTier::huge});
  specs.push_back({.n = (std::int64_t{1} << 31) + 5, .dtype = DType::f16, .tier = CaseTier::huge});
  std::vector<Case> cases;
  for (const Spec& spec : specs) cases.push_back(make_case(params, spec));
  return cases;
}

// Half a unit to either side of `mean`. One whose squares are out of range is the magnitude of every third row's elements, among
// ordinary rows that have a warp in common with it.
inline Draw drawn_about(double mean, std::int64_t n) {
  return made_from("about " + std::to_string(mean),
                   [mean, n](HostTensor& tensor, std::span<const HostTensor>) -> Status {
                     const bool is_extreme = std::abs(mean) > 1e20 || std::abs(mean) < 1e-20;
                     for (std::int64_t i = 0; i < tensor.numel(); ++i) {
                       const double share = static_cast<double>(i * i / 3 % 97) / 97 - 0.5;
                       tensor.set(i, !is_extreme ? mean + share : i / n % 3 == 1 ? mean * share : share);
                     }
                     return {};
                   });
}

inline Result<CasePlan> plan_case(const Case& c, bool has_bias) {
  const bool is_vector = c.shape.front().first == "n";
  const std::int64_t m = is_vector ? 1 : shape_at(c.shape, "m");
  const std::int64_t n = shape_at(c.shape, "n");
  const std::int64_t pitch = n + case_count(c, "pad");
  ROOFTILE_TRY_ASSIGN(const std::int64_t elements, checked_numel(Extents{m, pitch}, size_of(c.dtype)));
  (void)elements;
  const Extents shape = is_vector ? Extents{n} : Extents{m, n};
  InputPlan x{.dtype = c.dtype, .shape = shape};
  if (const double mean = case_number(c, "mean"); mean != 0) x.draw = drawn_about(mean, n);
  if (pitch != n && !is_vector) x.strides = Extents{pitch, 1};
  const bool adds = case_number(c, "residuals") != 0;
  const bool weighs = case_number(c, "weights", 1) != 0;
  const InputPlan row{
      .dtype = c.dtype, .shape = Extents{n}, .draw = drawn_by(Fill::uniform), .absent = !weighs};
  CasePlan plan;
  plan.inputs = {std::move(x),
                 {.dtype = c.dtype, .shape = shape, .draw = drawn_by(Fill::uniform), .absent = !adds},
                 row};
  if (has_bias) plan.inputs.push_back(row);
  const double row_bytes = static_cast<double>(n) * static_cast<double>(size_of(c.dtype));
  const double tensor_bytes = static_cast<double>(m) * row_bytes;
  plan.read_bytes = tensor_bytes * (adds ? 2 : 1) + (weighs ? row_bytes * (has_bias ? 2 : 1) : 0);
  plan.write_bytes = tensor_bytes * (adds ? 2 : 1);
  return plan;
}

}  // namespace rooftile::norm_cases
