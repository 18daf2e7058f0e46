// Where blocks that have parts of the same rows tell each other what they found: a word of each block in global memory, which all wait
// for. The blocks are there at once, by a cooperative launch. Parts are put together in the same order in every block and every run.
//
// Reduction says how parts become a whole:
//   Stats                          what is found of some elements
//   over_lanes(lanes, stats)       of neighbouring lanes together, in each of them
//   word_of(stats)                 a part's word; never 0
//   stats_in(word, elements)       the part's Stats again; of no elements those of nothing, whatever the word
//   of_parts(stats[])              what all lanes of a warp have, in each of them
//   filler<T>()                    an element that changes nothing
//   kTakes                         how often a row may meet
//
// Source: Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016), of publishing a value and its state
// as one word.
#pragma once

#include <cstdint>

#include "rooftile/core/grid_cut.h"
#include "rooftile/device/published.h"
#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET {

// Source: PTX ISA, prefetch.
#if defined(ROOFTILE_SIM)
inline void prefetch_to_l2(const void*) {}
#else
__device__ __forceinline__ void prefetch_to_l2(const void* g_address) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(g_address));
}
#endif

template <int kTakes>
struct RowMeeting {
  std::uint64_t* g_words;    // [rows][kTakes][an even number for all blocks]
  std::uint32_t* g_readers;  // [rows]
  int blocks;                // of a row

  // In grid_meeting_bytes of zeros.
  static RowMeeting of(void* zeroed, std::int64_t rows, int blocks) {
    auto* words = static_cast<std::uint64_t*>(zeroed);
    return {words, reinterpret_cast<std::uint32_t*>(words + rows * grid_words(kTakes, blocks)), blocks};
  }

  [[nodiscard]] __device__ __forceinline__ std::uint64_t* words(std::int64_t row, int take) const {
    return g_words + (row * kTakes + take) * static_cast<std::int64_t>((blocks + 1) / 2 * 2);
  }
  // By a full warp: what the row's first take will write and wait for is on its way to L2, where nothing of it may be.
  __device__ __forceinline__ void expect(std::int64_t row) const {
    constexpr int kSectorWords = 32 / sizeof(std::uint64_t);
    const int word = lane_index() * kSectorWords;
    if (word < blocks) prefetch_to_l2(words(row, 0) + word);
    if (lane_index() == 0) prefetch_to_l2(g_readers + row);
  }
  __device__ __forceinline__ void publish(std::int64_t row, int take, int block, std::uint64_t word) const {
    published_words::store_relaxed(words(row, take) + block, word);
  }

  // By a full warp: what all blocks' words of the row say together, in every lane. elements(b): how many block b has of the row.
  // kMostBlocks: a multiple of 64; words beyond the last block's are 0.
  template <int kMostBlocks, class Reduction, class Elements>
  __device__ __forceinline__ typename Reduction::Stats read_all(std::int64_t row, int take,
                                                                const Reduction& reduction,
                                                                Elements elements) const {
    static_assert(kMostBlocks % (2 * kWarpSize) == 0);
    constexpr int kPairs = kMostBlocks / 2 / kWarpSize;
    const std::uint64_t* g_first = words(row, take);
    std::uint64_t read[kPairs][2] = {};
    const auto is_missing = [&](int pair) {
      const int b = (lane_index() + pair * kWarpSize) * 2;
      return (b < blocks && read[pair][0] == 0) || (b + 1 < blocks && read[pair][1] == 0);
    };
    for (;;) {
      bool waits = false;
#pragma unroll
      for (int pair = 0; pair < kPairs; ++pair)
        if (is_missing(pair))
          published_words::load_two_relaxed(g_first + (lane_index() + pair * kWarpSize) * 2, read[pair]);
#pragma unroll
      for (int pair = 0; pair < kPairs; ++pair) waits = waits || is_missing(pair);
      if (__any_sync(kFullMask, waits) == 0) break;  // the warp stays together
      spin_hint();
    }
    typename Reduction::Stats parts[kPairs * 2];
#pragma unroll
    for (int i = 0; i < kPairs * 2; ++i) {
      const int b = (lane_index() + i / 2 * kWarpSize) * 2 + i % 2;
      parts[i] = reduction.stats_in(read[i / 2][i % 2], b < blocks ? static_cast<float>(elements(b)) : 0.0f);
    }
    return reduction.of_parts(parts);
  }

  // By a warp, behind its last read_all of the row: how many warps were there before it. Words are cleared when all warps are counted,
  // and a warp that is counted has its words in registers: what is cleared is read by nobody, and no fence is needed.
  __device__ __forceinline__ std::uint32_t count_reader(std::int64_t row, std::uint32_t warps) const {
    std::uint32_t before = 0;
    if (lane_index() == 0) before = atomicInc(g_readers + row, warps - 1);
    return before;
  }
  // The last of them leaves the words as they were before the launch.
  __device__ __forceinline__ void clear_if_last(std::int64_t row, std::uint32_t before, std::uint32_t warps,
                                                int takes) const {
    if (__shfl_sync(kFullMask, before, 0) != warps - 1) return;
    for (int take = 0; take < takes; ++take)
      for (int b = lane_index(); b < blocks; b += kWarpSize)
        published_words::store_relaxed(words(row, take) + b, 0);
  }
};

}  // namespace rooftile::ROOFTILE_TARGET
