// Frequencies in constant memory.
//
// Idea       a thread for each pair of each head reads its frequency from a table among the kernel's parameters, which are constant
//            memory, and makes the angle.
// Limits     none.
// Bottleneck the lanes of a warp read different words of constant memory, one after the other; and every head makes the angles of its
//            token once more.
#include "rooftile/ops/rope/rungs/rope_device.h"

namespace rooftile::ROOFTILE_TARGET::rope_rungs {
namespace {

template <class T>
__global__ void __launch_bounds__(kBlock)
    table_constant_memory_kernel(Operands<T> call, Places places, const __grid_constant__ Turns turns) {
  turn_each(call, places, [&](std::int64_t pair, std::int64_t batch, std::int64_t token) {
    return angle_of(call.position(batch, token) * turns.of[static_cast<std::size_t>(pair)], call.inverse);
  });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<RopeArgs>& call) {
  return dispatch_floats(call.args, [&]<class T>() -> Status {
    const Places places = Places::of(call.config<Cut>());
    if (places.count == 0) return {};
    LaunchConfig config;
    ROOFTILE_TRY(launch_config(places.count, call.stream, config));
    return launch(table_constant_memory_kernel<T>, config, operands_of<T>(call), places,
                  rope_plan::turns_of(call.args));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::rope_rungs
