#include "rooftile/ops/scan/scan_ref.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "rooftile/cases/judges.h"
#include "rooftile/cases/rounding.h"
#include "rooftile/ops/scan/scan.h"

namespace rooftile {
namespace {

struct Problem {
  const HostTensor* in = nullptr;
  ScanOp op = ScanOp::sum;
  bool exclusive = false;
  std::optional<double> initial;
  std::int64_t length = 0;  // of a row

  [[nodiscard]] DType dtype() const { return in->dtype(); }
};

// Walks along all rows and calls at(i, state) for the elements that are looked at, `state` being what stands in front of
// element i (exclusive), or up to and with it.
template <class State, class Start, class Add, class At>
void walk(const Problem& p, const std::vector<std::int64_t>& indices, const Start& start, const Add& add,
          const At& at) {
  std::size_t next = 0;
  State state = start();
  const std::int64_t n = p.in->numel();
  for (std::int64_t i = 0; i < n; ++i) {
    if (i % p.length == 0) state = start();
    const bool looked_at = indices.empty() || (next < indices.size() && indices[next] == i);
    const auto place = static_cast<std::int64_t>(indices.empty() ? static_cast<std::size_t>(i) : next);
    if (looked_at && p.exclusive) at(place, state);
    add(state, i);
    if (looked_at && !p.exclusive) at(place, state);
    if (looked_at) ++next;
  }
}

// An addition rounds its result s by an error of variance (1.4 u s)^2 / 12, u being the accumulator's unit roundoff. Over a
// serial chain of L terms of random sign s grows as a random walk, and all additions in front of a result together round
// off u * sqrt(L / 12) * |x|_2, x being what meets in it; `kDeviations` times that is allowed. The longest chain is that of
// tiles which look back one by one. An element that is left out is a hundred times larger.
void float_sums(const Problem& p, Expected& expected) {
  struct State {
    long double sum = 0;
    double squares = 0;
    std::int64_t count = 0;
  };
  constexpr double kLongestChain = 65536;
  constexpr double kDeviations = 6;  // the largest of a hundred million such errors
  const double u = p.dtype() == DType::f64 ? 0x1p-53 : 0x1p-24;
  const double initial = p.initial.value_or(0.0);
  const double denormal = p.dtype() == DType::f16 ? 0x1p-25 : 0.0;
  walk<State>(
      p, expected.indices,
      [&] {
        return State{initial, initial * initial, 0};
      },
      [&](State& state, std::int64_t i) {
        const double x = p.in->at(i);
        state.sum += x;
        state.squares += x * x;
        ++state.count;
      },
      [&](std::int64_t place, const State& state) {
        const auto exact = static_cast<double>(state.sum);
        expected.exact.set(place, exact);
        double floor = 0;
        if (std::isfinite(exact) && std::isfinite(state.squares)) {
          const double chain = std::min(static_cast<double>(state.count) + 1, kLongestChain);
          floor = kDeviations * u * std::sqrt(chain / 12.0 * state.squares) +
                  1.01 * unit_roundoff(p.dtype()) * std::abs(exact) + denormal;
        }
        expected.floors.set(place, floor);
      });
  expected.factor = 0;
  expected.rule = "the rounding of serial chains of 65536 additions, and of out";
}

void integer_sums(const Problem& p, Expected& expected) {
  const auto bits_at = [&](std::int64_t i) -> std::uint64_t {
    if (p.dtype() == DType::u64) return p.in->as<std::uint64_t>()[static_cast<std::size_t>(i)];
    if (p.dtype() == DType::i64)
      return static_cast<std::uint64_t>(p.in->as<std::int64_t>()[static_cast<std::size_t>(i)]);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(p.in->at(i)));
  };
  const auto initial = static_cast<std::uint64_t>(static_cast<std::int64_t>(p.initial.value_or(0.0)));
  const std::size_t size = size_of(p.dtype());
  walk<std::uint64_t>(
      p, expected.indices, [&] { return initial; },
      [&](std::uint64_t& sum, std::int64_t i) { sum += bits_at(i); },
      [&](std::int64_t place, std::uint64_t sum) {  // the low bytes stand first
        std::memcpy(static_cast<std::byte*>(expected.exact.data()) + static_cast<std::size_t>(place) * size,
                    &sum, size);
      });
}

// The place of the best element in front, -1: the initial value.
void extremes(const Problem& p, Expected& expected) {
  const bool largest = p.op == ScanOp::max;
  const bool wide = p.dtype() == DType::i64 || p.dtype() == DType::u64;  // not all of them are doubles
  const auto wide_beats = [&](std::int64_t a, std::int64_t b) {
    const auto i = static_cast<std::size_t>(a);
    const auto j = static_cast<std::size_t>(b);
    if (p.dtype() == DType::u64)
      return largest ? p.in->as<std::uint64_t>()[i] > p.in->as<std::uint64_t>()[j]
                     : p.in->as<std::uint64_t>()[i] < p.in->as<std::uint64_t>()[j];
    return largest ? p.in->as<std::int64_t>()[i] > p.in->as<std::int64_t>()[j]
                   : p.in->as<std::int64_t>()[i] < p.in->as<std::int64_t>()[j];
  };
  const auto beats = [&](double x, double y) {
    if (std::isnan(y)) return false;
    return std::isnan(x) || (largest ? x > y : x < y);
  };
  struct Best {
    std::int64_t at = -1;
    double value = 0;
  };
  const auto is_better = [&](const Best& best, std::int64_t i, double x) {
    if (best.at < 0) return !p.initial || beats(x, *p.initial);
    return wide ? wide_beats(i, best.at) : beats(x, best.value);
  };
  const std::size_t size = size_of(p.dtype());
  walk<Best>(
      p, expected.indices, [] { return Best{}; },
      [&](Best& best, std::int64_t i) {
        const double x = p.in->at(i);
        if (is_better(best, i, x)) best = {i, x};
      },
      [&](std::int64_t place, const Best& best) {
        auto* to = static_cast<std::byte*>(expected.exact.data()) + static_cast<std::size_t>(place) * size;
        if (is_float(p.dtype())) {
          const double infinity = std::numeric_limits<double>::infinity();
          const double none = p.initial ? rounded_to(p.dtype(), *p.initial) : largest ? -infinity : infinity;
          expected.exact.set(place, best.at < 0 ? none : best.value);
        } else if (best.at >= 0) {
          std::memcpy(to,
                      static_cast<const std::byte*>(p.in->data()) + static_cast<std::size_t>(best.at) * size,
                      size);
        } else if (p.initial) {
          const auto value = static_cast<std::int64_t>(*p.initial);
          std::memcpy(to, &value, size);
        } else {
          // The dtype's smallest value where the largest is looked for, and the other way round.
          const std::uint64_t ones = ~std::uint64_t{0} >> (64 - 8 * size);
          const std::uint64_t sign = (ones >> 1) + 1;
          const std::uint64_t lowest = is_signed(p.dtype()) ? sign : 0;
          const std::uint64_t value = largest ? lowest : lowest ^ ones;
          std::memcpy(to, &value, size);
        }
      });
}

}  // namespace

