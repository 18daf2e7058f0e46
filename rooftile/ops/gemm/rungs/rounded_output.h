// What becomes of sums of 16-bit operands: scaled, added to, activated, rounded once.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rooftile/device/dispatch.h"
#include "rooftile/device/fast_math.h"
#include "rooftile/device/hidden.h"
#include "rooftile/device/rounded.h"
#include "rooftile/device/types.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/gemm/rungs/gemm_device.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

using HalfTypes = CompiledDTypes<DTypes<__nv_bfloat16, __half>, DTypes<__nv_bfloat16>>;

// How results leave a kernel: known on the host, the same for all of a launch.
struct RoundedWay {
  bool is_wide = false;       // out, c and bias are of f32, else of the operands' type
  bool vectors = false;       // 16 bytes of a row of out may be written at once, and no row ends within them
  bool c_vectors = false;     // so does c
  bool bias_vectors = false;  // a bias of columns, of whose vectors every row takes the same
  bool is_beside =
      false;  // out is of the operands' type, a row's elements lie side by side, and there is no c
  bool by_engine = false;  // the same by vectors, as TMA may store them
  bool is_plain = false;   // as is_beside, and results are the sums times alpha
  float alpha = 1;
};
inline RoundedWay rounded_way(const GemmArgs& args, const Problem& p) {
  RoundedWay way{.is_wide = args.out.dtype == DType::f32};
  way.vectors = (way.is_wide ? has_vectors_of_out<float>(p) : has_vectors_of_out<std::uint16_t>(p)) &&
                p.n % (way.is_wide ? kVecElements<float> : kVecElements<std::uint16_t>) == 0;
  const std::size_t element = way.is_wide ? sizeof(float) : sizeof(std::uint16_t);
  way.c_vectors = gemm_plan::has_vectors(p.c_data, p.c, p.m, p.n, element);
  way.bias_vectors = p.bias.row == 0 && gemm_plan::has_vectors(p.bias_data, p.bias, 1, p.n, element);
  way.is_beside = p.out.column == 1 && !way.is_wide && p.c_data == nullptr;
  constexpr std::int64_t kMostOfMap = std::int64_t{1} << 31;  // extents, as coordinates of 32 bits
  way.by_engine = way.is_beside && way.vectors && p.m < kMostOfMap && p.n < kMostOfMap &&
                  p.batches < kMostOfMap && (p.m == 1 || p.out.row >= p.n) &&
                  (p.batches == 1 || p.out.batch > 0);
  way.is_plain = way.is_beside && p.bias_data == nullptr && p.activation == GemmActivation::none;
  way.alpha = static_cast<float>(p.alpha);
  return way;
}

// Of one matrix of the batch. T: of the operands.
template <class T>
class RoundedOutput {
 public:
  __device__ __forceinline__ RoundedOutput(const Problem& problem, const RoundedWay& way, std::int64_t batch)
      : p_(problem), way_(way), c_(batch * problem.c.batch), out_(batch * problem.out.batch) {}

  __device__ __forceinline__ void give(float sum, std::int64_t i, std::int64_t j) const {
    if (i >= p_.m || j >= p_.n) return;
    if (way_.is_wide)
      give_as<float>(sum, i, j);
    else
      give_as<T>(sum, i, j);
  }
  // As many sums, side by side from a multiple of as many on, as 16 bytes of out hold; s_sums is aligned to 16 bytes.
  template <class Out>
  __device__ __forceinline__ void give_vector(const float* s_sums, std::int64_t i, std::int64_t j) const {
    if (i >= p_.m || j >= p_.n) return;
    constexpr int kElements = kVecElements<Out>;
    Vec<float, kElements> x = sums_at<kElements>(s_sums);
#pragma unroll
    for (int e = 0; e < kElements; ++e) x[e] *= way_.alpha;
    if (p_.c_data != nullptr) {
      const auto c = beside<Out>(p_.c_data, p_.c, way_.c_vectors, c_, i, j);
#pragma unroll
      for (int e = 0; e < kElements; ++e)
        x[e] = fmaf(static_cast<float>(p_.beta), static_cast<float>(c[e]), x[e]);
    }
    if (p_.bias_data != nullptr) {
      const auto bias = beside<Out>(p_.bias_data, p_.bias, way_.bias_vectors, 0, i, j);
#pragma unroll
      for (int e = 0; e < kElements; ++e) x[e] += static_cast<float>(bias[e]);
    }
    activate(x);
    Vec<Out, kElements> vec;
#pragma unroll
    for (int e = 0; e < kElements; ++e) vec[e] = rounded<Out>(x[e]);
    store_vec<StorePolicy::no_allocate>(static_cast<Out*>(p_.out_data) + out_ + i * p_.out.row + j, vec);
  }

