// A thread for each pair of each token, and all its heads.
//
// Idea       a thread makes cosine and sine once, and turns its pair of every head by them.
// Change     no table: an angle is made once for all heads, and stays in registers. Its frequency is one load of constant memory a thread.
// Limits     none.
// Bottleneck 2 or 4 bytes for each access; few threads where tokens are few.
#include "rooftile/ops/rope/rungs/rope_device.h"

namespace rooftile::ROOFTILE_TARGET::rope_rungs {
namespace {

template <class T>
__global__ void __launch_bounds__(kBlock)
    sincos_on_the_fly_kernel(Operands<T> call, Split by_pairs, Split by_tokens, std::int64_t count,
                             const __grid_constant__ Turns turns) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (thread >= count) return;
  const auto [token_of_all, pair] = by_pairs(thread);
  const auto [batch, token] = by_tokens(token_of_all);
  Angle angle{1, 0};
  if (pair < call.cut.pairs())
    angle = angle_of(call.position(batch, token) * turns.of[static_cast<std::size_t>(pair)], call.inverse);
  for (std::int64_t h = 0; h < call.cut.heads(); ++h) call.turn_pair(batch, token, h, pair, angle);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<RopeArgs>& call) {
  return dispatch_floats(call.args, [&]<class T>() -> Status {
    const Cut& cut = call.config<Cut>();
    if (cut.is_empty()) return {};
    const std::int64_t pairs = (cut.width + 1) / 2;
    const std::int64_t count = cut.batches * cut.tokens * pairs;
    LaunchConfig config;
    ROOFTILE_TRY(launch_config(count, call.stream, config));
    return launch(sincos_on_the_fly_kernel<T>, config, operands_of<T>(call), Split::of(pairs),
                  Split::of(cut.tokens), count, rope_plan::turns_of(call.args));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::rope_rungs
