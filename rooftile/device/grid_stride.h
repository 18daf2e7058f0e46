// Loops over more items than the grid has threads, in 64 bits: one-dimensional grids and blocks.
#pragma once

#include <cstdint>

#include "rooftile/device/target.h"

namespace rooftile::ROOFTILE_TARGET {

// This thread's number in the grid, and how many there are.
__device__ __forceinline__ std::int64_t grid_thread() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ std::int64_t grid_threads() { return std::int64_t{gridDim.x} * blockDim.x; }

// The items of this thread: for (std::int64_t i : grid_stride(n)). Neighbouring
// threads get neighbouring items, so that a warp's accesses stay together. Source:
// Harris, "CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops" (2013).
class GridStride {
 public:
  class Iterator {
   public:
    __device__ __forceinline__ Iterator(std::int64_t i, std::int64_t step) : i_(i), step_(step) {}
    __device__ __forceinline__ std::int64_t operator*() const { return i_; }
    __device__ __forceinline__ Iterator& operator++() {
      i_ += step_;
      return *this;
    }
    // Only ever compared with end(), which no item hits.
    __device__ __forceinline__ bool operator!=(const Iterator& end) const { return i_ < end.i_; }

   private:
    std::int64_t i_;
    std::int64_t step_;
  };
  __device__ __forceinline__ explicit GridStride(std::int64_t n) : n_(n) {}
  __device__ __forceinline__ Iterator begin() const { return {grid_thread(), grid_threads()}; }
  __device__ __forceinline__ Iterator end() const { return {n_, 0}; }

 private:
  std::int64_t n_;
};
__device__ __forceinline__ GridStride grid_stride(std::int64_t n) { return GridStride(n); }

// Blocks for n items at `per_block` each: at least one, at most
// `limit` (as many as are resident at once: the loop does the rest).
inline unsigned grid_blocks(std::int64_t n, std::int64_t per_block, std::int64_t limit) {
  const std::int64_t wanted = n > 0 ? (n - 1) / per_block + 1 : 1;
  return static_cast<unsigned>(wanted < limit ? wanted : limit);
}

}  // namespace rooftile::ROOFTILE_TARGET
