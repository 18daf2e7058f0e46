#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/cases/draws.h"
#include "rooftile/cases/parallel.h"
#include "rooftile/cases/rounding.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/rope/rope.h"

namespace rooftile {
namespace {

constexpr std::array<DType, 3> kDTypes = {DType::f32, DType::f16, DType::bf16};

struct Spec {
  std::int64_t b = 1, s = 1, h = 1, d = 2;
  DType dtype = DType::f32;
  int kv = -1;  // -1: no k
  int given = 0;
  int pad = 0;
  int rotary = 0;
  bool interleaved = false;
  bool inverse = false;
  std::string_view scaling = "none";
  std::string_view base = "10000";
  // Of the scaling; none: the operator's.
  std::string_view factor{};
  std::string_view low_frequency{};
  std::string_view high_frequency{};
  std::string_view original{};
  Fill fill = Fill::uniform;
  int offset = 0;
  bool in_place = false;
  CaseTier tier = CaseTier::quick;
};

Case make_case(const Spec& spec) {
  const std::vector<ParamSpec>& params = rope_operator().params;
  Params values = with(params, "form", spec.interleaved ? "interleaved" : "half");
  // Legal: from the lists here.
  const auto set = [&](std::string_view name, const std::string& value) {
    (void)values.set(params, name, value).ok();
  };
  set("rotary", std::to_string(spec.rotary));
  set("scaling", std::string(spec.scaling));
  set("base", std::string(spec.base));
  for (const auto& [name, value] :
       {std::pair{"factor", spec.factor}, std::pair{"low_frequency", spec.low_frequency},
        std::pair{"high_frequency", spec.high_frequency}, std::pair{"original", spec.original}}) {
    if (!value.empty()) set(name, std::string(value));
  }
  if (spec.inverse) set("inverse", "true");
  if (spec.kv >= 0) set("kv", std::to_string(spec.kv));
  if (spec.given > 0) set("given", std::to_string(spec.given));
  if (spec.pad > 0) set("pad", std::to_string(spec.pad));
  return {.shape = {{"b", spec.b}, {"s", spec.s}, {"h", spec.h}, {"d", spec.d}},
          .dtype = spec.dtype,
          .params = values,
          .fill = spec.fill,
          .offset = spec.offset,
          .in_place = spec.in_place,
          .tier = spec.tier};
}

std::vector<Case> rope_cases() {
  std::vector<Case> cases;
  for (const DType dtype : kDTypes) {
    for (const bool interleaved : {false, true}) {
      const auto add = [&](Spec spec) {
        spec.dtype = dtype;
        spec.interleaved = interleaved;
        cases.push_back(make_case(spec));
      };
      for (const std::int64_t d : {2, 4, 6, 16, 64, 96, 128, 256, 512})
        add({.b = 2, .s = 5, .h = 3, .d = d, .kv = 2});
      add({.b = 1, .s = 1, .h = 1, .d = 128});
      add({.b = 2, .s = 33, .h = 11, .d = 64, .kv = 6, .given = 1});
      add({.b = 3, .s = 17, .h = 9, .d = 32, .given = 2});
      add({.b = 2, .s = 9, .h = 4, .d = 128, .kv = 1, .given = 2, .pad = 16});
      add({.b = 2, .s = 9, .h = 4, .d = 20, .kv = 1, .pad = 3, .offset = 1});
      add({.b = 2, .s = 7, .h = 3, .d = 128, .rotary = 64});
      add({.b = 2, .s = 7, .h = 3, .d = 81, .kv = 2, .rotary = 32});
      add({.b = 2, .s = 7, .h = 3, .d = 64, .kv = 2, .inverse = true});
      add({.b = 2, .s = 7, .h = 3, .d = 64, .kv = 2, .in_place = true});
      add({.b = 2, .s = 7, .h = 3, .d = 26, .kv = 2, .offset = 1, .in_place = true});
      add({.b = 1, .s = 9, .h = 2, .d = 64, .given = 2, .scaling = "linear"});
      add({.b = 1, .s = 9, .h = 2, .d = 128, .given = 2, .scaling = "llama3", .base = "500000"});
      // Of these positions and numbers every one of llama3's three kinds of frequencies.
      add({.b = 2,
           .s = 9,
           .h = 2,
           .d = 128,
           .kv = 1,
           .given = 3,
           .rotary = 96,
           .scaling = "llama3",
           .factor = "3",
           .low_frequency = "2",
           .high_frequency = "16",
           .original = "1024"});
      add({.b = 2,
           .s = 9,
           .h = 2,
           .d = 40,
           .kv = 2,
           .given = 4,
           .inverse = true,
           .scaling = "llama3",
           .factor = "0.5",
           .original = "300"});
      add({.b = 2,
           .s = 9,
           .h = 2,
           .d = 64,
           .kv = 3,
           .given = 4,
           .rotary = 32,
           .inverse = true,
           .scaling = "linear",
           .factor = "2.5"});
      add({.b = 0, .s = 7, .h = 3, .d = 64});
      add({.b = 2, .s = 0, .h = 3, .d = 64, .kv = 1});
      add({.b = 1, .s = 7, .h = 0, .d = 64, .kv = 3});
      for (const Fill fill :
           {Fill::nan_inside, Fill::inf_inside, Fill::normal, Fill::small_integers, Fill::one_maximum})
        add({.b = 1, .s = 6, .h = 3, .d = 64, .kv = 2, .fill = fill});
      add({.b = 2,
           .s = 300,
           .h = 32,
           .d = 128,
           .kv = 8,
           .given = 2,
           .fill = Fill::normal,
           .tier = CaseTier::full});
    }
  }
  // What the simulated SM's promises and its mutants are of.
  cases.push_back(make_case({.b = 2, .s = 16, .h = 8, .d = 128, .fill = Fill::normal}));
  cases.push_back(
      make_case({.b = 1, .s = 524289, .h = 32, .d = 128, .dtype = DType::bf16, .tier = CaseTier::huge}));
  return cases;
}

// A sequence in the middle of a long one, one that goes backwards, and one far out.
Draw drawn_positions() {
  return made_from("positions up to 2^20", [](HostTensor& tensor, std::span<const HostTensor>) -> Status {
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
      const std::int64_t far = (std::int64_t{1} << 20) - i * i;
      tensor.set(i, static_cast<double>(i % 3 == 0 ? 1000 + i : i % 3 == 1 ? -i : far));
    }
    return {};
  });
}

Result<CasePlan> plan_case(const Case& c) {
  const std::int64_t b = shape_at(c.shape, "b");
  const std::int64_t s = shape_at(c.shape, "s");
  const std::int64_t h = shape_at(c.shape, "h");
  const std::int64_t d = shape_at(c.shape, "d");
  const std::int64_t kv = case_count(c, "kv");
  const std::int64_t given = case_count(c, "given");
  const std::int64_t pad = case_count(c, "pad");
  for (const std::int64_t heads : {h, kv}) {
    ROOFTILE_TRY_ASSIGN(const std::int64_t elements,
                        checked_numel(Extents{b, s, heads, d}, size_of(c.dtype)));
    (void)elements;
  }
  const auto heads_of = [&](std::int64_t heads) {
    InputPlan plan{.dtype = c.dtype, .shape = Extents{b, s, heads, d}};
    const std::int64_t token = heads * d + pad;
    if (pad > 0) plan.strides = Extents{s * token, token, d, 1};
    return plan;
  };
  InputPlan k = heads_of(kv);
  k.absent = std::holds_alternative<NoValue>(c.params.at("kv"));
  if (k.absent) k.strides = {};
  const bool by_batch = given == 2 || given == 4;
  const bool is_long = given == 2 || given == 3;
  InputPlan positions{.dtype = is_long ? DType::i64 : DType::i32,
                      .shape = by_batch ? Extents{b, s} : Extents{s},
                      .draw = drawn_positions(),
                      .absent = given == 0};
  CasePlan plan;
  const double bytes = static_cast<double>(b * s * d) * static_cast<double>((h + (k.absent ? 0 : kv))) *
                       static_cast<double>(size_of(c.dtype));
  plan.read_bytes = bytes;
  if (given > 0)
    plan.read_bytes += static_cast<double>(by_batch ? b * s : s) * static_cast<double>(is_long ? 8 : 4);
  plan.write_bytes = bytes;
  plan.inputs = {heads_of(h), std::move(k), std::move(positions)};
  return plan;
}

// frequency[i] of rope.h.
double frequency(const Case& c, std::int64_t rotary, std::int64_t i) {
  const double base = c.params.get_double("base");
  const double plain = std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(rotary));
  const auto scaling = c.params.get_string("scaling");
  const double factor = c.params.get_double("factor");
  if (scaling == "none") return plain;
  if (scaling == "linear") return plain / factor;
  const double low = c.params.get_double("low_frequency");
  const double high = c.params.get_double("high_frequency");
  const double wavelength = 2 * std::numbers::pi / plain;
  const double original = c.params.get_double("original");
  if (wavelength < original / high) return plain;
  if (wavelength > original / low) return plain / factor;
  const double smooth = (original / wavelength - low) / (high - low);
  return (1 - smooth) * plain / factor + smooth * plain;
}

// Sine and cosine are off by four units of f32, and a product and a sum are rounded; then the result is.
Result<Expected> turned(const Case& c, const HostTensor& x, const HostTensor& positions) {
  Expected y;
  ROOFTILE_TRY_ASSIGN(y.exact, HostTensor::create(DType::f64, x.shape()));
  ROOFTILE_TRY_ASSIGN(y.floors, HostTensor::create(DType::f64, x.shape()));
  y.rule = "sine and cosine of four units, three operations in f32, one rounding";
  if (x.shape().rank() != 4) return y;  // no k
  const std::int64_t s = x.shape()[1];
  const std::int64_t heads = x.shape()[2];
  const std::int64_t d = x.shape()[3];
  const std::int64_t asked = c.params.get_int("rotary");
  const std::int64_t rotary = asked == 0 ? d : asked;
  const bool interleaved = c.params.get_string("form") == "interleaved";
  const bool is_inverse = c.params.get_bool("inverse");
  const double u = unit_roundoff(DType::f32);
  const double out = 1.01 * unit_roundoff(c.dtype);
  const double least = c.dtype == DType::f16 ? 0x1p-25 : 0x1p-126;
  in_parallel(x.shape()[0] * s, 16, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t token = first; token < last; ++token) {
      const double position = positions.numel() == 0
                                  ? static_cast<double>(token % s)
                                  : positions.at(positions.shape().rank() == 1 ? token % s : token);
      for (std::int64_t i = 0; i < rotary / 2; ++i) {
        const long double angle = static_cast<long double>(position) * frequency(c, rotary, i);
        const auto cosine = static_cast<double>(std::cos(angle));
        const auto sine = static_cast<double>(is_inverse ? -std::sin(angle) : std::sin(angle));
        for (std::int64_t h = 0; h < heads; ++h) {
          const std::int64_t at = (token * heads + h) * d;
          const std::int64_t ia = at + (interleaved ? 2 * i : i);
          const std::int64_t ib = at + (interleaved ? 2 * i + 1 : i + rotary / 2);
          const double a = x.at(ia);
          const double b = x.at(ib);
          const auto set = [&](std::int64_t place, double value) {
            const double off = 7 * u * (std::abs(a) + std::abs(b)) + out * std::abs(value) + least;
            y.exact.set(place, value);
            y.floors.set(place, std::isfinite(off) ? off : least);
          };
          set(ia, a * cosine - b * sine);
          set(ib, b * cosine + a * sine);
        }
      }
      for (std::int64_t h = 0; h < heads; ++h) {
        for (std::int64_t e = rotary; e < d; ++e) {
          y.exact.set((token * heads + h) * d + e, x.at((token * heads + h) * d + e));
          y.floors.set((token * heads + h) * d + e, 0);
        }
      }
    }
  });
  return y;
}

Result<std::vector<Expected>> reference(const Case& c, std::span<const HostTensor> inputs) {
  std::vector<Expected> result;
  for (const std::size_t slot : {0u, 1u}) {
    ROOFTILE_TRY_ASSIGN(Expected expected, turned(c, inputs[slot], inputs[2]));
    result.push_back(std::move(expected));
  }
  return result;
}

}  // namespace

void register_rope_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "rope";
  cases.shapes = {"b,s,h,d"};
  cases.default_case = make_case({.b = 4,
                                  .s = 4096,
                                  .h = 32,
                                  .d = 128,
                                  .dtype = DType::bf16,
                                  .fill = Fill::normal,
                                  .tier = CaseTier::full});
  cases.default_host_case =
      make_case({.b = 1, .s = 512, .h = 8, .d = 128, .fill = Fill::normal, .tier = CaseTier::full});
  cases.cases = rope_cases;
  cases.plan = plan_case;
  cases.reference = reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
