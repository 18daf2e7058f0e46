// CPU rung threaded: 16 accumulators per thread, every core a part of its own.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>

#include "rooftile/ops/dot/dot_cpu.h"

namespace rooftile::ROOFTILE_TARGET::dot_rungs {
namespace {

// Products first ... last - 1, whose strides are `a` and `b` (constants where the vectors have no gaps).
template <class T, class A, class B>
double sum_lanes(const Elements<T>& x, std::int64_t first, std::int64_t last, A a, B b) {
  constexpr std::int64_t kLanes = 16;  // independent chains: cover an addition's latency at SIMD width
  std::array<double, kLanes> sums{};
  std::int64_t i = first;
  for (; i + kLanes <= last; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      sums[static_cast<std::size_t>(lane)] += number(x.a[(i + lane) * a]) * number(x.b[(i + lane) * b]);
    }
  }
  double total = 0;
  for (; i < last; ++i) total += number(x.a[i * a]) * number(x.b[i * b]);
  for (const double sum : sums) total += sum;
  return total;
}

// What a chain of additions runs over: 1024 in each of the 16 lanes.
constexpr std::int64_t kGrain = std::int64_t{16} * 1024;
// Partial sums, on the caller's stack.
constexpr std::int64_t kMostParts = 256;

template <class T>
double sum_part(const Elements<T>& x, std::int64_t first, std::int64_t last) {
  using One = std::integral_constant<std::int64_t, 1>;
  double total = 0;
  for (std::int64_t at = first; at < last; at += kGrain) {
    const std::int64_t end = std::min(at + kGrain, last);
    total += x.dense() ? sum_lanes(x, at, end, One{}, One{}) : sum_lanes(x, at, end, x.a_stride, x.b_stride);
  }
  return total;
}

}  // namespace

Status ROOFTILE_RUNG(const Call<DotArgs>& call) {
  return dispatch(Types{}, call.args.a.dtype, [&]<class T>() -> Status {
    const Elements<T> x(call.args);
    const std::int64_t n = call.args.a.numel();
    // The parts follow from n alone, so that the order of additions does not depend on threads.
    const std::int64_t grains = (n + kGrain - 1) / kGrain;
    const std::int64_t part = std::max<std::int64_t>(1, (grains + kMostParts - 1) / kMostParts) * kGrain;
    const std::int64_t parts = (n + part - 1) / part;
    std::array<double, static_cast<std::size_t>(kMostParts)> partials{};
    const auto sum_parts = [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t p = first; p < last; ++p)
        partials[static_cast<std::size_t>(p)] = sum_part(x, p * part, std::min((p + 1) * part, n));
    };
    if (parts <= 1) {
      sum_parts(0, parts);
    } else {
      tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, parts),
                        [&](const auto& range) { sum_parts(range.begin(), range.end()); });
    }
    double total = 0;
    for (const double partial : partials) total += partial;
    store_from_double(call.args.out.data, call.args.out.dtype, total);
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::dot_rungs
