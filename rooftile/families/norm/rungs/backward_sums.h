// What is added up of a row of the ring, and where a group's warps tell each other.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/families/norm/rungs/backward_group.h"

namespace rooftile::ROOFTILE_TARGET::norm::backward {

// Of elements of a row, of `off`: each times scale, less `about`, one number that the whole row lies about (Uncentred: 0). Sums of its
// squares and of g * off; Centred: of off and of g, too.
template <class Norm>
struct Sums {
  static constexpr int kCount = Norm::kHasMean ? 4 : 2;
  float values[kCount]{};

  __device__ __forceinline__ void add(float off, float g) {
    values[0] = fmaf(off, off, values[0]);
    values[1] = fmaf(g, off, values[1]);
    if constexpr (Norm::kHasMean) {
      values[2] += off;
      values[3] += g;
    }
  }
  // Of a whole row.
  [[nodiscard]] __device__ __forceinline__ Found found(float about, float inverse_length) const {
    if constexpr (Norm::kHasMean) {
      const float mean_off = values[2] * inverse_length;
      const float squares = fmaf(-mean_off, values[2], values[0]);
      return {about + mean_off, squares < 0 ? 0.0f : squares, values[3],
              fmaf(-mean_off, values[3], values[1])};
    } else {
      return {0, values[0], 0, values[1]};
    }
  }
  // Whether `about` was some four deviations off the mean, or more, so that squares are what little a difference left: four bits less.
  [[nodiscard]] __device__ __forceinline__ bool is_far(const Found& found) const {
    constexpr float kMost = 16;
    return Norm::kHasMean && values[0] > kMost * found.squares;
  }
};

// kCount sums over the lanes of each of a group's warps become sums over the group; the sums of two rounds have places of their own: one
// may be read while the next is written.
template <int kWarps, int kCount>
class Meeting {
 public:
  static constexpr int kLanes = kWarpSize / kCount;  // that have one sum: number lane / kLanes

  // Before all others, by one thread.
  __device__ __forceinline__ void init() { mbarrier_init(&there_, kWarps * kCount); }

  // The group's sums from this warp's, in rounds 0, 1 ... What the warps have read before is theirs no more when this returns.
  __device__ __forceinline__ float all_reduce(std::uint32_t round, int warp, float sum) {
    __syncwarp();  // the warp's lanes have read what they read before
    if constexpr (kWarps == 1) return sum;
    const int number = lane_index() / kLanes;
    const int place = lane_index() % kLanes;
    const std::uint32_t turn = round % 2;
    if (place == 0) {
      sums_[turn][number][warp] = sum;
      mbarrier_arrive(&there_);
    }
    mbarrier_wait(&there_, turn);
    constexpr int kReaders = smaller(kWarps, kLanes);
    constexpr int kEach = kWarps / kReaders;
    const auto some = load_vec<LoadPolicy::cached, kEach* static_cast<int>(sizeof(float))>(
        &sums_[turn][number][place % kReaders * kEach]);
    float total = some[0];
#pragma unroll
    for (int i = 1; i < kEach; ++i) total += some[i];
    return lanes_sum(std::integral_constant<int, kReaders>{}, total);
  }

 private:
  Mbarrier there_;
  alignas(16) float sums_[2][kCount][kWarps];
};

}  // namespace rooftile::ROOFTILE_TARGET::norm::backward
