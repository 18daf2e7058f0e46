// What the rungs of softmax_backward share: a call's tensors, its arithmetic, and from arguments to types.
#pragma once

#include <cstdint>
#include <utility>

#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/device/fast_math.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/register_row.h"
#include "rooftile/device/rounded.h"
#include "rooftile/device/row_places.h"
#include "rooftile/device/row_threads.h"
#include "rooftile/device/types.h"
#include "rooftile/device/vec.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/softmax_backward/softmax_backward_plan.h"

namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs {

using softmax_backward_plan::Cut, softmax_backward_plan::kY, softmax_backward_plan::kDy,
    softmax_backward_plan::kDx, softmax_backward_plan::kTensors;

// What an element brings to its row's sum, and what it gets of that. kLog: y is a logarithm.
template <bool kLog>
struct Slope {
  float inverse_temperature;

  __device__ __forceinline__ static float part(float y, float dy) { return kLog ? dy : dy * y; }
  __device__ __forceinline__ float of(float y, float dy, float sum) const {
    if constexpr (kLog) {
      constexpr float kLog2E = 1.44269504f;
      return fmaf(-fast_exp2(y * kLog2E), sum, dy) * inverse_temperature;
    }
    return (dy - sum) * y * inverse_temperature;
  }
};

struct Sum {
  template <class Lanes, class Real>
  __device__ __forceinline__ Real operator()(Lanes, Real x) const {
    return lanes_reduce<Lanes::value>(x, [](Real a, Real b) { return a + b; });
  }
};

// A call's tensors, and where a row begins in each.
template <class T>
struct Operands {
  RowPlaces<kTensors> places;
  const T* g_y;
  const T* g_dy;
  T* g_dx;
  float inverse_temperature;

  [[nodiscard]] __device__ __forceinline__ std::int64_t count() const { return places.rows.count; }
  [[nodiscard]] __device__ __forceinline__ std::int64_t length() const { return places.rows.length; }
  [[nodiscard]] __device__ __forceinline__ const T* y(std::int64_t row) const {
    return g_y + places.offset(kY, row);
  }
  [[nodiscard]] __device__ __forceinline__ const T* dy(std::int64_t row) const {
    return g_dy + places.offset(kDy, row);
  }
  [[nodiscard]] __device__ __forceinline__ T* dx(std::int64_t row) const {
    return g_dx + places.offset(kDx, row);
  }
};

// Elements of one row, one by one, whatever strides they have.
template <bool kLog, class T>
struct RowElements {
  const Operands<T>& call;
  const T* g_y;
  const T* g_dy;
  T* g_dx;

  __device__ __forceinline__ RowElements(const Operands<T>& operands, std::int64_t row)
      : call(operands), g_y(operands.y(row)), g_dy(operands.dy(row)), g_dx(operands.dx(row)) {}
  [[nodiscard]] __device__ __forceinline__ float y(std::int64_t j) const {
    return static_cast<float>(g_y[j * call.places.rows.tensors[kY].step]);
  }
  [[nodiscard]] __device__ __forceinline__ float dy(std::int64_t j) const {
    return static_cast<float>(g_dy[j * call.places.rows.tensors[kDy].step]);
  }
  [[nodiscard]] __device__ __forceinline__ float part(std::int64_t j) const {
    return Slope<kLog>::part(y(j), dy(j));
  }
  __device__ __forceinline__ void write(std::int64_t first, std::int64_t step, float sum) const {
    const Slope<kLog> slope{call.inverse_temperature};
    for (std::int64_t j = first; j < call.length(); j += step)
      g_dx[j * call.places.rows.tensors[kDx].step] = rounded<T>(slope.of(y(j), dy(j), sum));
  }
};

// Threads that a multiprocessor is to have room for. Two rows of four vectors are 32 registers, of 16 bits twice as many floats, which
// nvcc keeps from the sum to the results.
template <class T>
inline constexpr int kResidentThreads = sizeof(T) < 4 ? 512 : 1024;

// What is this thread's of y and dy, in registers; fillers bring nothing.
template <bool kLog, class T, class Row>
struct RowPair {
  Row y;
  Row dy;

  template <class... Part>
  __device__ __forceinline__ void load(const Operands<T>& call, std::int64_t r, int n, Part... part) {
    y.load(call.y(r), n, T{}, part...);
    dy.load(call.dy(r), n, T{}, part...);
  }
  template <int kVectors>
  [[nodiscard]] __device__ __forceinline__ float sum() const {
    float sum = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      float part = 0;
#pragma unroll
      for (int e = 0; e < Row::kElements; ++e)
        part += Slope<kLog>::part(static_cast<float>(y.vector(v)[e]), static_cast<float>(dy.vector(v)[e]));
      sum += part;
    }
    return sum;
  }
  __device__ __forceinline__ void write(const Operands<T>& call, std::int64_t r, float sum) const {
    const Slope<kLog> slope{call.inverse_temperature};
    dy.store_by_place(call.dx(r), [&](int v) {
      Vec<T, Row::kElements> made;
#pragma unroll
      for (int e = 0; e < Row::kElements; ++e)
        made[e] = rounded<T>(
            slope.of(static_cast<float>(y.vector(v)[e]), static_cast<float>(dy.vector(v)[e]), sum));
      return made;
    });
  }
};

template <class T>
Operands<T> operands_of(const Call<SoftmaxBackwardArgs>& call) {
  const SoftmaxBackwardArgs& args = call.args;
  return {.places = RowPlaces<kTensors>::of(call.config<Cut>().rows),
          .g_y = static_cast<const T*>(args.y.data),
          .g_dy = static_cast<const T*>(args.dy.data),
          .g_dx = static_cast<T*>(args.dx.data),
          .inverse_temperature = static_cast<float>(1 / args.temperature)};
}

// Calls body.operator()<T, kLog>(). In the checked build one dtype goes through every path, but of vectors, whose elements it may
// have more of.
template <class Checked = DTypes<float>, class Body>
Status dispatch_call(const SoftmaxBackwardArgs& args, Body&& body) {
  return dispatch(
      CompiledDTypes<DTypes<float, __half, __nv_bfloat16>, Checked>{}, args.y.dtype, [&]<class T>() {
        return args.log ? body.template operator()<T, true>() : body.template operator()<T, false>();
      });
}

inline constexpr std::int64_t kMostBlocks = 2147483647;

// A kernel of this call's operands; `rows_per_block` of them to a block.
template <class T>
Status launch_rows(const Call<SoftmaxBackwardArgs>& call, void (*kernel)(Operands<T>), int threads,
                   int rows_per_block) {
  const Rows<kTensors>& rows = call.config<Cut>().rows;
  if (rows.is_empty()) return {};
  const std::int64_t blocks = ceil_div(rows.count, rows_per_block);
  if (blocks > kMostBlocks) return unsupported("more than 2^31 - 1 blocks: call it for a part of the rows");
  return launch(kernel,
                {.grid = dim3(static_cast<unsigned>(blocks)),
                 .block = dim3(static_cast<unsigned>(threads)),
                 .stream = call.stream},
                operands_of<T>(call));
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs
