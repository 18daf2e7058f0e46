// What the rungs of layer_norm and rms_norm share: a call's tensors, a row's statistics, and from arguments to types.
//
// A row is normalised about a centre: its mean (Centred, layer_norm), or 0 (Uncentred, rms_norm).
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/device/fast_math.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/rounded.h"
#include "rooftile/device/row_places.h"
#include "rooftile/device/row_threads.h"
#include "rooftile/device/types.h"
#include "rooftile/device/vec.h"
#include "rooftile/device/warp.h"
#include "rooftile/families/norm/norm_plan.h"

namespace rooftile::ROOFTILE_TARGET::norm {

using norm_plan::Cut, norm_plan::kX, norm_plan::kResidual, norm_plan::kY, norm_plan::kTensors;

// Sums over lanes.
template <class Lanes, class Real>
__device__ __forceinline__ Real lanes_sum(Lanes, Real x) {
  return lanes_reduce<Lanes::value>(x, [](Real a, Real b) { return a + b; });
}
// That of the first of them.
template <class Lanes, class Real>
__device__ __forceinline__ Real lanes_first(Lanes, Real x) {
  return shuffle(x, lane_index() & ~(Lanes::value - 1));
}

// sum / count; of none 0. A division of nvcc's has a way of its own for a sum of 0, on which whole warps wait: 14 % of short rows.
__device__ __forceinline__ float quotient(float sum, float count) {
  const float share = fast_reciprocal(fmaxf(count, 1.0f));
  const float first = sum * share;
  return fmaf(fmaf(-first, count, sum), share, first);
}

// Of some elements, less a number that lies among them: their sum, and their squares'.
struct Differences {
  float sum = 0;
  float squares = 0;
  __device__ __forceinline__ void add(float difference) {
    sum += difference;
    squares = fmaf(difference, difference, squares);
  }
};

// Of some elements of a row: how many, their mean, and the squares of their differences from it. Those of parts make those of the
// whole: what the parts' means are off the common one comes on top. Source: Chan, Golub and LeVeque, "Updating formulae and a
// pairwise algorithm for computing sample variances" (1979).
struct Centred {
  static constexpr bool kHasMean = true;
  template <class Real>
  struct alignas(4 * sizeof(Real)) StatsOf {
    Real count;
    Real mean;
    Real squares;
    Real unused;
  };
  using Stats = StatsOf<float>;

  __device__ __forceinline__ static float centre(float sum, float count) { return quotient(sum, count); }
  __device__ __forceinline__ static double centre(double sum, double count) {
    return count > 0 ? sum / count : 0;
  }
  // From differences from a centre that is their mean, or one of them. What the mean is off the centre goes out of both sums again: of
  // elements that are all alike exactly. Source: the same, the corrected two-pass algorithm, and on shifted data.
  __device__ __forceinline__ static Stats about(float centre, float count, const Differences& found) {
    const float off = quotient(found.sum, count);
    const float squares = fmaf(-off, found.sum, found.squares);
    return {count, centre + off, squares < 0 ? 0 : squares, 0};  // of NaN NaN
  }
  // Welford's step: the mean moves by the element's share of its difference from it. Of long rows that is less than the mean's last
  // digits: what rounding takes from it comes with the next step (Kahan).
  struct Walk {
    Stats stats{};
    float lost = 0;
    __device__ __forceinline__ void add(float v) {
      const float before = v - stats.mean;
      stats.count += 1;
      const float step = before / stats.count - lost;
      const float mean = stats.mean + step;
      lost = (mean - stats.mean) - step;
      stats.mean = mean;
      stats.squares = fmaf(before, v - mean, stats.squares);
    }
  };
  template <class Real, class Other>
  __device__ __forceinline__ static StatsOf<Real> combined(const StatsOf<Real>& a, const StatsOf<Other>& b) {
    // Of nothing there is no mean to be off: 0 times the square of that may be no number.
    if (b.count == 0) return a;
    const StatsOf<Real> other{b.count, b.mean, b.squares, 0};
    if (a.count == 0) return other;
    const Real count = a.count + other.count;
    const auto share = static_cast<Real>(static_cast<float>(other.count) / static_cast<float>(count));
    const Real apart = other.mean - a.mean;
    return {count, a.mean + apart * share, a.squares + other.squares + apart * apart * a.count * share, 0};
  }
  // About the first lane's mean, so that means that are alike are the common one.
  template <class Lanes, class Real>
  __device__ __forceinline__ static StatsOf<Real> over_lanes(Lanes lanes, const StatsOf<Real>& own) {
    const Real count = lanes_sum(lanes, own.count);
    const Real first = lanes_first(lanes, own.mean);
    const Real apart = own.count > 0 ? own.mean - first : Real{0};  // of nothing there is no mean to be off
    const Real sum = lanes_sum(lanes, apart * own.count);
    const Real common = centre(sum, count);
    const Real off = own.count > 0 ? apart - common : Real{0};
    return {count, first + common, lanes_sum(lanes, off * off * own.count + own.squares), 0};
  }
  __device__ __forceinline__ static Stats single(const StatsOf<double>& stats) {
    return {static_cast<float>(stats.count), static_cast<float>(stats.mean),
            static_cast<float>(stats.squares), 0};
  }
  __device__ __forceinline__ static float mean(const Stats& stats) { return stats.mean; }
};

// Of some elements of a row: their squares.
struct Uncentred {
  static constexpr bool kHasMean = false;
  template <class Real>
  struct StatsOf {
    Real squares;
  };
  using Stats = StatsOf<float>;

