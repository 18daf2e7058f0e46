// The textbook kernel: a thread per element.
//
// Limits     sums, products and gelu_tanh of f32, f16 and bf16; rows without gaps.
// Bottleneck requests: of 16-bit floats a warp's load brings 64 bytes, and a thread waits for 2 of them at a time.
// Source     the definition.
#include "rooftile/device/grid_stride.h"
#include "rooftile/ops/elementwise/rungs/typed_functions.h"

namespace rooftile::ROOFTILE_TARGET::elementwise_rungs {
namespace {

constexpr int kBlock = 256;
constexpr std::int64_t kMostBlocks = 1 << 30;

template <class Functor, class T, class... In>
__global__ void __launch_bounds__(kBlock)
    scalar_kernel(Functor functor, std::int64_t n, T* g_out, const In*... g_in) {
  for (const std::int64_t i : grid_stride(n)) g_out[i] = functor(g_in[i]...);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ElementwiseArgs>& call) {
  const std::int64_t n = call.args.out.numel();
  return dispatch_lesson(
      call.args, [&]<class Functor, class T, class... In>(const Functor& functor, T* out, const In*... in) {
        return launch(
            scalar_kernel<Functor, T, In...>,
            {.grid = dim3(grid_blocks(n, kBlock, kMostBlocks)), .block = dim3(kBlock), .stream = call.stream},
            functor, n, out, in...);
      });
}

}  // namespace rooftile::ROOFTILE_TARGET::elementwise_rungs
