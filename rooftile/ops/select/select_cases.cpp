#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/cases/draws.h"
#include "rooftile/cases/judges.h"
#include "rooftile/cases/parallel.h"
#include "rooftile/core/philox.h"
#include "rooftile/core/registry.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/select/select.h"
#include "rooftile/ops/select/select_plan.h"

namespace rooftile {
namespace {

constexpr std::array<DType, 10> kDTypes = {DType::i32, DType::f32, DType::f64, DType::f16, DType::bf16,
                                           DType::i8,  DType::u8,  DType::u32, DType::i64, DType::u64};

struct Spec {
  std::int64_t n = 0;
  DType dtype = DType::i32;
  std::string_view op = "greater_than";
  std::string_view density = "none";
  std::string_view threshold = "0";
  bool stable = true;
  Fill fill = Fill::uniform;
  int offset = 0;
  CaseTier tier = CaseTier::quick;
};

Case make_case(const Spec& spec) {
  const std::vector<ParamSpec>& params = select_operator().params;
  Params values = with(params, "op", spec.op);
  // Legal: from the lists here.
  (void)values.set(params, "density", spec.density).ok();
  (void)values.set(params, "threshold", spec.threshold).ok();
  (void)values.set(params, "stable", spec.stable ? "true" : "false").ok();
  return {.shape = {{"n", spec.n}},
          .dtype = spec.dtype,
          .params = values,
          .fill = spec.fill,
          .offset = spec.offset,
          .tier = spec.tier};
}

std::int64_t tile_elements(DType dtype, int vectors) {
  return select_plan::tile_bytes(vectors) / static_cast<std::int64_t>(size_of(dtype));
}

// Around vectors, warps and tiles, and several tiles.
void add_lengths(std::vector<Case>& cases, DType dtype, std::string_view op) {
  const std::int64_t small = tile_elements(dtype, select_plan::kSmallVectors);
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{31}, std::int64_t{257},
                               small - 1, small + 1, 3 * small + 5})
    cases.push_back(make_case({.n = n, .dtype = dtype, .op = op}));
  for (const int offset : {1, 3}) {
    for (const std::int64_t n : {std::int64_t{2}, 2 * small})
      cases.push_back(make_case({.n = n, .dtype = dtype, .op = op, .offset = offset}));
  }
  for (const std::string_view density : {"0", "0.02", "1"})
    cases.push_back(make_case({.n = 2 * small + 3, .dtype = dtype, .op = op, .density = density}));
  cases.push_back(make_case({.n = 777, .dtype = dtype, .op = op, .fill = Fill::small_integers}));
  cases.push_back(make_case({.n = 999, .dtype = dtype, .op = op, .fill = Fill::equal}));
  if (is_float(dtype)) {
    for (const Fill fill : {Fill::nan_inside, Fill::special})
      cases.push_back(make_case({.n = 2050, .dtype = dtype, .op = op, .fill = fill}));
  }
}

// The ends of what a dtype holds, and beyond them.
void add_thresholds(std::vector<Case>& cases, DType dtype) {
  for (const std::string_view threshold :
       {"0.5", "-0.5", "-1", "126", "127", "-128", "254.5", "255", "-1e30", "1e30", "9223372036854775807"}) {
    cases.push_back(make_case({.n = 600, .dtype = dtype, .threshold = threshold, .fill = Fill::any_bits}));
  }
}

void add_large(std::vector<Case>& cases) {
  for (const std::string_view density : {"0.01", "0.99"})
    cases.push_back(make_case({.n = 1 << 18, .density = density}));
  cases.push_back(make_case({.n = 1 << 19, .density = "0.5"}));  // rings come round, on the simulated SM, too
  const LookAheadRing ring = select_plan::ring_of(size_of(DType::i32));
  cases.push_back(
      make_case({.n = ring.tile_bytes() / static_cast<std::int64_t>(size_of(DType::i32)), .density = "0.7"}));
  cases.push_back(make_case({.n = (1 << 18) + 3, .dtype = DType::u8, .op = "partition", .density = "0.3"}));
  cases.push_back(make_case({.n = 1 << 17, .dtype = DType::f32, .op = "flagged", .density = "0.5"}));
  cases.push_back(
      make_case({.n = (1 << 17) + 9, .dtype = DType::f64, .op = "unique", .density = "0.6", .offset = 1}));
  // The order of the others shows where they differ.
  for (const DType dtype : {DType::u8, DType::u32, DType::i8, DType::f16}) {
    cases.push_back(make_case(
        {.n = 70001, .dtype = dtype, .op = "partition", .density = "0.5", .threshold = "100", .offset = 3}));
  }
  for (const DType dtype : {DType::i32, DType::f16, DType::u8, DType::f64}) {
    for (const std::string_view op : {"flagged", "greater_than", "unique", "partition"}) {
      cases.push_back(
          make_case({.n = 1234567, .dtype = dtype, .op = op, .density = "0.4", .tier = CaseTier::full}));
      cases.push_back(make_case({.n = (1 << 22) + 1,
                                 .dtype = dtype,
                                 .op = op,
                                 .density = "0.9",
                                 .offset = 1,
                                 .tier = CaseTier::full}));
    }
  }
  cases.push_back(make_case({.n = 1 << 28, .density = "0.5", .tier = CaseTier::huge}));
  cases.push_back(make_case(
      {.n = (std::int64_t{1} << 31) + 1, .dtype = DType::u8, .density = "0.5", .tier = CaseTier::huge}));
  // Counts, and places of the others, beyond 2^31.
  for (const std::string_view op : {"greater_than", "partition"}) {
    cases.push_back(make_case({.n = (std::int64_t{1} << 31) + (1 << 16),
                               .dtype = DType::u8,
                               .op = op,
                               .density = op == "partition" ? "0.5" : "1",
                               .tier = CaseTier::huge}));
  }
}

std::vector<Case> select_cases() {
  std::vector<Case> cases;
  for (const DType dtype : kDTypes) {
    for (const std::string_view op : {"flagged", "greater_than", "unique", "partition"})
      add_lengths(cases, dtype, op);
    add_thresholds(cases, dtype);
  }
  for (const DType dtype : {DType::i32, DType::f32}) {
    for (const std::string_view op : {"flagged", "greater_than", "unique"}) {
      for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{257}, std::int64_t{4097}})
        cases.push_back(make_case({.n = n, .dtype = dtype, .op = op, .stable = false}));
    }
  }
  cases.push_back(make_case({.n = 1 << 16, .density = "0.5", .stable = false}));
  cases.push_back(make_case({.n = 1 << 20, .density = "0.5", .stable = false, .tier = CaseTier::full}));
  add_large(cases);
  return cases;
}

std::optional<double> density_of(const Case& c) {
  const auto* density = std::get_if<double>(&c.params.at("density"));
  return density == nullptr ? std::nullopt : std::optional(*density);
}
SelectOp op_of(const Case& c) { return enum_value<SelectOp>(c.params.get_string("op")); }

// A number in [0, 1) for element i.
double chance(std::uint64_t seed, std::int64_t i) {
  return philox4x32_10(philox_counter(static_cast<std::uint64_t>(i), 0), philox_key(seed)).x * 0x1p-32;
}

void set_number(HostTensor& tensor, std::int64_t i, std::int64_t number) {
  if (is_float(tensor.dtype())) {
    tensor.set(i, static_cast<double>(number));
  } else {  // the low bytes stand first
    const std::size_t size = size_of(tensor.dtype());
    std::memcpy(static_cast<std::byte*>(tensor.data()) + static_cast<std::size_t>(i) * size, &number, size);
  }
}

constexpr std::int64_t kGrain = 1 << 16;

// A share of `density` is above a whole threshold up to 100 by 1 to 27; the others are not, by up to 26 where the dtype has
// such numbers.
Draw drawn_above(double density, double threshold) {
  const auto limit = static_cast<std::int64_t>(std::clamp(threshold, -100.0, 100.0));
  return {.name = std::to_string(density) + " of them above " + std::to_string(limit),
          .fixed = {},
          .fill = [density, limit](HostTensor& tensor, std::uint64_t seed, std::span<const HostTensor>) {
            const bool has_negative = is_signed(tensor.dtype());
            in_parallel(tensor.numel(), kGrain, [&](std::int64_t first, std::int64_t last) {
              for (std::int64_t i = first; i < last; ++i) {
                const std::int64_t size = i % 27;
                const std::int64_t other =
                    has_negative ? limit - size : std::max<std::int64_t>(0, limit - size);
                set_number(tensor, i, chance(seed, i) < density ? limit + 1 + size : other);
              }
            });
            return Status();
          }};
}

Draw drawn_flags(double density) {
  return {.name = std::to_string(density) + " of them not 0",
          .fixed = {},
          .fill = [density](HostTensor& tensor, std::uint64_t seed, std::span<const HostTensor>) {
            in_parallel(tensor.numel(), kGrain, [&](std::int64_t first, std::int64_t last) {
              for (std::int64_t i = first; i < last; ++i)
                set_number(tensor, i, chance(seed, i) < density ? 1 + i % 255 : 0);
            });
            return Status();
          }};
}