 private:
  template <GemmActivation kActivation>
  using Activation = std::integral_constant<GemmActivation, kActivation>;

  // Of eight, every second four lanes read the second half first: what lanes read at once is in banks of its own.
  template <int kElements>
  __device__ __forceinline__ static Vec<float, kElements> sums_at(const float* s_sums) {
    if constexpr (kElements == 4) {
      return load_vec(s_sums);
    } else {
      static_assert(kElements == 8);
      const int first = static_cast<int>(threadIdx.x) / 4 % 2 * 4;
      const Vec<float, 4> x = load_vec(s_sums + first);
      const Vec<float, 4> y = load_vec(s_sums + (4 - first));
      Vec<float, 8> sums;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        sums[e] = first == 0 ? x[e] : y[e];
        sums[4 + e] = first == 0 ? y[e] : x[e];
      }
      return sums;
    }
  }
  // Of c or the bias, what belongs to the elements of out from (i, j) on.
  template <class Out>
  __device__ __forceinline__ static Vec<Out, kVecElements<Out>> beside(const void* g_data,
                                                                       const gemm_plan::Matrix& matrix,
                                                                       bool vectors, std::int64_t first,
                                                                       std::int64_t i, std::int64_t j) {
    const Out* g_first = static_cast<const Out*>(g_data) + first + i * matrix.row + j * matrix.column;
    if (vectors) return load_vec(g_first);
    Vec<Out, kVecElements<Out>> vec;
#pragma unroll
    for (int e = 0; e < kVecElements<Out>; ++e) vec[e] = g_first[e * matrix.column];
    return vec;
  }
  // Which activation it is is asked once for all elements.
  template <int kElements>
  __device__ __forceinline__ void activate(Vec<float, kElements>& x) const {
    const auto by = [&](auto activation) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) x[e] = gemm_math::activated(decltype(activation)::value, x[e]);
    };
    switch (p_.activation) {
      case GemmActivation::none:
        return;
      case GemmActivation::relu:
        return by(Activation<GemmActivation::relu>());
      case GemmActivation::gelu_erf:
        return by(Activation<GemmActivation::gelu_erf>());
      case GemmActivation::gelu_tanh:
        return by(Activation<GemmActivation::gelu_tanh>());
      case GemmActivation::gelu_tanh_approx:
        return by(Activation<GemmActivation::gelu_tanh_approx>());
      case GemmActivation::silu:
        return by(Activation<GemmActivation::silu>());
      case GemmActivation::sigmoid:
        return by(Activation<GemmActivation::sigmoid>());
    }
  }
  template <class Out>
  __device__ __forceinline__ float result(float sum, std::int64_t i, std::int64_t j) const {
    float x = way_.alpha * sum;
    if (p_.c_data != nullptr)
      x = fmaf(static_cast<float>(p_.beta),
               static_cast<float>(static_cast<const Out*>(p_.c_data)[c_ + i * p_.c.row + j * p_.c.column]),
               x);
    if (p_.bias_data != nullptr)
      x += static_cast<float>(static_cast<const Out*>(p_.bias_data)[i * p_.bias.row + j * p_.bias.column]);
    return p_.activation == GemmActivation::none ? x : gemm_math::activated(p_.activation, x);
  }
  template <class Out>
  __device__ __forceinline__ void give_as(float sum, std::int64_t i, std::int64_t j) const {
    static_cast<Out*>(p_.out_data)[out_ + i * p_.out.row + j * p_.out.column] =
        rounded<Out>(result<Out>(sum, i, j));
  }

  const Problem& p_;
  const RoundedWay& way_;
  std::int64_t c_;
  std::int64_t out_;
};

