#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/cases/draws.h"
#include "rooftile/cases/parallel.h"
#include "rooftile/cases/rounding.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/philox.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/dropout/dropout.h"

namespace rooftile {
namespace {

constexpr std::array<DType, 3> kDTypes = {DType::f32, DType::f16, DType::bf16};

struct Spec {
  std::int64_t m = -1;  // -1: a vector
  std::int64_t n = 0;
  DType dtype = DType::f32;
  std::string_view p = "0.3";
  bool inference = false;
  bool plain_scale = false;
  std::string_view form = "none";
  bool bias = false;
  bool residual = false;
  bool given = false;
  bool counted = false;
  bool replay = false;
  std::string_view seed = "7";
  std::string_view offset_of_stream = "0";
  Fill fill = Fill::uniform;
  int offset = 0;
  bool in_place = false;
  CaseTier tier = CaseTier::quick;
};

Case make_case(const Spec& spec) {
  const std::vector<ParamSpec>& params = dropout_operator().params;
  Params values = with(params, "p", std::string(spec.p));
  // Legal: from the lists here.
  const auto set = [&](std::string_view name, std::string_view value) {
    (void)values.set(params, name, std::string(value)).ok();
  };
  if (spec.inference) set("training", "false");
  if (spec.plain_scale) set("upscale", "false");
  set("form", spec.form);
  set("seed", spec.seed);
  set("offset", spec.offset_of_stream);
  if (spec.replay) set("replay", "true");
  if (spec.bias) set("biases", "1");
  if (spec.residual) set("residuals", "1");
  if (spec.given) set("given", "1");
  if (spec.counted) set("counted", "1");
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

std::vector<Case> dropout_cases() {
  std::vector<Case> cases;
  for (const DType dtype : kDTypes) {
    const auto add = [&](Spec spec) {
      spec.dtype = dtype;
      cases.push_back(make_case(spec));
    };
    add({.m = 4, .n = 40, .form = "bytes", .bias = true, .residual = true, .given = true, .counted = true});
    for (const std::int64_t n : edge_lengths()) {
      add({.n = n});
      add({.n = n, .form = "bits", .offset = 1});
    }
    for (const int offset : {0, 1}) {
      for (const std::string_view form : {"none", "bytes", "bits"}) {
        add({.m = 7, .n = 333, .form = form, .bias = true, .residual = true, .offset = offset});
        add({.m = 3, .n = 1000, .form = form, .residual = true, .counted = true, .offset = offset});
      }
      for (const std::string_view form : {"bytes", "bits"})
        add({.m = 5, .n = 203, .form = form, .given = true, .offset = offset});
      for (const std::string_view p : {"0", "1", "0.999", "1e-12"}) {
        add({.n = 5000, .p = p, .form = "bits", .offset = offset});
        add({.n = 1001, .p = p, .plain_scale = true, .form = "bytes", .residual = true, .offset = offset});
      }
      add({.n = 3000, .inference = true, .form = "bytes", .offset = offset});
      add({.n = 3000,
           .inference = true,
           .plain_scale = true,
           .bias = true,
           .counted = true,
           .offset = offset});
      add({.n = 3000, .counted = true, .replay = true, .offset = offset});
      add({.n = 3000, .seed = "-1234567890123456789", .offset_of_stream = "-3", .offset = offset});
      add({.n = 3000, .residual = true, .offset = offset, .in_place = true});
      for (const Fill fill :
           {Fill::nan_inside, Fill::inf_inside, Fill::special, Fill::any_bits, Fill::small_integers})
        add({.n = 2051, .residual = fill == Fill::small_integers, .fill = fill, .offset = offset});
    }
    add({.m = 1000,
         .n = 4097,
         .form = "bits",
         .bias = true,
         .residual = true,
         .fill = Fill::normal,
         .tier = CaseTier::full});
  }
  // What the simulated SM's promises and its mutants are of.
  cases.push_back(make_case({.n = 65536, .fill = Fill::normal}));
  cases.push_back(make_case(
      {.n = (std::int64_t{1} << 31) + 5, .dtype = DType::bf16, .form = "bits", .tier = CaseTier::huge}));
  return cases;
}

bool is_set(const Case& c, std::string_view name) { return case_number(c, name) != 0; }

Extents shape_of(const Case& c) {
  const std::int64_t n = shape_at(c.shape, "n");
  return c.shape.front().first == "n" ? Extents{n} : Extents{shape_at(c.shape, "m"), n};
}

std::int64_t numel_of(const Extents& shape) {
  std::int64_t count = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) count *= shape[axis];
  return count;
}

Extents mask_shape(const Case& c) {
  const std::string& form = c.params.get_string("form");
  if (form == "none") return {0};
  const Extents shape = shape_of(c);
  return form == "bytes" ? shape : Extents{ceil_div(numel_of(shape), 8)};
}

Draw drawn_bytes(bool bits, std::int64_t count) {
  return made_from("mask", [bits, count](HostTensor& tensor, std::span<const HostTensor>) -> Status {
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
      const std::int64_t byte = i * i / 7 % 256;
      const std::int64_t left = count - 8 * i;  // bits
      tensor.set(i, static_cast<double>(bits            ? (left < 8 ? byte & ((1 << left) - 1) : byte)
                                        : byte % 3 == 0 ? 0
                                                        : byte));
    }
    return {};
  });
}

Result<CasePlan> plan_case(const Case& c) {
  const Extents shape = shape_of(c);
  ROOFTILE_TRY_ASSIGN(const std::int64_t count, checked_numel(shape, size_of(c.dtype)));
  const std::int64_t n = shape_at(c.shape, "n");
  const InputPlan x{.dtype = c.dtype, .shape = shape};
  const bool given = is_set(c, "given");
  InputPlan kept{.dtype = DType::u8, .shape = mask_shape(c), .absent = !given};
  if (given) kept.draw = drawn_bytes(c.params.get_string("form") == "bits", count);
  const auto counted = made_from("5", [](HostTensor& tensor, std::span<const HostTensor>) -> Status {
    tensor.set(0, 5);
    return {};
  });
  CasePlan plan;
  plan.inputs = {
      x,
      {.dtype = c.dtype,
       .shape = Extents{n},
       .draw = drawn_by(Fill::uniform),
       .absent = !is_set(c, "biases")},
      {.dtype = c.dtype, .shape = shape, .draw = drawn_by(Fill::uniform), .absent = !is_set(c, "residuals")},
      std::move(kept),
      {.dtype = DType::i64, .shape = Extents{1}, .draw = counted, .absent = !is_set(c, "counted")}};
  const double bytes = static_cast<double>(count) * static_cast<double>(size_of(c.dtype));
  const auto mask_bytes = static_cast<double>(numel_of(mask_shape(c)));
  plan.read_bytes = bytes * (is_set(c, "residuals") ? 2 : 1) + (given ? mask_bytes : 0);
  plan.write_bytes = bytes + mask_bytes;
  return plan;
}

// Which elements are kept is exact, and so is the mask; of a result a sum, a product, a sum and its rounding may be off.
Result<std::vector<Expected>> reference(const Case& c, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  const HostTensor& bias = inputs[1];
  const HostTensor& residual = inputs[2];
  const HostTensor& given = inputs[3];
  const HostTensor& counter = inputs[4];
  const double p = c.params.get_double("p");
  const bool training = c.params.get_bool("training");
  const bool upscale = c.params.get_bool("upscale");
  const bool replay = c.params.get_bool("replay");
  const bool is_bits = c.params.get_string("form") == "bits";
  const auto counted = counter.numel() > 0 ? static_cast<std::uint64_t>(counter.at(0)) : 0u;
  const std::uint64_t stream =
      static_cast<std::uint64_t>(c.params.get_int("offset")) + counted - (replay ? 1u : 0u);
  const PhiloxKey key = philox_key(static_cast<std::uint64_t>(c.params.get_int("seed")));
  const double limit = std::nearbyint(p * 0x1p32);
  const double scale = !training ? (upscale ? 1.0 : 1 - p) : upscale && p < 1 ? 1 / (1 - p) : 1.0;
  const auto is_kept = [&](std::int64_t i) {
    if (!training) return true;
    if (p == 1) return false;
    if (given.numel() > 0)
      return is_bits ? (static_cast<int>(given.at(i / 8)) >> (i % 8) & 1) != 0 : given.at(i) != 0;
    const PhiloxCounter words = philox4x32_10(philox_counter(static_cast<std::uint64_t>(i / 4), stream), key);
    const std::array<std::uint32_t, 4> word = {words.x, words.y, words.z, words.w};
    return static_cast<double>(word[static_cast<std::size_t>(i % 4)]) >= limit;
  };
  Expected raised;
  ROOFTILE_TRY_ASSIGN(raised.exact, HostTensor::create(DType::i64, counter.shape()));
  if (counter.numel() > 0) raised.exact.set(0, counter.at(0) + (replay ? 0 : 1));
  Expected y;
  y.rule = "a sum, a product and a sum in f32, one rounding to y's dtype";
  ROOFTILE_TRY_ASSIGN(y.exact, HostTensor::create(DType::f64, x.shape()));
  ROOFTILE_TRY_ASSIGN(y.floors, HostTensor::create(DType::f64, x.shape()));
  Expected mask;
  ROOFTILE_TRY_ASSIGN(mask.exact, HostTensor::create(DType::u8, mask_shape(c)));
  const double u = unit_roundoff(DType::f32);
  const double out = 1.01 * unit_roundoff(c.dtype);
  const double least = c.dtype == DType::f16 ? 0x1p-25 : 0x1p-126;
  const std::int64_t n = shape_at(c.shape, "n");
  in_parallel(ceil_div(x.numel(), 8), 2048, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t group = first; group < last; ++group) {
      int bits = 0;
      for (std::int64_t i = 8 * group; i < smaller(x.numel(), 8 * group + 8); ++i) {
        const bool kept = is_kept(i);
        if (kept) bits |= 1 << (i % 8);
        const double added = bias.numel() > 0 ? bias.at(i % n) : 0.0;
        const double behind = residual.numel() > 0 ? residual.at(i) : 0.0;
        const double scaled = (x.at(i) + added) * scale;
        const double value = kept ? scaled + behind : behind;
        const double off =
            kept ? u * (3 * std::abs(scaled) + std::abs(added * scale) + std::abs(value)) : 0.0;
        const double floor = off + out * std::abs(value) + least;
        y.exact.set(i, value);
        y.floors.set(i, std::isfinite(floor) ? floor : least);
        if (!is_bits && mask.exact.numel() > 0) mask.exact.set(i, kept ? 1 : 0);
      }
      if (is_bits) mask.exact.set(group, bits);
    }
  });
  raised.rule = mask.rule = "exact";
  std::vector<Expected> result;
  result.push_back(std::move(raised));
  result.push_back(std::move(y));
  result.push_back(std::move(mask));
  return result;
}

}  // namespace

void register_dropout_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "dropout";
  cases.shapes = {"n", "m,n"};
  cases.default_case = make_case({.n = std::int64_t{1} << 28, .fill = Fill::normal, .tier = CaseTier::full});
  cases.default_host_case =
      make_case({.n = std::int64_t{1} << 20, .fill = Fill::normal, .tier = CaseTier::full});
  cases.cases = dropout_cases;
  cases.plan = plan_case;
  cases.reference = reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
