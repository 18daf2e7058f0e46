#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rooftile/cases/draws.h"
#include "rooftile/cases/judges.h"
#include "rooftile/cases/parallel.h"
#include "rooftile/core/philox.h"
#include "rooftile/core/registry.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/histogram/histogram.h"
#include "rooftile/ops/histogram/histogram_plan.h"

namespace rooftile {
namespace {

constexpr std::array<DType, 10> kDTypes = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,
                                           DType::u8,  DType::i32, DType::u32, DType::i64,  DType::u64};

struct Bounds {
  double lower;
  double upper;
};
// All that a dtype holds, or that a fill draws.
Bounds bounds_of(DType dtype) {
  if (is_float(dtype)) return {-1, 1};
  const double numbers = std::ldexp(1.0, 8 * static_cast<int>(size_of(dtype)));
  return is_signed(dtype) ? Bounds{-numbers / 2, numbers / 2} : Bounds{0, numbers};
}

struct Spec {
  std::int64_t n = 0;
  std::int64_t bins = 256;
  DType dtype = DType::f32;
  std::optional<Bounds> bounds{};
  bool closed = false;
  std::string counts = "default";
  std::string weighted = "none";
  std::string distinct = "none";
  std::string zipf = "none";
  std::optional<Fill> fill{};
  int offset = 0;
  CaseTier tier = CaseTier::quick;
};

// As many digits as tell it from its neighbours.
std::string exactly_as_text(double x) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.17g", x);
  return text.data();
}

Case make_case(const Spec& spec) {
  const std::vector<ParamSpec>& params = histogram_operator().params;
  const Bounds bounds = spec.bounds.value_or(bounds_of(spec.dtype));
  Params values = with(params, "bins", std::to_string(spec.bins));
  // Legal: from the lists here.
  (void)values.set(params, "lower", exactly_as_text(bounds.lower)).ok();
  (void)values.set(params, "upper", exactly_as_text(bounds.upper)).ok();
  (void)values.set(params, "closed", spec.closed ? "true" : "false").ok();
  (void)values.set(params, "counts_dtype", spec.counts).ok();
  (void)values.set(params, "weighted", spec.weighted).ok();
  (void)values.set(params, "distinct", spec.distinct).ok();
  (void)values.set(params, "zipf", spec.zipf).ok();
  return {.shape = {{"n", spec.n}},
          .dtype = spec.dtype,
          .params = values,
          .fill = spec.fill.value_or(is_float(spec.dtype) ? Fill::uniform : Fill::any_bits),
          .offset = spec.offset,
          .tier = spec.tier};
}

// What every dtype needs.
void add_edges(std::vector<Case>& cases, DType dtype) {
  for (const std::int64_t n : {0, 1, 31, 257, 4099}) cases.push_back(make_case({.n = n, .dtype = dtype}));
  for (const int offset : {1, 3}) cases.push_back(make_case({.n = 2050, .dtype = dtype, .offset = offset}));
  for (const std::int64_t bins : {1, 2, 7, 1000})
    cases.push_back(make_case({.n = 3001, .bins = bins, .dtype = dtype}));
  cases.push_back(make_case({.n = 3001, .bins = 20000, .dtype = dtype, .offset = 1}));
  // Elements below, above, and at the upper bound.
  const Bounds inside = is_float(dtype) ? Bounds{-0.3, 0.41} : Bounds{3, 123};
  for (const bool closed : {false, true}) {
    cases.push_back(make_case({.n = 3001, .bins = 10, .dtype = dtype, .bounds = inside, .closed = closed}));
    cases.push_back(make_case({.n = 3001,
                               .bins = 5,
                               .dtype = dtype,
                               .bounds = Bounds{is_float(dtype) ? -2.0 : 0.0, 5},
                               .closed = closed,
                               .fill = Fill::small_integers}));
  }
  cases.push_back(make_case({.n = 3001, .bins = 50, .dtype = dtype, .fill = Fill::equal}));
  cases.push_back(make_case({.n = 3001, .dtype = dtype, .counts = "u32", .distinct = "0.01"}));
  cases.push_back(make_case({.n = 3001, .bins = 33, .dtype = dtype, .zipf = "1.2"}));
  if (is_float(dtype)) {
    for (const Fill fill : {Fill::special, Fill::nan_inside, Fill::inf_inside, Fill::normal})
      cases.push_back(make_case({.n = 2050, .bins = 64, .dtype = dtype, .fill = fill}));
  }
  for (const char* weight : {"4", "8"})
    cases.push_back(make_case({.n = 2050, .bins = 37, .dtype = dtype, .weighted = weight, .offset = 1}));
}

// More integers than 32 bits have, in bins that do not divide them, and bins of less than a number.
void add_whole(std::vector<Case>& cases) {
  for (const DType dtype : {DType::u64, DType::i64}) {
    for (const std::int64_t bins : {3, 1000, 65535})
      cases.push_back(make_case({.n = 2999, .bins = bins, .dtype = dtype}));
  }
  cases.push_back(make_case({.n = 2999, .bins = 1000, .dtype = DType::u64, .bounds = Bounds{1e9, 0x1p63}}));
  cases.push_back(make_case(
      {.n = 2999, .bins = 6, .dtype = DType::u64, .bounds = Bounds{0x1p63, 0x1p64}, .closed = true}));
  cases.push_back(
      make_case({.n = 2999, .bins = 4, .dtype = DType::i64, .bounds = Bounds{0, 0x1p63}, .closed = true}));
  cases.push_back(make_case({.n = 2999, .bins = 1000, .dtype = DType::u8}));
  cases.push_back(make_case({.n = 2999, .bins = 1024, .dtype = DType::i8}));
  cases.push_back(make_case({.n = 2999, .bins = 300, .dtype = DType::i8, .bounds = Bounds{-300, 301}}));
  cases.push_back(make_case({.n = 2999, .bins = 777, .dtype = DType::i32, .bounds = Bounds{-5e9, 5e9}}));
}

void add_large(std::vector<Case>& cases) {
  for (const DType dtype : {DType::f32, DType::u32}) {
    for (const std::int64_t bins : {256, 4096, 32768, 32769, 65536})
      cases.push_back(make_case({.n = 40000, .bins = bins, .dtype = dtype, .distinct = "1"}));
    cases.push_back(make_case(
        {.n = 20000, .bins = 65536, .dtype = dtype, .weighted = "4", .distinct = "1", .offset = 1}));
  }
  cases.push_back(make_case({.n = 1 << 17, .dtype = DType::f32}));
  for (const DType dtype : {DType::f32, DType::u32, DType::u8, DType::f64, DType::f16}) {
    for (const std::int64_t bins : {256, 4096, 65536}) {
      cases.push_back(make_case({.n = 1234567, .bins = bins, .dtype = dtype, .tier = CaseTier::full}));
      cases.push_back(make_case({.n = (1 << 21) + 1,
                                 .bins = bins,
                                 .dtype = dtype,
                                 .zipf = "1",
                                 .offset = 1,
                                 .tier = CaseTier::full}));
    }
    cases.push_back(make_case({.n = 1234567, .dtype = dtype, .weighted = "4", .tier = CaseTier::full}));
  }
  cases.push_back(make_case({.n = 1 << 28, .tier = CaseTier::huge}));
  for (const DType dtype : {DType::u8, DType::i8})
    cases.push_back(make_case({.n = (std::int64_t{1} << 31) + 1, .dtype = dtype, .tier = CaseTier::huge}));
}

std::vector<Case> histogram_cases() {
  std::vector<Case> cases;
  cases.push_back(make_case({.n = 40960}));
  cases.push_back(make_case({.n = 40960, .weighted = "4"}));
  cases.push_back(make_case({.n = 1 << 18, .dtype = DType::u8, .fill = Fill::uniform}));
  for (const DType dtype : kDTypes) add_edges(cases, dtype);
  add_whole(cases);
  add_large(cases);
  return cases;
}

std::optional<double> number_of(const Case& c, const char* param) {
  const auto* value = std::get_if<double>(&c.params.at(param));
  return value == nullptr ? std::nullopt : std::optional(*value);
}

// A number in [0, 1) for element i.
double chance(std::uint64_t seed, std::int64_t i) {
  return philox4x32_10(philox_counter(static_cast<std::uint64_t>(i), 0), philox_key(seed)).x * 0x1p-32;
}

constexpr std::int64_t kGrain = 1 << 16;

// Elements from the middles of bins, which `bin_of` chooses by a number in [0, 1).
template <class BinOf>
Draw drawn_bins(const Case& c, std::string name, BinOf bin_of) {
  const double lower = c.params.get_double("lower");
  const double width = (c.params.get_double("upper") - lower) / static_cast<double>(c.params.get_int("bins"));
  return {
      .name = std::move(name),
      .fixed = {},
      .fill = [lower, width, bin_of](HostTensor& tensor, std::uint64_t seed, std::span<const HostTensor>) {
        in_parallel(tensor.numel(), kGrain, [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t i = first; i < last; ++i) {
            const double x = lower + (static_cast<double>(bin_of(chance(seed, i))) + 0.5) * width;
            tensor.set(i, is_float(tensor.dtype()) ? x : std::floor(x));
          }
        });
        return Status();
      }};
}

// A share of the bins, evenly among all, each as often.
Draw drawn_from_share(const Case& c, double distinct) {
  const std::int64_t bins = c.params.get_int("bins");
  const auto some = std::clamp<std::int64_t>(std::llround(distinct * static_cast<double>(bins)), 1, bins);
  return drawn_bins(c, std::to_string(some) + " bins", [some, step = bins / some](double chance) {
    return static_cast<std::int64_t>(chance * static_cast<double>(some)) * step;
  });
}

// Bin b as often as 1 / (b + 1)^exponent says.
Draw drawn_by_zipf(const Case& c, double exponent) {
  auto cumulative = std::make_shared<std::vector<double>>();
  double sum = 0;
  for (std::int64_t b = 0; b < c.params.get_int("bins"); ++b)
    cumulative->push_back(sum += std::pow(static_cast<double>(b + 1), -exponent));
  return drawn_bins(c, "Zipf's law of exponent " + std::to_string(exponent), [cumulative](double chance) {
    const auto at = std::upper_bound(cumulative->begin(), cumulative->end(), chance * cumulative->back());
    return std::min<std::int64_t>(at - cumulative->begin(), std::ssize(*cumulative) - 1);
  });
}

Result<CasePlan> plan_case(const Case& c) {
  constexpr double kDoubleBytes = 8;
  const Extents shape = {shape_at(c.shape, "n")};
  const std::optional<double> weight_bytes = number_of(c, "weighted");
  const DType weight = weight_bytes.value_or(4) == kDoubleBytes ? DType::f64 : DType::f32;
  CasePlan plan;
  plan.inputs = {{.dtype = c.dtype, .shape = shape},
                 {.dtype = weight, .shape = shape, .draw = drawn_by(Fill::uniform), .absent = !weight_bytes}};
  if (const auto exponent = number_of(c, "zipf")) {
    plan.inputs[0].draw = drawn_by_zipf(c, *exponent);
  } else if (const auto distinct = number_of(c, "distinct")) {
    plan.inputs[0].draw = drawn_from_share(c, *distinct);
  }
  const auto n = static_cast<double>(shape[0]);
  plan.read_bytes = n * (static_cast<double>(size_of(c.dtype)) +
                         (weight_bytes ? static_cast<double>(size_of(weight)) : 0.0));
  plan.write_bytes = static_cast<double>(c.params.get_int("bins")) * kDoubleBytes;
  return plan;
}

// Of each bin what must be counted there, and what may be: elements that lie at an edge, as far as rounding goes.
struct Sums {
  std::vector<double> certain;
  std::vector<double> doubtful;
  std::vector<double> magnitudes;  // of weights, with which the rounding of sums grows
  double total = 0;                // of all bins together, in which no element is doubtful
  explicit Sums(std::int64_t bins)
      : certain(static_cast<std::size_t>(bins)), doubtful(certain.size()), magnitudes(certain.size()) {}
};

// By the definition: whole numbers exactly, real ones in long double.
template <class T>
class Definition {
 public:
  Definition(const Case& c, std::span<const HostTensor> inputs)
      : bins_(c.params.get_int("bins")),
        lower_(c.params.get_double("lower")),
        upper_(c.params.get_double("upper")),
        closed_(c.params.get_bool("closed")),
        in_(inputs[0].as<T>()),
        weights_(number_of(c, "weighted") ? &inputs[1] : nullptr) {}

  [[nodiscard]] Sums sums() const {
    Sums sums(bins_);
    for (std::size_t i = 0; i < in_.size(); ++i) {
      const double weight = weights_ != nullptr ? weights_->at(static_cast<std::int64_t>(i)) : 1.0;
      if constexpr (std::is_integral_v<T>) {
        add_whole(in_[i], weight, sums);
      } else {
        add_real(in_[i], weight, sums);
      }
    }
    return sums;
  }

 private:
  __extension__ using Wide = __int128;

  void add_whole(T x, double weight, Sums& sums) const {
    const auto lower = static_cast<Wide>(lower_);
    const auto upper = static_cast<Wide>(upper_);
    if (x < lower || x > upper || (x == upper && !closed_)) return;
    add(x == upper ? bins_ - 1 : static_cast<std::int64_t>((x - lower) * bins_ / (upper - lower)), weight,
        sums);
  }
  void add(std::int64_t bin, double weight, Sums& sums) const {
    sums.certain[static_cast<std::size_t>(bin)] += weight;
    sums.magnitudes[static_cast<std::size_t>(bin)] += std::abs(weight);
    sums.total += weight;
  }