  __device__ __forceinline__ static float centre(float, float) { return 0; }
  __device__ __forceinline__ static Stats about(float, float, const Differences& found) {
    return {found.squares};
  }
  template <class Real, class Other>
  __device__ __forceinline__ static StatsOf<Real> combined(const StatsOf<Real>& a, const StatsOf<Other>& b) {
    return {a.squares + b.squares};
  }
  template <class Lanes, class Real>
  __device__ __forceinline__ static StatsOf<Real> over_lanes(Lanes lanes, const StatsOf<Real>& own) {
    return {lanes_sum(lanes, own.squares)};
  }
  __device__ __forceinline__ static Stats single(const StatsOf<double>& stats) {
    return {static_cast<float>(stats.squares)};
  }
  __device__ __forceinline__ static float mean(const Stats&) { return 0; }
};

// Squares leave the range of f32 where elements do not: then the statistics are taken once more, of elements times this.
struct Range {
  static constexpr float kDown = 0x1p-80f;
  static constexpr float kUp = 0x1p80f;
  static constexpr float kTiny = 1e-30f;

  // 1: they hold. Of NaN and infinities there is no better; differences from a mean of 1 or more are 0 or within the range.
  __device__ __forceinline__ static float scale_for(float squares, float mean, float length, float eps) {
    if (!(squares <= std::numeric_limits<float>::max())) return kDown;
    return eps < kTiny && squares < kTiny * length && fabsf(mean) < 1.0f ? kUp : 1.0f;
  }
};

// From a row's elements to its results, but for weight and bias.
struct Results {
  float scale;
  float mean;  // times scale
  float inverse_deviation;

  template <class Norm>
  __device__ __forceinline__ static Results of(const typename Norm::Stats& stats, float scale, float length,
                                               float eps) {
    const float variance = stats.squares / length + eps * scale * scale;
    return {scale, Norm::mean(stats), 1.0f / sqrtf(variance)};
  }
  __device__ __forceinline__ float of(float v) const { return fmaf(v, scale, -mean) * inverse_deviation; }
};

struct IsMine {
  __device__ __forceinline__ bool operator()(bool mine) const { return mine; }
};

// take(scale) gives the Stats of a row of n elements, times scale, to all who call. any(x): whether x holds for anyone who has to
// call take together with this thread.
template <class Norm, class Take, class Any = IsMine>
__device__ __forceinline__ Results results_of(std::int64_t n, float eps, Take take, Any any = {}) {
  const auto length = static_cast<float>(n);
  typename Norm::Stats stats = take(1.0f);
  const float scale = Range::scale_for(stats.squares, Norm::mean(stats), length, eps);
  if (any(scale != 1.0f)) stats = take(scale);
  return Results::of<Norm>(stats, scale, length, eps);
}

// A call's tensors, and where a row begins in each. What a kernel needs before its first load stands in front: what it waits for
// when its constants are not at hand is a part of a short one.
template <class T>
struct Operands {
  const T* g_x;
  std::int64_t x_pitch;
  std::int64_t rows;
  std::int64_t row_length;
  const T* g_weight;  // null: ones
  const T* g_bias;    // null: zeros
  T* g_y;
  std::int64_t y_pitch;
  T* g_residual;         // null: none
  std::int64_t passing;  // as the cut has it
  float eps;
  bool is_split;  // rows lie at two strides
  RowPlaces<kTensors> places;

  [[nodiscard]] __device__ __forceinline__ const T* x(std::int64_t row) const {
    return g_x + (is_split ? places.offset(kX, row) : row * x_pitch);
  }
  [[nodiscard]] __device__ __forceinline__ T* residual(std::int64_t row) const {
    return g_residual == nullptr ? nullptr : g_residual + places.offset(kResidual, row);
  }
  [[nodiscard]] __device__ __forceinline__ T* y(std::int64_t row) const {
    return g_y + (is_split ? places.offset(kY, row) : row * y_pitch);
  }
  [[nodiscard]] __device__ __forceinline__ std::int64_t count() const { return rows; }
  [[nodiscard]] __device__ __forceinline__ std::int64_t length() const { return row_length; }

