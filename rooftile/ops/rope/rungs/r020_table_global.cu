// Sines in a table of global memory.
//
// Idea       a first kernel makes cosine and sine of every token's angles, a second one has a thread for each pair of each head.
// Change     an angle is made once for all heads; lanes read the table side by side.
// Limits     none.
// Bottleneck two bytes of table for each byte of a 16-bit head's element, from L2; 2 or 4 bytes for each access of q and k.
#include "rooftile/ops/rope/rungs/rope_device.h"

namespace rooftile::ROOFTILE_TARGET::rope_rungs {
namespace {

template <class T>
__global__ void __launch_bounds__(kBlock)
    make_table_kernel(Operands<T> call, Split by_pairs, Split by_tokens, std::int64_t count,
                      const __grid_constant__ Turns turns, Angle* g_table) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (thread >= count) return;
  const auto [token_of_all, pair] = by_pairs(thread);
  const auto [batch, token] = by_tokens(token_of_all);
  g_table[thread] =
      angle_of(call.position(batch, token) * turns.of[static_cast<std::size_t>(pair)], call.inverse);
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    table_global_kernel(Operands<T> call, Places places, const Angle* g_table) {
  turn_each(call, places, [&](std::int64_t pair, std::int64_t batch, std::int64_t token) {
    return g_table[(batch * call.cut.tokens + token) * call.cut.pairs() + pair];
  });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<RopeArgs>& call) {
  return dispatch_floats(call.args, [&]<class T>() -> Status {
    const Cut& cut = call.config<Cut>();
    const Places places = Places::of(cut);
    if (places.count == 0) return {};
    const Operands<T> operands = operands_of<T>(call);
    auto* g_table = static_cast<Angle*>(call.workspace.data);
    LaunchConfig config;
    if (const std::int64_t angles = cut.batches * cut.tokens * cut.pairs(); angles > 0) {
      ROOFTILE_TRY(launch_config(angles, call.stream, config));
      ROOFTILE_TRY(launch(make_table_kernel<T>, config, operands, Split::of(cut.pairs()),
                          Split::of(cut.tokens), angles, rope_plan::turns_of(call.args), g_table));
    }
    ROOFTILE_TRY(launch_config(places.count, call.stream, config));
    return launch(table_global_kernel<T>, config, operands, places, static_cast<const Angle*>(g_table));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::rope_rungs
