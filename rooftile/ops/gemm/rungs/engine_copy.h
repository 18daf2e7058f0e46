// A block's copies of one operand by the copy engine: what OperandCopy is to the threads.
#pragma once

#include <cstdint>

#include "rooftile/core/host_device.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/device/sm90a/tma.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

// Boxes of kDepth lines of kExtent elements, asked for by the first thread; what lies outside the matrix comes as zeros. A barrier for
// each stage says when its box is there.
template <int kExtent, int kDepth, int kStages>
class EngineCopy {
 public:
  static constexpr bool kHasGroups = false;  // of cp.async
  static constexpr int kPitch = kExtent;
  static constexpr int kStageElements = kExtent * kDepth;
  static constexpr int kParts = 1;
  ROOFTILE_HOST_DEVICE static constexpr int swizzle(int) { return 0; }
  struct Staged {};

  __device__ __forceinline__ EngineCopy(const TensorMap& map, Mbarrier* s_full, std::int64_t line,
                                        std::int64_t first)
      : map_(map), s_full_(s_full), line_(static_cast<int>(line)), first_(static_cast<int>(first)) {}

  __device__ __forceinline__ void copy_some(int lines, float* s_step) { copy(0, lines > 0, s_step); }
  __device__ __forceinline__ void copy(int, bool is_there, float* s_step) {
    if (is_there && threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(s_full_ + write_, kStageElements * static_cast<int>(sizeof(float)));
      tma_load(s_step, map_, {first_, line_}, s_full_ + write_);
    }
    write_ = write_ == kStages - 1 ? 0 : write_ + 1;
  }
  __device__ __forceinline__ void advance(std::int64_t lines) { line_ += static_cast<int>(lines); }
  // Until the next box is there, if there is one.
  __device__ __forceinline__ void wait(bool is_there) {
    if (!is_there) return;
    mbarrier_wait(s_full_ + read_, parity_);
    parity_ ^= read_ == kStages - 1 ? 1U : 0U;
    read_ = read_ == kStages - 1 ? 0 : read_ + 1;
  }
  __device__ __forceinline__ void fetch_some(int, Staged&) const {}
  __device__ __forceinline__ void fetch(bool, Staged&) const {}
  __device__ __forceinline__ void store(const Staged&, float*) const {}

 private:
  const TensorMap& map_;
  Mbarrier* s_full_;
  int line_;
  int first_;
  int write_ = 0;
  int read_ = 0;
  unsigned parity_ = 0;
};

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