// Where x / (1 + e^-y) and x (1 + tanh(y)) are 0 of an x that may be -infinity.
__device__ __forceinline__ float not_far(float x) {
  constexpr float kFar = -1000;
  return x < kFar ? kFar : x;
}
// x / (1 + e^-y) by the special function unit, off by some units in the last place of f32; as gemm_math::gated.
__device__ __forceinline__ float fast_gated(float x, float y) {
  constexpr float kLog2E = 1.44269504088896340736f;
  return not_far(x) * fast_reciprocal(1 + fast_exp2(-kLog2E * y));
}
// kTimes sqrt(2 / pi) (x + 0.044715 x^3), of gelu by tanh.
template <int kTimes>
__device__ __forceinline__ float gelu_inner(float x) {
  constexpr float kRoot = kTimes * 0.79788456080286535587989211986876f;
  return x * fmaf(0.044715f * kRoot, x * x, kRoot);
}
// gelu_tanh_approx, and relu.
__device__ __forceinline__ float fast_gelu(float x) {
  const float half = 0.5f * not_far(x);
  return fmaf(half, fast_tanh(gelu_inner<1>(x)), half);
}
__device__ __forceinline__ float fast_relu(float x) { return x < 0 ? 0.0f : x; }
// Four at a time, which then go to the end of the row: a function of many registers, by a loop that is not unrolled.
template <GemmActivation kActivation, int kCount>
__device__ __forceinline__ void activate_in_turns(float (&x)[kCount]) {
  constexpr int kEach = 4;
#pragma unroll 1
  for (int turn = 0; turn < kCount / kEach; ++turn) {
    float y[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) y[e] = gemm_math::activated(kActivation, x[e]);
#pragma unroll
    for (int e = 0; e < kCount; ++e) x[e] = e + kEach < kCount ? x[e + kEach] : y[e + kEach - kCount];
  }
}
// As gemm_math::activated, of values that are rounded to 16 bits next; gelu_tanh_approx by the special function unit's own tanh.
template <int kCount>
__device__ __forceinline__ void activate_rounded(GemmActivation activation, float (&x)[kCount]) {
  const auto each = [&](auto function) {
#pragma unroll
    for (int e = 0; e < kCount; ++e) x[e] = function(x[e]);
  };
  switch (activation) {
    case GemmActivation::none:
      return;
    case GemmActivation::relu:
      return each([](float y) { return fast_relu(y); });
    case GemmActivation::gelu_erf:
      return activate_in_turns<GemmActivation::gelu_erf>(x);
    case GemmActivation::gelu_tanh:
      return each([](float y) { return fast_gated(y, gelu_inner<2>(y)); });
    case GemmActivation::gelu_tanh_approx:
      return each([](float y) { return fast_gelu(y); });
    case GemmActivation::silu:
      return each([](float y) { return fast_gated(y, y); });
    case GemmActivation::sigmoid:
      return each([](float y) { return fast_gated(1, y); });
  }
}

