// The sum and the sum of squares in one walk.
//
// Idea       the variance is the mean of the squares less the square of the mean.
// Change     two walks in place of three.
// Limits     rows of at most 16384 elements. Both sums are in double: in single the two terms, alike in all but their last digits
//            where the mean is large beside the deviation, leave nothing of the variance (the README has the numbers).
// Bottleneck a warp's lanes are a row apart; double has half of the units that single has, or a 32nd.
#include "rooftile/families/norm/rungs/thread_rows.h"
#include "rooftile/ops/layer_norm/layer_norm.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs {
namespace {

template <class T>
__global__ void __launch_bounds__(norm_plan::kLessonBlock) sum_of_squares_kernel(norm::Operands<T> call) {
  norm::normalise_thread_row<norm::Centred>(call, [&](const norm::RowElements<T>&, auto first, float) {
    double sum = 0;
    double squares = 0;
    for (std::int64_t j = 0; j < call.length(); ++j) {
      const auto v = static_cast<double>(first(j));
      sum += v;
      squares = fma(v, v, squares);
    }
    const auto n = static_cast<double>(call.length());
    const double mean = sum / n;
    const double off = squares - sum * mean;
    return norm::Centred::Stats{static_cast<float>(n), static_cast<float>(mean),
                                static_cast<float>(off < 0 ? 0 : off), 0};
  });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<LayerNormArgs>& call) {
  return norm::dispatch_floats(call.args, [&]<class T>() {
    return norm::launch_rows<T>(call, sum_of_squares_kernel<T>, norm_plan::kLessonBlock,
                                norm_plan::kLessonBlock);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs
