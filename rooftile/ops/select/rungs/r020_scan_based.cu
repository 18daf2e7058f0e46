// Count, scan, write.
//
// Idea       an element's place is the number of chosen ones in front of it: an exclusive sum of ones and zeros. Tiles are
//            counted, the counts summed up, and every tile is read once more and written.
// Change     the order is kept, and no thread waits for another's atomic; three launches, and the input is read twice.
// Limits     elements of 4 bytes.
// Bottleneck DRAM, for twice the bytes; the sum of counts, by one block.
// Source     Blelloch (1990), "split".
#include "rooftile/device/block.h"
#include "rooftile/ops/select/rungs/select_device.h"

namespace rooftile::ROOFTILE_TARGET::select_rungs {
namespace {

constexpr int kVectors = select_plan::large_vectors(4);

template <class Chooser>
__global__ void __launch_bounds__(kTileThreads)
    count_tiles_kernel(Chooser chooser, Elements<typename Chooser::In> from, std::int64_t* g_counts) {
  __shared__ TileShared<typename Chooser::In, kVectors> s;
  select_tile_number<kVectors, true>(blockIdx.x, chooser, from, Results<typename Chooser::In>{}, s,
                                     [&](std::int64_t count) {
                                       if (threadIdx.x == 0) g_counts[blockIdx.x] = count;
                                       return std::int64_t{0};
                                     });
}

// The sums in front of every count, in its place, and the sum of all. One block.
__global__ void __launch_bounds__(select_plan::kSumThreads)
    sum_counts_kernel(std::int64_t* g_counts, std::int64_t tiles, std::int64_t* g_total) {
  // In turn: what a round reads the next one does not write.
  __shared__ std::int64_t s_warp_values[2][kWarpsOf<select_plan::kSumThreads>];
  const auto add = [](std::int64_t a, std::int64_t b) { return a + b; };
  std::int64_t running = 0;
  for (std::int64_t round = 0; round * select_plan::kSumThreads < tiles; ++round) {
    const std::int64_t i = round * select_plan::kSumThreads + threadIdx.x;
    const std::int64_t count = i < tiles ? g_counts[i] : 0;
    const auto scanned =
        block_exclusive_scan<select_plan::kSumThreads>(count, std::int64_t{0}, s_warp_values[round % 2], add);
    if (i < tiles) g_counts[i] = running + scanned.value;
    running += scanned.total;
  }
  if (threadIdx.x == 0) *g_total = running;
}

template <class Chooser>
__global__ void __launch_bounds__(kTileThreads)
    write_tiles_kernel(Chooser chooser, Elements<typename Chooser::In> from,
                       Results<typename Chooser::In> results, const std::int64_t* g_prefixes) {
  __shared__ TileShared<typename Chooser::In, kVectors> s;
  select_tile_number<kVectors, false>(blockIdx.x, chooser, from, results, s,
                                      [&](std::int64_t) { return g_prefixes[blockIdx.x]; });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SelectArgs>& call) {
  return dispatch_lesson(call.args, [&]<class Chooser>(const Chooser& chooser) -> Status {
    using In = typename Chooser::In;
    const std::int64_t tiles = call.config<select_plan::Cut>().tiles;
    if (tiles > kMaxGrid) return unsupported("more than 2^31 - 1 tiles");
    auto* g_counts = static_cast<std::int64_t*>(call.workspace.data);
    const Elements<In> from = elements_of<In>(call.args);
    const Results<In> results = results_of<In>(call.args);
    const auto grid = dim3(static_cast<unsigned>(tiles));
    ROOFTILE_TRY(launch(count_tiles_kernel<Chooser>,
                        {.grid = grid, .block = dim3(kTileThreads), .stream = call.stream}, chooser, from,
                        g_counts));
    ROOFTILE_TRY(launch(sum_counts_kernel, {.block = dim3(select_plan::kSumThreads), .stream = call.stream},
                        g_counts, tiles, results.g_count));
    return launch(write_tiles_kernel<Chooser>,
                  {.grid = grid, .block = dim3(kTileThreads), .stream = call.stream}, chooser, from, results,
                  g_counts);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::select_rungs
