// CPU rung threaded: cores have rows, or parts of rows; a part goes through a buffer in L1, in loops that the compiler makes
// vectors of.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <bit>

#include "rooftile/core/integers.h"
#include "rooftile/ops/softmax/softmax_cpu.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {
namespace {

constexpr float kNegativeInfinity = -std::numeric_limits<float>::infinity();
constexpr std::int64_t kBuffer = 1024;
constexpr int kLanes = 16;  // independent chains
using Buffer = std::array<float, static_cast<std::size_t>(kBuffer)>;

// 2^x for x <= 0, relatively to some 3e-7; 0 below -126. NaN of NaN. A Taylor series of 2^f for f in [-1/2, 1/2].
inline float power_of_two(float x) {
  const float bounded = x < -126.0f ? -126.0f : x;
  const float shifted = bounded + 12582912.0f;  // 1.5 * 2^23: the nearest integer in the lowest bits
  const float f = bounded - (shifted - 12582912.0f);
  float p = 1.540353e-4f;
  p = p * f + 1.3333558e-3f;
  p = p * f + 9.6181291e-3f;
  p = p * f + 5.5504109e-2f;
  p = p * f + 2.4022651e-1f;
  p = p * f + 6.9314718e-1f;
  p = p * f + 1.0f;
  const auto exponent = std::bit_cast<std::uint32_t>(shifted) << 23;
  const float power = std::bit_cast<float>(std::bit_cast<std::uint32_t>(p) + exponent);
  return x < -126.0f ? 0.0f : x == x ? power : x;
}

// Elements first ... last - 1 of a row, a buffer of them at a time.
template <class T, class Body>
void for_buffers(const Row<T>& row, std::int64_t first, std::int64_t last, Body body) {
  Buffer values;
  for (; first < last; first += kBuffer) {
    const std::int64_t count = smaller(kBuffer, last - first);
    for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = row.value(first + i);
    body(values, first, count);
  }
}

struct Stats {
  double sum = 0;
  float maximum = kNegativeInfinity;  // NaN where there is one
};

static_assert(sizeof(Stats) == softmax_plan::kCpuStatsBytes);

float finite_or_zero(float maximum) { return maximum == kNegativeInfinity ? 0.0f : maximum; }

// Elements of a row, and the sum relative to their own maximum.
template <class T>
Stats stats_of(const Row<T>& row, std::int64_t first, std::int64_t last, float scale) {
  Stats stats;
  float nan = 0;
  for_buffers(row, first, last, [&](const Buffer& values, std::int64_t, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const float value = values[static_cast<std::size_t>(i)];
      nan = value != value ? value : nan;
      stats.maximum = value > stats.maximum ? value : stats.maximum;
    }
  });
  if (nan != nan) stats.maximum = nan;
  const float reference = finite_or_zero(stats.maximum);
  for_buffers(row, first, last, [&](Buffer& values, std::int64_t, std::int64_t count) {
    for (std::int64_t i = count; i < ceil_div(count, kLanes) * kLanes; ++i)
      values[static_cast<std::size_t>(i)] = kNegativeInfinity;
    std::array<float, kLanes> sums{};
    for (std::int64_t i = 0; i < count; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane)
        sums[static_cast<std::size_t>(lane)] +=
            power_of_two((values[static_cast<std::size_t>(i + lane)] - reference) * scale);
    }
    for (const float sum : sums) stats.sum += sum;
  });
  return stats;
}

Stats combined(const Stats& a, const Stats& b, double scale) {
  if (std::isnan(a.maximum) || std::isnan(b.maximum)) return {a.sum, a.maximum + b.maximum};
  const float maximum = std::max(a.maximum, b.maximum);
  const auto at = [&](const Stats& part) {
    return part.sum * std::exp2((static_cast<double>(part.maximum) - finite_or_zero(maximum)) * scale);
  };
  return {at(a) + at(b), maximum};
}

template <class T>
void write(const Row<T>& row, std::int64_t first, std::int64_t last, const Stats& stats,
           const SoftmaxArgs& args, float scale) {
  const float reference = finite_or_zero(stats.maximum);
  const bool is_empty = stats.sum == 0;  // of -inf alone
  const auto factor = static_cast<float>(args.log ? 1 / args.temperature : is_empty ? 0.0 : 1 / stats.sum);
  const auto logarithm = static_cast<float>(is_empty ? 0.0 : std::log(stats.sum));
  for_buffers(row, first, last, [&](Buffer& values, std::int64_t at, std::int64_t count) {
    if (args.log) {
      for (std::int64_t i = 0; i < count; ++i) {
        float& value = values[static_cast<std::size_t>(i)];
        value = (value - reference) * factor - logarithm;
      }
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        float& value = values[static_cast<std::size_t>(i)];
        value = power_of_two((value - reference) * scale) * factor;
      }
    }
    for (std::int64_t i = 0; i < count; ++i) row.store(at + i, values[static_cast<std::size_t>(i)]);
  });
}

template <class Body>
void for_all(std::int64_t count, const Body& body) {
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count, 1), [&](const auto& range) {
    for (std::int64_t i = range.begin(); i < range.end(); ++i) body(i);
  });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxArgs>& call) {
  const SoftmaxArgs& args = call.args;
  const Rows<kTensors> rows = softmax_plan::geometry(args);
  const auto scale = static_cast<float>(1.4426950408889634 / args.temperature);
  const std::int64_t parts = ceil_div(rows.length, softmax_plan::kCpuPart);
  return dispatch_floats(args, [&]<class T>() -> Status {
    const auto range = [&](std::int64_t part) {
      const std::int64_t first = part * softmax_plan::kCpuPart;
      return std::pair(first, smaller(first + softmax_plan::kCpuPart, rows.length));
    };
    if (parts <= 1) {
      for_all(rows.count, [&](std::int64_t r) {
        const Row<T> row = row_of<T>(args, rows, r);
        write(row, 0, rows.length, stats_of(row, 0, rows.length, scale), args, scale);
      });
      return {};
    }
    auto* found = static_cast<Stats*>(call.workspace.data);
    for_all(rows.count * parts, [&](std::int64_t task) {
      const auto [first, last] = range(task % parts);
      found[task] = stats_of(row_of<T>(args, rows, task / parts), first, last, scale);
    });
    for_all(rows.count, [&](std::int64_t r) {
      Stats& all = found[r * parts];
      for (std::int64_t part = 1; part < parts; ++part) all = combined(all, found[r * parts + part], scale);
    });
    for_all(rows.count * parts, [&](std::int64_t task) {
      const auto [first, last] = range(task % parts);
      write(row_of<T>(args, rows, task / parts), first, last, found[task / parts * parts], args, scale);
    });
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
