// A thread for a row: the definition.
//
// Idea       a walk for the mean, a walk for the squares of the differences, a walk for the results.
// Limits     rows of at most 16384 elements.
// Bottleneck a warp's lanes are a row apart: 32 sectors for each load.
#include "rooftile/families/norm/rungs/thread_rows.h"
#include "rooftile/ops/layer_norm/layer_norm.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs {
namespace {

template <class T>
__global__ void __launch_bounds__(norm_plan::kLessonBlock) two_pass_kernel(norm::Operands<T> call) {
  norm::normalise_thread_row<norm::Centred>(call,
                                            [&](const norm::RowElements<T>& row, auto first, float scale) {
                                              float sum = 0;
                                              for (std::int64_t j = 0; j < call.length(); ++j)
                                                sum += first(j);
                                              const auto length = static_cast<float>(call.length());
                                              const float mean = sum / length;
                                              float squares = 0;
                                              for (std::int64_t j = 0; j < call.length(); ++j) {
                                                const float off = fmaf(row.again(j), scale, -mean);
                                                squares = fmaf(off, off, squares);
                                              }
                                              return norm::Centred::Stats{length, mean, squares, 0};
                                            });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<LayerNormArgs>& call) {
  return norm::dispatch_floats(call.args, [&]<class T>() {
    return norm::launch_rows<T>(call, two_pass_kernel<T>, norm_plan::kLessonBlock, norm_plan::kLessonBlock);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs
