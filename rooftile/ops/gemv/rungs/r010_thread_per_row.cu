// One thread, one output.
//
// Idea       a thread walks along the elements of one output: a row of the matrix, or a column for the transpose.
// Change     the start of the GPU climb.
// Limits     none: any strides, any alignment.
// Bottleneck sectors: the threads of a warp are a row apart, so that of 32 bytes that come one element is used, and L1 must keep
//            the rest until its turn comes. For the transpose they stand side by side; there it lacks parallelism.
#include "rooftile/ops/gemv/rungs/gemv_device.h"

namespace rooftile::ROOFTILE_TARGET::gemv_rungs {
namespace {

constexpr int kBlock = gemv_plan::kLessonBlock;

// `next`: elements from one that is added to the next, `apart`: between those of neighbouring outputs.
template <class In, class Acc>
__global__ void __launch_bounds__(kBlock)
    thread_per_row_kernel(Operands<In, Acc> call, std::int64_t next, std::int64_t apart) {
  const std::int64_t output = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (output < call.outputs()) {
    const auto at = call.place_of(output);
    const In* g_a = call.matrix(at.batch) + at.index * apart;
    const In* g_x = call.vector(at.batch);
    const std::int64_t n = call.shape.reduced();
    Acc total{};
    for (std::int64_t first = 0; first < n; first += gemv_plan::kLongestChain) {
      const std::int64_t last = first + gemv_plan::kLongestChain < n ? first + gemv_plan::kLongestChain : n;
      Acc sum{};
      for (std::int64_t i = first; i < last; ++i)
        sum = add_product(sum, g_a[i * next], g_x[i * call.shape.x_step]);
      total += sum;
    }
    call.store(at, total);
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemvArgs>& call) {
  return dispatch_floats(call.args, [&]<class In, class Acc>() -> Status {
    const Geometry& shape = call.config<Cut>().shape;
    return launch_blocks(call, kBlock, thread_per_row_kernel<In, Acc>, operands_of<In, Acc>(call),
                         shape.transposed ? shape.pitch : 1, shape.transposed ? 1 : shape.pitch);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemv_rungs