// Runs of equal elements: a share of `density` begins one.
Draw drawn_runs(double density) {
  return {.name = "runs, begun by " + std::to_string(density) + " of them",
          .fixed = {},
          .fill = [density](HostTensor& tensor, std::uint64_t seed, std::span<const HostTensor>) {
            std::int64_t run = 0;
            for (std::int64_t i = 0; i < tensor.numel(); ++i) {
              if (chance(seed, i) < density) ++run;
              set_number(tensor, i, run % 100);
            }
            return Status();
          }};
}

bool draws_flags(const Case& c) { return op_of(c) == SelectOp::flagged; }

// Partitions of even lengths are by flags.
bool has_flags(const Case& c) {
  return draws_flags(c) || (op_of(c) == SelectOp::partition && shape_at(c.shape, "n") % 2 == 0);
}

// The share that is written: of cases without a density about so many.
double written_share(const Case& c) {
  if (op_of(c) == SelectOp::partition) return 1.0;
  return density_of(c).value_or(op_of(c) == SelectOp::unique ? 1.0 : 0.5);
}

Result<CasePlan> plan_case(const Case& c) {
  constexpr double kHalf = 0.5;
  const std::int64_t n = shape_at(c.shape, "n");
  const std::optional<double> density = density_of(c);
  const bool flags = has_flags(c);
  CasePlan plan;
  plan.inputs = {{.dtype = c.dtype, .shape = {n}}, {.dtype = DType::u8, .shape = {n}, .absent = !flags}};
  if (flags) {
    plan.inputs[1].draw = drawn_flags(density.value_or(kHalf));
  } else if (density) {
    plan.inputs[0].draw = op_of(c) == SelectOp::unique
                              ? drawn_runs(*density)
                              : drawn_above(*density, c.params.get_double("threshold"));
  }
  const auto size = static_cast<double>(size_of(c.dtype));
  const auto count = static_cast<double>(n);
  plan.read_bytes = count * (size + (flags ? 1 : 0));
  plan.write_bytes = count * size * written_share(c) + sizeof(std::int64_t);
  return plan;
}

// By the definition, one element after another.
template <class T>
class Definition {
 public:
  Definition(const Case& c, std::span<const HostTensor> inputs)
      : in_(inputs[0].as<T>()), op_(op_of(c)), threshold_(c.params.get_double("threshold")) {
    if (has_flags(c)) flags_ = inputs[1].as<std::uint8_t>();
  }
  [[nodiscard]] std::size_t size() const { return in_.size(); }
  [[nodiscard]] const T& operator[](std::size_t i) const { return in_[i]; }
  [[nodiscard]] bool is_chosen(std::size_t i) const {
    if (!flags_.empty()) return flags_[i] != 0;
    if (op_ == SelectOp::unique) return i == 0 || !(number(in_[i]) == number(in_[i - 1]));
    return number(in_[i]) > static_cast<long double>(threshold_);
  }

 private:
  static long double number(T x) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      return to_float(x);
    } else {
      return x;
    }
  }
  std::span<const T> in_;
  std::span<const std::uint8_t> flags_;
  SelectOp op_;
  double threshold_;
};

Result<Judge> judge_case(const Case& c, std::span<const HostTensor> inputs) {
  using Types = DTypes<double, float, Float16, BFloat16, std::int8_t, std::uint8_t, std::int32_t,
                       std::uint32_t, std::int64_t, std::uint64_t>;
  Selected wanted{.chosen = {}, .in_order = c.params.get_bool("stable")};
  ROOFTILE_TRY(dispatch(Types{}, c.dtype, [&]<class T>() -> Status {
    const Definition<T> definition(c, inputs);
    std::vector<T> chosen;
    std::vector<T> others;
    for (std::size_t i = 0; i < definition.size(); ++i) {
      if (definition.is_chosen(i))
        chosen.push_back(definition[i]);
      else if (op_of(c) == SelectOp::partition)
        others.push_back(definition[i]);
    }
    wanted.count = std::ssize(chosen);
    chosen.insert(chosen.end(), others.rbegin(), others.rend());
    ROOFTILE_TRY_ASSIGN(wanted.chosen, HostTensor::create(c.dtype, Extents{std::ssize(chosen)}));
    if (!chosen.empty()) std::memcpy(wanted.chosen.data(), chosen.data(), chosen.size() * sizeof(T));
    return {};
  }));
  return selected(std::move(wanted));
}

}  // namespace

void register_select_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "select";
  cases.shapes = {"n"};
  cases.default_case = make_case({.n = 1 << 28, .density = "0.5", .tier = CaseTier::huge});
  cases.default_host_case = make_case({.n = 1 << 24, .density = "0.5", .tier = CaseTier::huge});
  cases.cases = select_cases;
  cases.plan = plan_case;
  cases.judge = judge_case;
  registry.add(std::move(cases));
}

}  // namespace rooftile