Result<std::vector<Expected>> scan_reference(const Case& c, std::span<const HostTensor> inputs) {
  Problem p;
  p.in = inputs.data();
  p.op = enum_value<ScanOp>(c.params.get_string("op"));
  p.exclusive = c.params.get_bool("exclusive");
  if (const auto* initial = std::get_if<double>(&c.params.at("initial"))) p.initial = *initial;
  const Extents& shape = p.in->shape();
  p.length = std::max<std::int64_t>(1, shape[shape.rank() - 1]);

  std::vector<Expected> outputs(1);
  Expected& expected = outputs[0];
  constexpr std::int64_t kAll = std::int64_t{1} << 25;
  const std::int64_t n = p.in->numel();
  if (n > kAll) expected.indices = sampled_indices(n, c.seed);
  const Extents places = n > kAll ? Extents{std::ssize(expected.indices)} : shape;
  const bool floats = is_float(p.dtype());
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(floats ? DType::f64 : p.dtype(), places));
  expected.factor = 0;
  expected.rule = "exact";
  if (p.op != ScanOp::sum) {
    extremes(p, expected);
  } else if (floats) {
    ROOFTILE_TRY_ASSIGN(expected.floors, HostTensor::create(DType::f64, places));
    float_sums(p, expected);
  } else {
    integer_sums(p, expected);
  }
  return outputs;
}

}  // namespace rooftile
