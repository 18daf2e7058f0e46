// The CPU rungs of layer_norm and rms_norm, in double.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "rooftile/core/element.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/families/norm/norm_plan.h"

namespace rooftile::cpu::norm {

using norm_plan::kX, norm_plan::kResidual, norm_plan::kY, norm_plan::kTensors;

template <class T>
float number(T x) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else {
    return to_float(x);
  }
}
template <class T>
T rounded(double value) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(value);
  } else {
    T result;
    store_from_double(&result, dtype_of<T>, value);
    return result;
  }
}

template <class T>
struct Row {
  const T* x;
  T* residual;      // null: none
  const T* weight;  // null: ones
  const T* bias;    // null: zeros
  T* y;
  const Rows<kTensors>& rows;

  // With the residual, which keeps the sum: once for every element.
  [[nodiscard]] double take(std::int64_t j) const {
    const T own = x[j * rows.tensors[kX].step];
    if (residual == nullptr) return number(own);
    T& sum = residual[j * rows.tensors[kResidual].step];
    sum = rounded<T>(number(own) + number(sum));
    return number(sum);
  }
  [[nodiscard]] double again(std::int64_t j) const {
    return number(residual == nullptr ? x[j * rows.tensors[kX].step]
                                      : residual[j * rows.tensors[kResidual].step]);
  }
  void store(std::int64_t j, double normalised) const {
    if (weight != nullptr) normalised *= number(weight[j]);
    if (bias != nullptr) normalised += number(bias[j]);
    y[j * rows.tensors[kY].step] = rounded<T>(normalised);
  }
};

template <class T, class Args>
Row<T> row_of(const Args& args, const Rows<kTensors>& rows, std::int64_t r) {
  const auto offset = [&](std::size_t tensor) {
    const RowPitch& place = rows.tensors[tensor];
    return r / rows.inner * place.outer_pitch + r % rows.inner * place.pitch;
  };
  const T* bias = nullptr;
  if constexpr (requires { args.bias; })
    bias = static_cast<const T*>(is_absent(args.bias) ? nullptr : args.bias.data);
  return {static_cast<const T*>(args.x.data) + offset(kX),
          is_absent(args.residual) ? nullptr : static_cast<T*>(args.residual.data) + offset(kResidual),
          static_cast<const T*>(is_absent(args.weight) ? nullptr : args.weight.data),
          bias,
          static_cast<T*>(args.y.data) + offset(kY),
          rows};
}

// Of some elements: how many, their centre (0 where there is none), and the squares of their differences from it.
struct Stats {
  double count = 0;
  double mean = 0;
  double squares = 0;
};
static_assert(sizeof(Stats) == norm_plan::kCpuStatsBytes);

inline Stats combined(const Stats& a, const Stats& b) {
  const double count = a.count + b.count;
  if (count == 0) return {};
  const double apart = b.mean - a.mean;
  const double share = b.count / count;
  return {count, a.mean + apart * share, a.squares + b.squares + apart * apart * a.count * share};
}

inline double inverse_deviation(const Stats& stats, double eps) {
  return 1 / std::sqrt(stats.squares / stats.count + eps);
}

// Calls body.operator()<T>().
template <class Args, class Body>
Status dispatch_floats(const Args& args, Body&& body) {
  return dispatch(DTypes<float, Float16, BFloat16>{}, args.x.dtype, std::forward<Body>(body));
}

