// A thread for a row: the definition.
//
// Idea       a walk for the squares, a walk for the results. What rounding takes from the sum of squares comes with the next one (Kahan):
//            of elements of one size every step would lose the same, 16384 of them two digits.
// Limits     rows of at most 16384 elements.
// Bottleneck a warp's lanes are a row apart: 32 sectors for each load.
#include "rooftile/families/norm/rungs/thread_rows.h"
#include "rooftile/ops/rms_norm/rms_norm.h"

namespace rooftile::ROOFTILE_TARGET::rms_norm_rungs {
namespace {

struct CompensatedSquares {
  norm::Uncentred::Stats stats{};
  float lost = 0;
  __device__ __forceinline__ void add(float v) {
    const float square = fmaf(v, v, -lost);
    const float sum = stats.squares + square;
    lost = (sum - stats.squares) - square;
    if (!(fabsf(lost) <= std::numeric_limits<float>::max()))
      lost = 0;  // of an infinity, which is to stay one
    stats.squares = sum;
  }
};

}  // namespace

Status ROOFTILE_RUNG(const Call<RmsNormArgs>& call) {
  return norm::launch_one_walk<norm::Uncentred, CompensatedSquares>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::rms_norm_rungs
