// A counter that all threads share.
//
// Idea       whoever has a chosen element adds one to a counter and writes to the place that it was.
// Limits     the chosen ones come in any order, another one in every run: for calls that say stable=false. Elements of 4
//            bytes; no partition.
// Bottleneck one address: every atomic on it waits for the one before; where the compiler gathers a warp's into one, a 32nd
//            of them are left.
// Source     the first attempt of everybody.
#include "rooftile/ops/select/rungs/select_device.h"

namespace rooftile::ROOFTILE_TARGET::select_rungs {
namespace {

// Thread i looks at element i.
template <class Chooser>
__global__ void __launch_bounds__(select_plan::kAtomicThreads)
    unordered_atomics_kernel(Chooser chooser, Elements<typename Chooser::In> from,
                             Results<typename Chooser::In> results, unsigned long long* g_chosen) {
  const std::int64_t i = std::int64_t{blockIdx.x} * select_plan::kAtomicThreads + threadIdx.x;
  if (i >= from.n) return;
  const auto x = from.g_in[i];
  if (chooser.chosen(from, i, x)) results.g_out[atomicAdd(g_chosen, 1ull)] = x;
}

// Gives the count, and leaves the counter at zero for the next call. One thread.
__global__ void give_count_kernel(unsigned long long* g_chosen, std::int64_t* g_count) {
  *g_count = static_cast<std::int64_t>(*g_chosen);
  *g_chosen = 0;
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SelectArgs>& call) {
  return dispatch_lesson(call.args, [&]<class Chooser>(const Chooser& chooser) -> Status {
    using In = typename Chooser::In;
    const std::int64_t blocks = larger(1, ceil_div(call.args.in.numel(), select_plan::kAtomicThreads));
    if (blocks > kMaxGrid) return unsupported("more than 2^31 - 1 blocks");
    auto* g_chosen = static_cast<unsigned long long*>(call.workspace.zeroed);
    const Results<In> results = results_of<In>(call.args);
    ROOFTILE_TRY(launch(unordered_atomics_kernel<Chooser>,
                        {.grid = dim3(static_cast<unsigned>(blocks)),
                         .block = dim3(select_plan::kAtomicThreads),
                         .stream = call.stream},
                        chooser, elements_of<In>(call.args), results, g_chosen));
    return launch(give_count_kernel, {.stream = call.stream}, g_chosen, results.g_count);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::select_rungs
