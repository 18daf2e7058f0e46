// A thread for each element, with a generator of its own.
//
// Idea       every thread calls Philox for its element and takes one of the four words.
// Limits     none.
// Bottleneck four times the multiplications that are needed; 2 or 4 bytes for each access. Bits of a mask take eight threads' elements: one
//            of eight makes them all once more.
#include "rooftile/ops/dropout/rungs/dropout_device.h"

namespace rooftile::ROOFTILE_TARGET::dropout_rungs {
namespace {

template <class T>
__global__ void __launch_bounds__(kBlock) state_per_thread_kernel(Operands<T> call) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= call.count) return;
  const std::uint64_t stream = call.stream();
  const bool is_kept = (call.kept_of(i / kWords, stream) >> (i % kWords) & 1u) != 0;
  float v = static_cast<float>(call.g_x[i]);
  if (call.g_bias != nullptr) {
    const auto column = call.by_columns.divide_with_remainder(static_cast<std::uint64_t>(i)).remainder;
    v += static_cast<float>(call.g_bias[column]);
  }
  const float residual = call.g_residual == nullptr ? 0.0f : static_cast<float>(call.g_residual[i]);
  call.g_y[i] = rounded<T>(call.result(v, is_kept, residual));
  if (call.g_mask == nullptr) return;
  if (!call.is_bits) {
    call.g_mask[i] = is_kept ? 1 : 0;
  } else if (i % 8 == 0) {
    const std::int64_t quad = i / kWords;
    call.g_mask[i / 8] =
        static_cast<std::uint8_t>(call.kept_of(quad, stream) | call.kept_of(quad + 1, stream) << kWords);
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<DropoutArgs>& call) {
  return dispatch_floats(call.args,
                         [&]<class T>() { return launch_elements<T>(call, state_per_thread_kernel<T>, 1); });
}

}  // namespace rooftile::ROOFTILE_TARGET::dropout_rungs