  template <class Norm, class Take, class Any = IsMine>
  [[nodiscard]] __device__ __forceinline__ Results results(Take take, Any any = {}) const {
    return results_of<Norm>(length(), eps, take, any);
  }
};

// What is normalised: rounded as the residual keeps it.
template <class T>
__device__ __forceinline__ T added(T x, T residual) {
  return rounded<T>(static_cast<float>(x) + static_cast<float>(residual));
}

// Elements of one row, one by one, whatever strides they have. Each thread has its own, whose sum with the residual it takes once.
template <class T>
struct RowElements {
  const Operands<T>& call;
  const T* g_x;
  T* g_residual;
  T* g_y;

  __device__ __forceinline__ RowElements(const Operands<T>& operands, std::int64_t row)
      : call(operands), g_x(operands.x(row)), g_residual(operands.residual(row)), g_y(operands.y(row)) {}

  [[nodiscard]] __device__ __forceinline__ float take(std::int64_t j) const {
    const T x = g_x[j * step(kX)];
    if (g_residual == nullptr) return static_cast<float>(x);
    T& residual = g_residual[j * step(kResidual)];
    residual = added(x, residual);
    return static_cast<float>(residual);
  }
  // What take(j) gave.
  [[nodiscard]] __device__ __forceinline__ float again(std::int64_t j) const {
    return static_cast<float>(g_residual == nullptr ? g_x[j * step(kX)] : g_residual[j * step(kResidual)]);
  }
  __device__ __forceinline__ void store(std::int64_t j, float normalised) const {
    if (call.g_weight != nullptr) normalised *= static_cast<float>(call.g_weight[j]);
    if (call.g_bias != nullptr) normalised += static_cast<float>(call.g_bias[j]);
    g_y[j * step(kY)] = rounded<T>(normalised);
  }

 private:
  [[nodiscard]] __device__ __forceinline__ std::int64_t step(std::size_t tensor) const {
    return call.places.rows.tensors[tensor].step;
  }
};

template <class Args>
ConstTensorView bias_of(const Args& args) {
  if constexpr (requires { args.bias; }) return args.bias;
  return {};
}

template <class T, class Args>
Operands<T> operands_of(const Call<Args>& call) {
  const Args& args = call.args;
  const ConstTensorView bias = bias_of(args);
  const Rows<kTensors>& rows = call.template config<Cut>().rows;
  return {.g_x = static_cast<const T*>(args.x.data),
          .x_pitch = rows.tensors[kX].pitch,
          .rows = rows.count,
          .row_length = rows.length,
          .g_weight = static_cast<const T*>(is_absent(args.weight) ? nullptr : args.weight.data),
          .g_bias = static_cast<const T*>(is_absent(bias) ? nullptr : bias.data),
          .g_y = static_cast<T*>(args.y.data),
          .y_pitch = rows.tensors[kY].pitch,
          .g_residual = static_cast<T*>(is_absent(args.residual) ? nullptr : args.residual.data),
          .passing = call.template config<Cut>().passing,
          .eps = static_cast<float>(args.eps),
          .is_split = rows.inner != rows.count,
          .places = RowPlaces<kTensors>::of(rows)};
}

// Calls body.operator()<T>(). In the checked build one dtype goes through every path, but of vectors, whose elements it may
// have more of.
template <class Checked = DTypes<float>, class Args, class Body>
Status dispatch_floats(const Args& args, Body&& body) {
  return dispatch(CompiledDTypes<DTypes<float, __half, __nv_bfloat16>, Checked>{}, args.x.dtype,
                  std::forward<Body>(body));
}

inline constexpr std::int64_t kMostBlocks = 2147483647;

// A kernel of this call's operands; `rows_per_block` of them to a block.
template <class T, class Args>
Status launch_rows(const Call<Args>& call, void (*kernel)(Operands<T>), int threads, int rows_per_block) {
  const Rows<kTensors>& rows = call.template config<Cut>().rows;
  if (rows.is_empty()) return {};
  const std::int64_t blocks = ceil_div(rows.count, rows_per_block);
  if (blocks > kMostBlocks) return unsupported("more than 2^31 - 1 blocks: call it for a part of the rows");
  return launch(kernel,
                {.grid = dim3(static_cast<unsigned>(blocks)),
                 .block = dim3(static_cast<unsigned>(threads)),
                 .stream = call.stream},
                operands_of<T>(call));
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
