// Reductions as types, and the kernel machinery that any of them can use: for kernel sources (.cu), compiled
// by nvcc or for the simulated SM.
//
// A reduction of one's own is a trivially copyable type:
//
//   struct LogSumOfSquares {
//     using In = float;                     // element type: 1, 2, 4 or 8 bytes
//     using Acc = float;                    // accumulator: trivially copyable, a multiple of 4 bytes
//     __device__ Acc identity() const { return 0.0f; }
//     __device__ Acc combine(Acc a, Acc b) const { return a + b; }         // associative and commutative
//     __device__ Acc take(Acc acc, In x, std::int64_t index) const { return acc + x * x; }
//     __device__ void store(const ReduceOutput& out, std::int64_t i, Acc acc) const {
//       static_cast<float*>(out.data)[i] = logf(acc);
//     }
//   };
//   reduce_with(LogSumOfSquares{}, stream, device, in, n, {.data = out}, workspace);
//
// The order in which elements meet is fixed by n and the device: the same bits on every run.
#pragma once

#include <cstdint>

#include "rooftile/device/types.h"
#include "rooftile/device/vec.h"

namespace rooftile::ROOFTILE_TARGET {

struct ReduceOutput {
  void* data = nullptr;
  DType dtype = DType::f32;
  bool mean = false;
  std::int64_t count = 1;  // elements that meet in one output
};

namespace reduce_rungs {

// A whole vector through a reduction that takes single elements alone.
template <class Reduction, int kCount>
__device__ __forceinline__ typename Reduction::Acc take_vec(const Reduction& reduction,
                                                            typename Reduction::Acc acc,
                                                            const Vec<typename Reduction::In, kCount>& x,
                                                            std::int64_t index) {
  if constexpr (requires { reduction.take(acc, x, index); }) {
    return reduction.take(acc, x, index);
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) acc = reduction.take(acc, x[i], index + i);
    return acc;
  }
}

}  // namespace reduce_rungs
}  // namespace rooftile::ROOFTILE_TARGET