// The definition: three loops over a row.
template <bool kCentred, class Args>
Status serial(const Call<Args>& call) {
  const Rows<kTensors> rows = norm_plan::geometry(call.args);
  return dispatch_floats(call.args, [&]<class T>() -> Status {
    for (std::int64_t r = 0; r < rows.count; ++r) {
      const Row<T> row = row_of<T>(call.args, rows, r);
      double sum = 0;
      for (std::int64_t j = 0; j < rows.length; ++j) sum += row.take(j);
      Stats stats{static_cast<double>(rows.length), kCentred ? sum / static_cast<double>(rows.length) : 0.0,
                  0};
      for (std::int64_t j = 0; j < rows.length; ++j)
        stats.squares += (row.again(j) - stats.mean) * (row.again(j) - stats.mean);
      const double factor = inverse_deviation(stats, call.args.eps);
      for (std::int64_t j = 0; j < rows.length; ++j) row.store(j, (row.again(j) - stats.mean) * factor);
    }
    return {};
  });
}

// Elements first ... last - 1 of a row: a buffer of them at a time, in loops that the compiler makes vectors of.
template <bool kCentred, class T>
Stats stats_of(const Row<T>& row, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t kBuffer = 1024;
  constexpr std::size_t kLanes = 8;  // independent chains
  std::array<double, static_cast<std::size_t>(kBuffer)> values;
  Stats stats;
  for (; first < last; first += kBuffer) {
    const std::int64_t count = smaller(kBuffer, last - first);
    const auto whole = static_cast<std::size_t>(count) / kLanes * kLanes;
    for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = row.take(first + i);
    const auto sum_of = [&](auto term) {
      std::array<double, kLanes> sums{};
      for (std::size_t i = 0; i < whole; i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += term(values[i + lane]);
      double sum = 0;
      for (const double part : sums) sum += part;
      for (std::size_t i = whole; i < static_cast<std::size_t>(count); ++i) sum += term(values[i]);
      return sum;
    };
    const double mean = kCentred ? sum_of([](double v) { return v; }) / static_cast<double>(count) : 0.0;
    stats = combined(
        stats, {static_cast<double>(count), mean, sum_of([&](double v) { return (v - mean) * (v - mean); })});
  }
  return stats;
}

template <class Body>
void for_all(std::int64_t count, const Body& body) {
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, count, 1), [&](const auto& range) {
    for (std::int64_t i = range.begin(); i < range.end(); ++i) body(i);
  });
}

// Cores have rows, or parts of long rows.
template <bool kCentred, class Args>
Status threaded(const Call<Args>& call) {
  const Args& args = call.args;
  const Rows<kTensors> rows = norm_plan::geometry(args);
  const std::int64_t parts = ceil_div(rows.length, norm_plan::kCpuPart);
  return dispatch_floats(args, [&]<class T>() -> Status {
    const auto range = [&](std::int64_t part) {
      const std::int64_t first = part * norm_plan::kCpuPart;
      return std::pair(first, smaller(first + norm_plan::kCpuPart, rows.length));
    };
    const auto write = [&](const Row<T>& row, std::int64_t first, std::int64_t last, const Stats& stats) {
      const double factor = inverse_deviation(stats, args.eps);
      for (std::int64_t j = first; j < last; ++j) row.store(j, (row.again(j) - stats.mean) * factor);
    };
    if (parts <= 1) {
      for_all(rows.count, [&](std::int64_t r) {
        const Row<T> row = row_of<T>(args, rows, r);
        write(row, 0, rows.length, stats_of<kCentred>(row, 0, rows.length));
      });
      return {};
    }
    auto* found = static_cast<Stats*>(call.workspace.data);
    for_all(rows.count * parts, [&](std::int64_t task) {
      const auto [first, last] = range(task % parts);
      found[task] = stats_of<kCentred>(row_of<T>(args, rows, task / parts), first, last);
    });
    for_all(rows.count, [&](std::int64_t r) {
      Stats& all = found[r * parts];
      for (std::int64_t part = 1; part < parts; ++part) all = combined(all, found[r * parts + part]);
    });
    for_all(rows.count * parts, [&](std::int64_t task) {
      const auto [first, last] = range(task % parts);
      write(row_of<T>(args, rows, task / parts), first, last, found[task / parts * parts]);
    });
    return {};
  });
}

}  // namespace rooftile::cpu::norm