  void add_real(T x, double weight, Sums& sums) const {
    using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
    constexpr long double kRoundings = 4;  // of the bounds, the difference, the scale and the product
    constexpr long double kEpsilon = std::numeric_limits<Real>::epsilon();
    const long double value = number(x);
    const auto upper = static_cast<Real>(upper_);
    // NaN compares with nothing.
    if (!(value >= static_cast<Real>(lower_)) || !(closed_ ? value <= upper : value < upper)) return;
    const long double unit = bins_ / (static_cast<long double>(upper_) - lower_);
    const long double place = (value - lower_) * unit;
    const long double scale =
        std::max({std::abs(place), std::abs(value) * unit, std::abs(lower_ * unit), std::abs(upper_ * unit)});
    const long double edge = std::round(place);
    if (std::abs(place - edge) <= kRoundings * kEpsilon * scale && edge > 0 && edge < bins_) {
      for (const long double bin : {edge - 1, edge})
        sums.doubtful[static_cast<std::size_t>(bin)] += std::abs(weight);
      sums.total += weight;
    } else {
      add(std::clamp<std::int64_t>(static_cast<std::int64_t>(place), 0, bins_ - 1), weight, sums);
    }
  }
  static long double number(T x) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      return to_float(x);
    } else {
      return x;
    }
  }

  std::int64_t bins_;
  long double lower_;
  long double upper_;
  bool closed_;
  std::span<const T> in_;
  const HostTensor* weights_;
};

// A doubtful element is in one bin or in the one beside it, and its weight may be negative.
Judgement compare(const Sums& sums, bool is_weighted, std::span<const HostTensor> outputs) {
  constexpr double kSumRounding = 1e-12;
  const HostTensor& counts = outputs[0];
  if (counts.numel() != std::ssize(sums.certain)) return {.mismatch = "there is not one count for each bin"};
  Judgement judgement;
  double total = 0;
  double magnitude = 0;
  for (std::int64_t b = 0; b < counts.numel(); ++b) {
    const auto at = static_cast<std::size_t>(b);
    const double got = counts.at(b);
    total += got;
    magnitude += sums.magnitudes[at] + sums.doubtful[at];
    const double below = is_weighted ? sums.doubtful[at] + kSumRounding * sums.magnitudes[at] : 0.0;
    const double above = sums.doubtful[at] + kSumRounding * sums.magnitudes[at];
    if (!(got >= sums.certain[at] - below && got <= sums.certain[at] + above)) {
      judgement.mismatch = "bin " + std::to_string(b) + " is " + std::to_string(got) + ", not " +
                           std::to_string(sums.certain[at]);
      if (sums.doubtful[at] != 0)
        judgement.mismatch += " and up to " + std::to_string(sums.doubtful[at]) + " more";
      return judgement;
    }
  }
  const double allowed = is_weighted ? kSumRounding * magnitude : 0.0;
  if (!(std::abs(total - sums.total) <= allowed))
    judgement.mismatch =
        "all bins together are " + std::to_string(total) + ", not " + std::to_string(sums.total);
  return judgement;
}

Result<Judge> judge_case(const Case& c, std::span<const HostTensor> inputs) {
  using Types = DTypes<double, float, Float16, BFloat16, std::int8_t, std::uint8_t, std::int32_t,
                       std::uint32_t, std::int64_t, std::uint64_t>;
  auto sums = std::make_shared<Sums>(c.params.get_int("bins"));
  ROOFTILE_TRY(dispatch(Types{}, c.dtype, [&]<class T>() -> Status {
    *sums = Definition<T>(c, inputs).sums();
    return {};
  }));
  return Judge([sums, is_weighted = number_of(c, "weighted").has_value()](
                   std::span<const HostTensor> outputs) { return compare(*sums, is_weighted, outputs); });
}

}  // namespace

void register_histogram_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "histogram";
  cases.shapes = {"n"};
  cases.default_case = make_case(
      {.n = 1 << 28, .dtype = DType::u32, .bounds = Bounds{0, 256}, .distinct = "1", .tier = CaseTier::full});
  cases.default_host_case = make_case({.n = 1 << 24, .tier = CaseTier::full});
  cases.cases = histogram_cases;
  cases.plan = plan_case;
  cases.judge = judge_case;
  registry.add(std::move(cases));
}

}  // namespace rooftile
