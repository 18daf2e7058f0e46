// CPU rung threaded: 16 accumulators per thread, every core a part of its own.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>

#include "rooftile/core/integers.h"
#include "rooftile/ops/reduce/reduce_cpu.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

// Elements first ... first + count of an output.
template <class Reduction, class T>
auto reduce_lanes(const Reduction& reduction, const Elements<T>& elements, std::int64_t first,
                  std::int64_t count) -> typename Reduction::Acc {
  constexpr std::int64_t kChunk = Elements<T>::kChunk;
  constexpr std::int64_t kLanes = 16;  // independent chains: cover an addition's latency at SIMD width
  typename Elements<T>::Buffer buffer;
  std::array<typename Reduction::Acc, kLanes> acc;
  acc.fill(Reduction::identity());
  auto total = Reduction::identity();
  for (std::int64_t at = first; at < first + count; at += kChunk) {
    const std::int64_t n = std::min(first + count - at, kChunk);
    const T* x = elements.chunk(at, n, buffer);
    std::int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        auto& a = acc[static_cast<std::size_t>(lane)];
        a = reduction.take(a, x[i + lane], at + i + lane);
      }
    }
    total = reduce_serial(reduction, total, x + i, at + i, n - i);
  }
  for (const auto& a : acc) total = reduction.combine(total, a);
  return total;
}

// Elements that one task takes at least: a chain of 1024 additions in each of the 16 lanes.
constexpr std::int64_t kGrain = std::int64_t{16} * 1024;
// Partial results of one output, on the caller's stack.
constexpr std::int64_t kMostParts = 256;

// body(first, last) over parts of 0 ... count, several at a time; one instantiation of TBB's machinery for
// all.
class Body {
 public:
  template <class F>
  explicit Body(const F& f)
      : f_(&f), call_([](const void* g, std::int64_t first, std::int64_t last) {
          (*static_cast<const F*>(g))(first, last);
        }) {}
  void operator()(std::int64_t first, std::int64_t last) const { call_(f_, first, last); }

 private:
  const void* f_;
  void (*call_)(const void*, std::int64_t, std::int64_t);
};
void in_parallel(std::int64_t count, std::int64_t grain, const Body& body) {
  if (count <= grain) return body(0, count);
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count, static_cast<std::size_t>(grain)),
                    [&](const auto& range) { body(range.begin(), range.end()); });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  const Layout layout = layout_of(call.args);
  return dispatch<Precision::at_least_double>(call.args, [&]<class T>(const auto& reduction) -> Status {
    using Acc = typename std::remove_cvref_t<decltype(reduction)>::Acc;
    const auto reduce_grains = [&](const Elements<T>& x, std::int64_t first, std::int64_t last) {
      Acc total = reduction.identity();
      for (std::int64_t at = first; at < last; at += kGrain) {
        total = reduction.combine(total, reduce_lanes(reduction, x, at, std::min(last - at, kGrain)));
      }
      return total;
    };
    if (layout.outputs != 1) {
      const auto body = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t o = first; o < last; ++o) {
          store(reduction, call.args, o, reduce_grains(elements_of<T>(call.args, layout, o), 0, layout.count),
                layout.count);
        }
      };
      in_parallel(layout.outputs, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, layout.count)),
                  Body(body));
      return {};
    }
    // The parts follow from the count alone, so that the order of additions does not depend on threads.
    const std::int64_t grains = ceil_div(layout.count, kGrain);
    const std::int64_t part = ceil_div(grains, kMostParts) * kGrain;
    const std::int64_t parts = layout.count == 0 ? 0 : ceil_div(layout.count, part);
    const Elements<T> x = elements_of<T>(call.args, layout, 0);
    std::array<Acc, static_cast<std::size_t>(kMostParts)> partials;
    const auto body = [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t p = first; p < last; ++p) {
        partials[static_cast<std::size_t>(p)] =
            reduce_grains(x, p * part, std::min((p + 1) * part, layout.count));
      }
    };
    in_parallel(parts, 1, Body(body));
    Acc total = reduction.identity();
    for (std::int64_t p = 0; p < parts; ++p) {
      total = reduction.combine(total, partials[static_cast<std::size_t>(p)]);
    }
    store(reduction, call.args, 0, total, layout.count);
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
