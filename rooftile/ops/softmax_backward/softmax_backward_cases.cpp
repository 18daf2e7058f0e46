#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/cases/draws.h"
#include "rooftile/cases/parallel.h"
#include "rooftile/cases/rounding.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/softmax_backward/softmax_backward.h"
#include "rooftile/ops/softmax_backward/softmax_backward_plan.h"

namespace rooftile {
namespace {

constexpr std::array<DType, 3> kDTypes = {DType::f32, DType::f16, DType::bf16};

struct Spec {
  std::int64_t m = 0;
  std::int64_t n = 0;
  DType dtype = DType::f32;
  std::string_view temperature = "1";
  bool log = false;
  int pad = 0;
  Fill fill = Fill::uniform;
  int offset = 0;
  bool in_place = false;
  CaseTier tier = CaseTier::quick;
};

Case make_case(const Spec& spec) {
  const std::vector<ParamSpec>& params = softmax_backward_operator().params;
  Params values = with(params, "log", spec.log ? "true" : "false");
  // Legal: from the lists here.
  (void)values.set(params, "temperature", spec.temperature).ok();
  if (spec.pad > 0) (void)values.set(params, "pad", std::to_string(spec.pad)).ok();
  return {.shape = {{"m", spec.m}, {"n", spec.n}},
          .dtype = spec.dtype,
          .params = values,
          .fill = spec.fill,
          .offset = spec.offset,
          .in_place = spec.in_place,
          .tier = spec.tier};
}

std::vector<Case> softmax_backward_cases() {
  std::vector<Case> cases;
  for (const DType dtype : kDTypes) {
    const auto add = [&](Spec spec) {
      spec.dtype = dtype;
      cases.push_back(make_case(spec));
    };
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    for (const std::int64_t n : {1, 2, 3, 9, 31, 33}) {
      add({.m = 67, .n = n});
      add({.m = 5, .n = n, .log = true, .offset = 1});
    }
    if (dtype == DType::f32)
      for (std::int64_t n = 1; n <= 33; ++n) add({.m = 11, .n = n});
    // Rows of every shape that registers have, full and with one element more; aligned and beginning anywhere.
    for (const RowShape& shape : softmax_backward_plan::kRowShapes) {
      const std::int64_t n = shape.capacity() * kRowVectorBytes / size;
      if (n > 16384) continue;
      const std::int64_t m = n > 2000 ? 2 : n > 200 ? 5 : 131;
      add({.m = m, .n = n});
      add({.m = m, .n = n + 1, .log = true, .offset = 1});
    }
    // Rows of several blocks.
    for (const int offset : {0, 1}) {
      add({.m = 9, .n = 65536 / size + std::int64_t{5} * offset, .log = offset == 1, .offset = offset});
      add({.m = 2, .n = 262144 / size + std::int64_t{3} * offset, .log = offset == 0, .offset = offset});
    }
    add({.m = 0, .n = 7});
    add({.m = 3, .n = 0});
    for (const bool log : {false, true}) {
      for (const std::int64_t n : {40, 1031}) {
        add({.m = 6, .n = n, .temperature = "0.05", .log = log});
        add({.m = 6, .n = n, .temperature = "3", .log = log, .pad = 8});
        add({.m = 6, .n = n, .log = log, .pad = 3, .offset = 1});
        add({.m = 6, .n = n, .log = log, .in_place = true});
      }
      add({.m = 3, .n = 9001, .log = log, .offset = 3, .in_place = true});
      for (const Fill fill : {Fill::nan_inside, Fill::nan_at_last, Fill::equal, Fill::rising, Fill::falling,
                              Fill::one_maximum, Fill::small_integers, Fill::normal}) {
        add({.m = 9, .n = 261, .log = log, .fill = fill, .offset = 1});
        add({.m = 3, .n = 4800, .log = log, .fill = fill});
      }
    }
    for (Spec full :
         {Spec{.m = 1000, .n = 769}, Spec{.m = 40001, .n = 33}, Spec{.m = 140, .n = 12289},
          Spec{.m = 17, .n = 57856}, Spec{.m = 3, .n = 300003}, Spec{.m = 1, .n = (1 << 20) + 3}}) {
      full.tier = CaseTier::full;
      add(full);
      full.offset = 1;
      full.log = true;
      add(full);
    }
  }
  // What the simulated SM's promises and its mutants are of.
  cases.push_back(make_case({.m = 64, .n = 1024, .fill = Fill::normal}));
  cases.push_back(make_case(
      {.m = (std::int64_t{1} << 31) / 1000 + 1, .n = 1000, .dtype = DType::bf16, .tier = CaseTier::huge}));
  return cases;
}

Result<CasePlan> plan_case(const Case& c) {
  const std::int64_t m = shape_at(c.shape, "m");
  const std::int64_t n = shape_at(c.shape, "n");
  const std::int64_t pitch = n + case_count(c, "pad");
  ROOFTILE_TRY_ASSIGN(const std::int64_t elements, checked_numel(Extents{m, pitch}, size_of(c.dtype)));
  (void)elements;
  InputPlan y{.dtype = c.dtype, .shape = Extents{m, n}};
  if (pitch != n) y.strides = Extents{pitch, 1};
  const InputPlan dy = y;
  CasePlan plan;
  if (pitch != n) plan.output_strides = {Extents{pitch, 1}};
  plan.inputs = {y, dy};
  const double bytes =
      static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(size_of(c.dtype));
  plan.read_bytes = 2 * bytes;
  plan.write_bytes = bytes;
  return plan;
}

// One row in double, and what sound arithmetic in f32 may be off, u being its unit roundoff: the sum by one chain of additions of n
// terms, 16384 at most (gemv_ref.cpp has the rule: eight deviations of a random walk), relatively to the sum of magnitudes; the
// exponential by its exponent's rounding and four units; then three operations, and one rounding to dx's dtype.
void backward_row(const HostTensor& y, const HostTensor& dy, const Case& c, std::int64_t first,
                  std::int64_t n, Expected& dx) {
  const bool log = c.params.get_bool("log");
  const double temperature = c.params.get_double("temperature");
  const double u = unit_roundoff(DType::f32);
  const double least = c.dtype == DType::f16 ? 0x1p-25 : 0x1p-126;
  const double chain = 8 * std::sqrt(std::clamp(static_cast<double>(n), 1024.0, 16384.0) / 12);
  long double sum = 0;
  double size = 0;
  for (std::int64_t i = first; i < first + n; ++i) {
    const double part = log ? dy.at(i) : dy.at(i) * y.at(i);
    sum += part;
    size += std::abs(part);
  }
  const auto total = static_cast<double>(sum);
  const double total_off = u * (chain + 2) * size;
  for (std::int64_t i = first; i < first + n; ++i) {
    const double share = log ? std::exp(y.at(i)) : y.at(i);
    const double share_off = log ? u * (4 + 2 * std::abs(y.at(i))) * share : 0.0;
    const double exact = (log ? dy.at(i) - share * total : (dy.at(i) - total) * share) / temperature;
    const double off = log ? share * total_off + share_off * std::abs(total) +
                                 2 * u * (std::abs(dy.at(i)) + share * std::abs(total))
                           : std::abs(share) * (total_off + 2 * u * (std::abs(dy.at(i)) + std::abs(total)));
    const double floor =
        off / temperature + (1.01 * unit_roundoff(c.dtype) + 3 * u) * std::abs(exact) + least;
    dx.exact.set(i, exact);
    dx.floors.set(i, std::isfinite(floor) ? floor : least);
  }
}

Result<std::vector<Expected>> reference(const Case& c, std::span<const HostTensor> inputs) {
  const std::int64_t n = shape_at(c.shape, "n");
  const std::int64_t rows = shape_at(c.shape, "m");
  Expected dx;
  ROOFTILE_TRY_ASSIGN(dx.exact, HostTensor::create(DType::f64, {rows, n}));
  ROOFTILE_TRY_ASSIGN(dx.floors, HostTensor::create(DType::f64, {rows, n}));
  dx.rule = "a chain of additions in f32, an exponential, three operations, one rounding to dx's dtype";
  const std::int64_t grain =
      std::max<std::int64_t>(1, (std::int64_t{1} << 14) / std::max<std::int64_t>(1, n));
  in_parallel(n > 0 ? rows : 0, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r) backward_row(inputs[0], inputs[1], c, r * n, n, dx);
  });
  std::vector<Expected> result;
  result.push_back(std::move(dx));
  return result;
}

}  // namespace

void register_softmax_backward_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "softmax_backward";
  cases.shapes = {"m,n"};
  cases.default_case = make_case({.m = 16384, .n = 4096, .fill = Fill::normal, .tier = CaseTier::full});
  cases.default_host_case = make_case({.m = 1024, .n = 4096, .fill = Fill::normal, .tier = CaseTier::full});
  cases.cases = softmax_backward_cases;
  cases.plan = plan_case;
  cases.reference = reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
