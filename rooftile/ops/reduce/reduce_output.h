// What a reduction (reduce_functor.h) and the kernels that run it share.
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
