// Rows cut over all blocks of the grid (core/grid_cut.h): each has a part of every row, and what the parts found meets in global memory.
//
//   using Rows = GridRows<float, 64, 8, Sums>;
//   __shared__ Rows::Shared s_rows;
//   Rows rows(call, s_rows, s_slots);
//   rows.start();
//   rows.for_each([&](auto& row, auto meet) { return meet(sum of row); },
//                 [&](auto& row, int r, Found found, bool is_first) { row.store(...); });
//
// A group of a block's warps has its part of a row in registers. What it found of it is published as one word, and it waits for the
// words of all blocks: groups of one block do not wait for each other, so that one row is stored while others still come. The grid is
// launched cooperatively, of blocks of kGridThreads, one for each multiprocessor at most; rows are of whole vectors at multiples of 16
// bytes, and a row may be stored where it was read. How parts become a whole, Reduction: row_meeting.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "rooftile/core/grid_cut.h"
#include "rooftile/core/status.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/register_row.h"
#include "rooftile/device/row_meeting.h"
#include "rooftile/device/row_threads.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET {

// Warps of a group that meet in shared memory before one of them publishes.
template <class Stats, int kWarps>
struct GroupFound {
  Mbarrier there;
  Stats values[2][kWarps];  // by turns
};

// What a kernel is told of its rows.
template <class T, int kTakes>
struct GridRowsOf {
  const T* g_x;
  std::int64_t x_pitch;
  int rows;
  int length;
  int part;  // vectors of a row that a block has
  RowMeeting<kTakes> meeting;
};

template <class T, int kThreads, int kVectors, class Reduction>
class GridRows {
  using Stats = typename Reduction::Stats;
  using Threads = RowThreads<kThreads>;

 public:
  using Row = RegisterRow<T, Threads, kVectors, true>;
  using Call = GridRowsOf<T, Reduction::kTakes>;
  static constexpr int kGroups = kGridThreads / kThreads;

  struct Shared {
    Mbarrier row_there[kGroups];
    GroupFound<Stats, Threads::kWarps> found[kGroups];
  };

  // s_slots: a part of a row for each group that has one.
  __device__ __forceinline__ GridRows(const Call& call, Shared& s, uint4* s_slots,
                                      const Reduction& reduction = {})
      : call_(call),
        s_(s),
        s_slots_(s_slots),
        reduction_(reduction),
        group_(Threads::row()),
        first_vector_(static_cast<int>(blockIdx.x) * call.part) {}

  // By all threads: the first rows are on their way. Barriers that thread 0 prepared before are ready, too.
  __device__ __forceinline__ void start() {
    if (Threads::index() == 0) {
      mbarrier_init(s_.row_there + group_, 1);
      mbarrier_init(&s_.found[group_].there, Threads::kWarps);
      fence_mbarrier_init();
      if (group_ < call_.rows) {
        ask_for(group_);
        // From memory to L2, in front of the row: what this block will write, and others look at.
        bulk_prefetch(call_.meeting.words(group_, 0) + blockIdx.x / 2 * 2, kVecBytes);
      }
    }
    __syncthreads();  // the barriers are ready
  }