// A bias as a warp needs it whose lanes hold sums of rows `row` + lane / 4 and 8 rows below, in pairs of columns: lane % 4 has the
// pair of each 8. kColumns: of the warp's tile, from `column` on.
template <class T, int kColumns>
class HeldBias {
 public:
  static constexpr int kParts = (kColumns + 63) / 64;  // the last one may have fewer than 64 columns
  __device__ __forceinline__ HeldBias(const Problem& p, const RoundedWay& way, std::int64_t row,
                                      std::int64_t column)
      : lane_(hidden(static_cast<int>(threadIdx.x) % 32)), is_of_columns_(p.bias.row == 0) {
    if (p.bias_data == nullptr || !way.is_beside) return;
    const auto* g_bias = static_cast<const T*>(p.bias_data);
    if (is_of_columns_) {
#pragma unroll
      for (int q = 0; q < kParts; ++q) {
        const std::int64_t j = column + 64 * q + 2 * lane_;
        if (way.bias_vectors && j + 1 < p.n) {
          held_[q] = load(reinterpret_cast<const std::uint32_t*>(g_bias + j));
        } else {
          Vec<T, 2> pair{};
#pragma unroll
          for (int e = 0; e < 2; ++e)
            if (j + e < p.n) pair[e] = g_bias[(j + e) * p.bias.column];
          memcpy(&held_[q], static_cast<const void*>(&pair), sizeof(pair));
        }
      }
    } else {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const std::int64_t i = row + lane_ / 4 + 8 * half;
        if (i < p.m) of_rows_[half] = static_cast<float>(g_bias[i * p.bias.row]);
      }
    }
  }
  // x = alpha sums + bias of columns 64 q and on, zero behind the last: sums[32 q + 4 c + 2 half + e] of column 8 c + e of the lane's.
  __device__ __forceinline__ void scaled(int q, float alpha, const float (&sums)[kColumns / 2],
                                         float (&x)[32]) const {
    const auto sum = [&](int s) { return 32 * q + s < kColumns / 2 ? sums[32 * q + s] : 0.0f; };
    if (is_of_columns_) {
      std::uint32_t pairs[8];
#pragma unroll
      for (int c = 0; c < 8; ++c) pairs[c] = shuffle(held_[q], 4 * c + lane_ % 4);
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        Vec<T, 2> pair;
        memcpy(static_cast<void*>(&pair), &pairs[c], sizeof(pair));
#pragma unroll
        for (int s = 0; s < 4; ++s)
          x[4 * c + s] = fmaf(alpha, sum(4 * c + s), static_cast<float>(pair[s % 2]));
      }
    } else {
#pragma unroll
      for (int s = 0; s < 32; ++s) x[s] = fmaf(alpha, sum(s), of_rows_[s / 2 % 2]);
    }
  }

 private:
  int lane_;
  bool is_of_columns_;
  std::uint32_t held_[kParts] = {};  // pairs
  float of_rows_[2] = {};
};

// by(elements, give): how many elements leave at once, and give(s_sums, i, j) that sends as many away. Results of a warp (wgmma_results.h) write
// it out: with all registers taken this function spilled.
template <class T, class By>
__device__ __forceinline__ void with_elements(const RoundedOutput<T>& output, const RoundedWay& way, By by) {
  if (!way.vectors) {
    by(std::integral_constant<int, 1>(),
       [&](const float* s_sum, std::int64_t i, std::int64_t j) { output.give(*s_sum, i, j); });
  } else if (way.is_wide) {
    by(std::integral_constant<int, kVecElements<float>>(),
       [&](const float* s_from, std::int64_t i, std::int64_t j) {
         output.template give_vector<float>(s_from, i, j);
       });
  } else {
    by(std::integral_constant<int, kVecElements<T>>(),
       [&](const float* s_from, std::int64_t i, std::int64_t j) {
         output.template give_vector<T>(s_from, i, j);
       });
  }
}

// A tile of sums in shared memory, rows of kPitch floats, by all threads of a block. What becomes of a sum is written down once, in a loop
// that is not unrolled: with its activations it is long.
template <int kRows, int kColumns, int kPitch, int kThreads, class T>
__device__ __forceinline__ void give_tile(const float* s_sums, const Problem& p, const RoundedWay& way,
                                          std::int64_t batch, std::int64_t row, std::int64_t column) {
  const RoundedOutput<T> output(p, way, batch);
  with_elements(output, way, [&](auto elements, auto give) {
    constexpr int kLine = kColumns / decltype(elements)::value;
#pragma unroll 1
    for (int v = static_cast<int>(threadIdx.x); v < kRows * kLine; v += kThreads) {
      const int at = v % kLine * decltype(elements)::value;
      give(s_sums + v / kLine * kPitch + at, row + v / kLine, column + at);
    }
  });
}

// A block for each tile of kRows x kColumns elements of out, down its rows first: kernel(problem, rows of tiles, way).
template <int kRows, int kColumns, class Kernel>
Status launch_tiles(Kernel kernel, int threads, StreamRef stream, const Problem& problem,
                    const RoundedWay& way) {
  if (problem.is_empty()) return {};
  const std::int64_t tile_rows = ceil_div(problem.m, kRows);
  const std::int64_t tiles = tile_rows * ceil_div(problem.n, kColumns);
  ROOFTILE_TRY_ASSIGN(const dim3 grid, grid_of_products(tiles, problem.batches));
  return launch(kernel, {.grid = grid, .block = dim3(static_cast<unsigned>(threads)), .stream = stream},
                problem, static_cast<unsigned>(tile_rows), way);
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
