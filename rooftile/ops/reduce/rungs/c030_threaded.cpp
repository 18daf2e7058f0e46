// CPU rung threaded: 16 accumulators per thread, every core a part of its own.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <array>

#include "rooftile/ops/reduce/reduce_cpu.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

template <class Reduction, class Elements>
auto reduce_lanes(const Reduction& reduction, const Elements& x, std::int64_t first, std::int64_t last) {
  using Acc = typename Reduction::Acc;
  constexpr std::int64_t kLanes =
      16;  // independent chains: enough to cover an addition's latency at SIMD width
  std::array<Acc, kLanes> acc;
  acc.fill(Reduction::identity());
  std::int64_t i = first;
  for (; i + kLanes <= last; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      auto& a = acc[static_cast<std::size_t>(lane)];
      a = reduction.take(a, x[i + lane], i + lane);
    }
  }
  Acc total = reduce_serial(reduction, x, i, last);
  for (const Acc& a : acc) total = reduction.combine(total, a);
  return total;
}

// Elements that one task takes: a chain of 1024 additions in each of the 16 lanes.
constexpr std::int64_t kGrain = std::int64_t{16} * 1024;

template <class Reduction, class Elements>
auto reduce_threaded(const Reduction& reduction, const Elements& x, std::int64_t n) {
  using Acc = typename Reduction::Acc;
  // The deterministic variant splits by the range alone, so that the order of additions does not depend on
  // threads.
  return tbb::parallel_deterministic_reduce(
      tbb::blocked_range<std::int64_t>(0, n, kGrain), Reduction::identity(),
      [&](const tbb::blocked_range<std::int64_t>& range, Acc acc) {
        return reduction.combine(acc, reduce_lanes(reduction, x, range.begin(), range.end()));
      },
      [&](Acc a, Acc b) { return reduction.combine(a, b); }, tbb::simple_partitioner());
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  const Layout layout = layout_of(call.args);
  return dispatch<Precision::at_least_double>(call.args, [&]<class T>(const auto& reduction) -> Status {
    if (layout.outputs == 1) {
      store(reduction, call.args, 0,
            with_elements<T>(call.args, layout, 0,
                             [&](const auto& x) { return reduce_threaded(reduction, x, layout.count); }),
            layout.count);
      return {};
    }
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, layout.count));
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, layout.outputs, grain), [&](const auto& range) {
      for (std::int64_t o = range.begin(); o < range.end(); ++o) {
        store(reduction, call.args, o,
              with_elements<T>(call.args, layout, o,
                               [&](const auto& x) { return reduce_lanes(reduction, x, 0, layout.count); }),
              layout.count);
      }
    });
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