  // This block's part of a row: where it begins, and its bytes.
  [[nodiscard]] __device__ __forceinline__ int first_vector() const { return first_vector_; }
  [[nodiscard]] __device__ __forceinline__ const T* place(const T* g_row) const {
    return g_row + first_vector() * Row::kElements;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t bytes() const {
    return static_cast<std::uint32_t>(elements(static_cast<int>(blockIdx.x)) * static_cast<int>(sizeof(T)));
  }

  // Each group's rows: find(row, meet) gives what store(row, r, found, is_first) needs; is_first: of this group. meet(stats of this
  // thread's elements) gives those of the whole row. All threads of all blocks call it for a row, equally often: once at least, kTakes
  // times at most.
  template <class Find, class Store>
  __device__ __forceinline__ void for_each(Find find, Store store) {
    std::uint32_t turn = 0;
    std::uint32_t round = 0;
    for (int r = group_; r < call_.rows; r += kGroups, ++round) {
      mbarrier_wait(s_.row_there + group_, round % 2);
      Row row;
      row.load(reinterpret_cast<const T*>(slot(group_)) - first_vector() * Row::kElements, call_.length,
               reduction_.template filler<T>(), first_vector(), call_.part);
      __syncwarp();  // all lanes have taken the row: another one may come to its place
      int takes = 0;
      const auto found = find(row, [&](const Stats& own) { return meet(r, takes++, turn, own); });
      const std::uint32_t warps = gridDim.x * Threads::kWarps;
      const std::uint32_t before = call_.meeting.count_reader(r, warps);
      if (r + kGroups < call_.rows && Threads::index() == 0) ask_for(r + kGroups);
      store(row, r, found, round == 0);
      call_.meeting.clear_if_last(r, before, warps, takes);
    }
  }

 private:
  [[nodiscard]] __device__ __forceinline__ int elements(int block) const {
    const int begin = block * call_.part * Row::kElements;
    return call_.length - begin < call_.part * Row::kElements ? call_.length - begin
                                                              : call_.part * Row::kElements;
  }
  [[nodiscard]] __device__ __forceinline__ uint4* slot(int group) const {
    return s_slots_ + group * call_.part;
  }
  __device__ __forceinline__ void ask_for(int r) {
    Mbarrier* s_there = s_.row_there + r % kGroups;
    mbarrier_arrive_expect_tx(s_there, bytes());
    bulk_load(slot(r % kGroups), place(call_.g_x + r * call_.x_pitch), bytes(), s_there);
  }
  __device__ __forceinline__ Stats meet(int r, int take, std::uint32_t& turn, const Stats& of_thread) {
    Stats own = reduction_.over_lanes(std::integral_constant<int, kWarpSize>{}, of_thread);
    if constexpr (Threads::kWarps > 1) {
      auto& s_found = s_.found[group_];
      auto& s_values = s_found.values[turn % 2];
      __syncwarp();  // what the lanes read of the meeting before is read before others hear of this one
      if (lane_index() == 0) {
        s_values[Threads::index() / kWarpSize] = own;
        mbarrier_arrive(&s_found.there);
      }
      mbarrier_wait(&s_found.there, turn % 2);
      ++turn;
      own = reduction_.over_lanes(std::integral_constant<int, Threads::kWarps>{},
                                  s_values[lane_index() % Threads::kWarps]);
    }
    if (Threads::index() == 0)
      call_.meeting.publish(r, take, static_cast<int>(blockIdx.x), reduction_.word_of(own));
    return call_.meeting.template read_all<kMostGridBlocks>(r, take, reduction_,
                                                            [&](int block) { return elements(block); });
  }

  const Call& call_;
  Shared& s_;
  uint4* s_slots_;
  Reduction reduction_;
  int group_;
  int first_vector_;
};

inline LaunchConfig grid_launch(const GridCut& cut, StreamRef stream) {
  return {.grid = dim3(static_cast<unsigned>(cut.blocks)),
          .block = dim3(kGridThreads),
          .shared_bytes = static_cast<std::size_t>(cut.shared_bytes),
          .stream = stream,
          .cooperative = true};
}

// body.operator()<kThreads, kVectors>() of the shape that a cut has.
template <std::size_t kShape = 0, class Body>
Status with_grid_shape(int shape, Body&& body) {
  constexpr RowShape kOf = kGridShapes[kShape];
  if (shape == static_cast<int>(kShape)) return body.template operator()<kOf.threads, kOf.vectors>();
  if constexpr (kShape + 1 < kGridShapes.size())
    return with_grid_shape<kShape + 1>(shape, std::forward<Body>(body));
  return unsupported("a longer part of a row than a block's registers have room for");
}

}  // namespace rooftile::ROOFTILE_TARGET
