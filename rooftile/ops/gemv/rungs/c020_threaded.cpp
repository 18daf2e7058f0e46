// CPU rung threaded: every core a part of the outputs, along what lies side by side.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>

#include "rooftile/ops/gemv/gemv_cpu.h"

namespace rooftile::ROOFTILE_TARGET::gemv_rungs {
namespace {

constexpr std::int64_t kLanes = 16;    // independent chains: cover an addition's latency at SIMD width
constexpr std::int64_t kPanel = 512;   // columns that a core walks down at a time: their sums stay in L1
constexpr std::int64_t kChain = 1024;  // additions of a chain in f32, before its sum goes to one in double
constexpr std::int64_t kGrain = std::int64_t{1} << 14;  // elements that are worth a task

template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

// `step`: a constant where x has no gaps.
template <class T, class Step>
double row_sum(const T* a, const T* x, Step step, std::int64_t n) {
  double total = 0;
  for (std::int64_t first = 0; first < n; first += kLanes * kChain) {
    const std::int64_t last = std::min(first + kLanes * kChain, n);
    std::array<Sum<T>, static_cast<std::size_t>(kLanes)> sums{};
    std::int64_t i = first;
    for (; i + kLanes <= last; i += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane)
        sums[static_cast<std::size_t>(lane)] += number(a[i + lane]) * number(x[(i + lane) * step]);
    }
    for (; i < last; ++i) total += static_cast<double>(number(a[i])) * number(x[i * step]);
    for (const Sum<T> sum : sums) total += sum;
  }
  return total;
}

template <class T>
void multiply_rows(const Operands<T>& operands, std::int64_t batch, std::int64_t first, std::int64_t last) {
  using One = std::integral_constant<std::int64_t, 1>;
  const gemv_plan::Geometry& shape = operands.shape;
  const T* x = static_cast<const T*>(operands.args.x.data) + batch * shape.x_batch;
  for (std::int64_t row = first; row < last; ++row) {
    const T* a = operands.row(batch, row);
    operands.store(
        batch, row,
        shape.x_step == 1 ? row_sum(a, x, One{}, shape.columns) : row_sum(a, x, shape.x_step, shape.columns));
  }
}

// Columns first ... last - 1, kPanel of them at most.
template <class T>
void multiply_columns(const Operands<T>& operands, std::int64_t batch, std::int64_t first,
                      std::int64_t last) {
  const std::int64_t count = last - first;
  std::array<double, static_cast<std::size_t>(kPanel)> totals{};
  for (std::int64_t block = 0; block < operands.shape.rows; block += kChain) {
    std::array<Sum<T>, static_cast<std::size_t>(kPanel)> sums{};
    for (std::int64_t row = block; row < std::min(block + kChain, operands.shape.rows); ++row) {
      const T* a = operands.row(batch, row) + first;
      const Sum<T> x = number(operands.x(batch, row));
      for (std::int64_t i = 0; i < count; ++i) sums[static_cast<std::size_t>(i)] += number(a[i]) * x;
    }
    for (std::int64_t i = 0; i < count; ++i)
      totals[static_cast<std::size_t>(i)] += sums[static_cast<std::size_t>(i)];
  }
  for (std::int64_t i = 0; i < count; ++i)
    operands.store(batch, first + i, totals[static_cast<std::size_t>(i)]);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemvArgs>& call) {
  return dispatch(Types{}, call.args.a.dtype, [&]<class T>() -> Status {
    const Operands<T> operands(call.args);
    const gemv_plan::Geometry& shape = operands.shape;
    // Units are rows, or panels of columns, of one matrix: who takes one changes no bit.
    const std::int64_t width = shape.transposed ? kPanel : 1;
    const std::int64_t units = ceil_div(shape.outputs(), width);
    const auto multiply = [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t unit = from; unit < to; ++unit) {
        const std::int64_t batch = unit / units;
        const std::int64_t first = unit % units * width;
        const std::int64_t last = std::min(first + width, shape.outputs());
        if (shape.transposed) {
          multiply_columns(operands, batch, first, last);
        } else {
          multiply_rows(operands, batch, first, last);
        }
      }
    };
    const std::int64_t all = shape.batches * units;
    const std::int64_t grain = larger(1, kGrain / larger(1, width * shape.reduced()));
    if (all <= grain) {
      multiply(0, all);
    } else {
      tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, all, static_cast<std::size_t>(grain)),
                        [&](const auto& range) { multiply(range.begin(), range.end()); });
    }
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemv_rungs
