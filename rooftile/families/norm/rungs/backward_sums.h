// What a group's warps have found of a row of the ring, and where they tell each other.
#pragma once

#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/families/norm/rungs/backward_group.h"

namespace rooftile::ROOFTILE_TARGET::norm::backward {

// Of some elements of a row, of `off`: each times scale, less `about`, one number that all lie about (Uncentred: 0). Sums of its squares
// and of g * off; Centred: of off and of g, too.
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
  // Of 1 / inverse_count elements; 0: of none.
  [[nodiscard]] __device__ __forceinline__ Found found(float about, float inverse_count) const {
    if constexpr (Norm::kHasMean) {
      if (inverse_count == 0) return {};
      const float mean_off = values[2] * inverse_count;
      const float squares = fmaf(-mean_off, values[2], values[0]);
      return {about + mean_off, squares < 0 ? 0.0f : squares, values[3],
              fmaf(-mean_off, values[3], values[1])};
    } else {
      return {0, values[0], 0, values[1]};
    }
  }
};

// In turns: one may be read while the next is written.
template <class Norm, int kWarps, int kRows>
struct RowMeeting {
  Mbarrier there;
  alignas(16) Sums<Norm> sums[2][kRows][kWarps];
  float about[2][kRows][kWarps];
};

}  // namespace rooftile::ROOFTILE_TARGET::norm::backward
