// A pass over tiles that need what stands in front of them, with roles for warps: nobody waits with empty hands.
//
// A resident grid takes tiles by a ticket. In each block one warp asks the copy engine for tiles, into a ring of stages in
// shared memory; scanners sum up a tile that has landed, then finish one that landed kRing.ahead tiles ago; meanwhile one warp
// publishes totals, and one walks along the totals of all tiles to find out what stands in front. A tile waits for tiles of
// smaller tickets alone, which running blocks have taken. The block has no barrier but at its two ends.
//
// A Task is trivially copyable and has
//   static constexpr LookAheadRing kRing;                     // core/look_ahead_plan.h; at most 29 warps
//   using Total, Prefix;                                      // of a tile; of what is in front of one
//   Total identity() const, combine(Total, Total) const;      // associative
//   Prefix initial() const, extend(Prefix, Total) const;      // of a row's first tile; the next tile's
//   TileSource source(TileAt) const;                          // by one thread
//   Total total(TileAt, s_tile) const;                        // by all lanes of a scanner: of its part of the tile
//   void finish(TileAt, s_tile, prefix, total, release) const;   // the same, later; calls release() once all lanes are done
//                                                             // with the stage. Until then they may overwrite their
//                                                             // part of it.
//   void found(TileAt, prefix, total) const;                  // by one thread, of each tile
//
// Source: the roles: CUTLASS's warp-specialised kernels; PTX ISA, cp.async.bulk and mbarrier; publishing totals: Merrill and
// Garland (2016).
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/look_ahead_plan.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/device/totals_walk.h"
#include "rooftile/device/vec.h"

namespace rooftile::ROOFTILE_TARGET {

// What of a tile the copy engine brings: `vectors` of 16 bytes, to vector `at` of the stage.
struct TileSource {
  const void* g_first;
  int at;
  int vectors;
};

// Tiles of rows, one row behind the other.
struct TileRows {
  std::int64_t rows;
  std::int64_t tiles;  // of each
};
struct TileAt {
  std::int64_t row;
  std::int64_t index;  // in its row
};

template <class Task>
inline constexpr int kLookAheadStageVectors = Task::kRing.warps* Task::kRing.vectors* kWarpSize;
template <class Task>
inline constexpr std::size_t kLookAheadSharedBytes =
    static_cast<std::size_t>(Task::kRing.stages) * kLookAheadStageVectors<Task>* kVecBytes;
template <class Task>
inline constexpr int kLookAheadThreads = (Task::kRing.warps + 3) * kWarpSize;

// What a stage of the ring carries beside its tile.
template <class Task>
struct LookAheadShared {
  Mbarrier full[Task::kRing.stages];    // the tile has landed, and where it is from
  Mbarrier summed[Task::kRing.stages];  // every scanner's total is there
  Mbarrier ready[Task::kRing.stages];   // every scanner's prefix is there
  Mbarrier empty[Task::kRing.stages];   // nobody uses the stage any more
  TileAt tile[Task::kRing.stages];
  typename Task::Total totals[Task::kRing.stages][Task::kRing.warps];
  typename Task::Prefix prefixes[Task::kRing.stages][Task::kRing.warps];
  bool is_last;
};

// Memory of the grid: two counters that are zero before and afterwards, and a total for every tile.
template <class Total>
struct LookAheadMemory {
  std::uint32_t* g_tickets;
  PublishedValues<Total> totals;
};

template <class Task>
class LookAhead {
 public:
  __device__ __forceinline__ LookAhead(const Task& task, const TileRows& rows,
                                       const LookAheadMemory<typename Task::Total>& memory, uint4* s_ring,
                                       LookAheadShared<Task>& s)
      : task_(task), rows_(rows), memory_(memory), s_ring_(s_ring), s_(s) {}

  // By all threads of all blocks, kLookAheadThreads<Task> in each.
  __device__ __forceinline__ void run() const {
    if (threadIdx.x == 0) {
      for (int i = 0; i < kStages; ++i) {
        mbarrier_init(&s_.full[i], 1);
        mbarrier_init(&s_.summed[i], kScanners);
        mbarrier_init(&s_.ready[i], kScanners);
        mbarrier_init(&s_.empty[i], kScanners + 1);
      }
      fence_mbarrier_init();
      s_.is_last = false;
    }
    __syncthreads();  // the barriers are ready
    switch (warp_index()) {
      case kTaker:
        if (lane_index() == 0) take();
        break;
      case kPublisher:
        publish();
        break;
      case kFinder:
        find();
        break;
      default:
        scan();
        break;
    }
    __syncthreads();  // the block reads and publishes no more
    if (threadIdx.x == 0) s_.is_last = fetch_inc_acq_rel(memory_.g_tickets, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();  // who is last is known
    if (!s_.is_last) return;
    if (threadIdx.x == 0) memory_.g_tickets[1] = 0;
    const std::int64_t totals = totals_of_rows(rows_.rows, rows_.tiles);
    for (std::int64_t i = threadIdx.x; i < totals; i += kLookAheadThreads<Task>) memory_.totals.clear(i);
  }

 private:
  using Total = typename Task::Total;
  using Prefix = typename Task::Prefix;
  static constexpr int kStages = Task::kRing.stages;
  static constexpr int kScanners = Task::kRing.warps;
  static constexpr int kTaker = kScanners;  // the warps behind the scanners
  static constexpr int kPublisher = kScanners + 1;
  static constexpr int kFinder = kScanners + 2;
  static constexpr std::int64_t kNoRow = -1;  // of the tile behind the last
  static_assert(Task::kRing.ahead < kStages, "a stage for the tile that is summed up");

  // A place in the ring that walks from tile to tile.
  struct Place {
    int stage = 0;
    std::uint32_t parity = 0;
    __device__ __forceinline__ void step() {
      if (++stage == kStages) {
        stage = 0;
        parity ^= 1u;
      }
    }
  };

  // Takes tiles until there are none. One thread. Tickets are drawn some tiles ahead: an atomic takes as long as a tile.
  __device__ __forceinline__ void take() const {
    constexpr int kDrawn = 3;
    const std::int64_t count = rows_.rows * rows_.tiles;
    std::int64_t tickets[kDrawn];
#pragma unroll
    for (std::int64_t& ticket : tickets) ticket = draw();
    Place at;
    for (;;) {
#pragma unroll
      for (std::int64_t& ticket : tickets) {
        const std::int64_t number = ticket;
        ticket = draw();
        mbarrier_wait(&s_.empty[at.stage], at.parity ^ 1u);
        if (number >= count) {
          s_.tile[at.stage] = {kNoRow, 0};
          mbarrier_arrive(&s_.full[at.stage]);
          return;
        }
        TileAt tile{0, number};
        if (rows_.rows > 1) tile = {number / rows_.tiles, number % rows_.tiles};
        s_.tile[at.stage] = tile;
        const TileSource source = task_.source(tile);
        if (source.vectors <= 0) {
          mbarrier_arrive(&s_.full[at.stage]);
        } else {
          const auto bytes = static_cast<std::uint32_t>(source.vectors * kVecBytes);
          mbarrier_arrive_expect_tx(&s_.full[at.stage], bytes);
          bulk_load(stage(at) + source.at, source.g_first, bytes, &s_.full[at.stage]);
        }
        at.step();
      }
    }
  }
  [[nodiscard]] __device__ __forceinline__ std::int64_t draw() const {
    return atomicAdd(memory_.g_tickets + 1, 1u);
  }

  __device__ __forceinline__ void scan() const {
    const int lane = lane_index();
    const int warp = warp_index();
    Place ahead;   // the tile that is summed up
    Place behind;  // and the one that is finished
    bool has_ended = false;
    int waiting = 0;  // tiles between the two
    while (!has_ended || waiting > 0) {
      if (!has_ended) {
        mbarrier_wait(&s_.full[ahead.stage], ahead.parity);
        const TileAt tile = s_.tile[ahead.stage];
        has_ended = tile.row == kNoRow;
        if (!has_ended) {
          const Total total = task_.total(tile, stage(ahead));
          if (lane == 0) {
            s_.totals[ahead.stage][warp] = total;
            mbarrier_arrive(&s_.summed[ahead.stage]);
          }
          ++waiting;
          ahead.step();
        }
      }
      if (waiting > (has_ended ? 0 : Task::kRing.ahead)) {
        mbarrier_wait(&s_.ready[behind.stage], behind.parity);
        const TileAt tile = s_.tile[behind.stage];
        const Prefix prefix = s_.prefixes[behind.stage][warp];
        const Total total = s_.totals[behind.stage][warp];
        task_.finish(tile, stage(behind), prefix, total, [&] {
          __syncwarp();  // all lanes are done with the stage before lane 0 says so
          if (lane == 0) mbarrier_arrive(&s_.empty[behind.stage]);
        });
        --waiting;
        behind.step();
      }
    }
  }

  __device__ __forceinline__ void publish() const {
    const int lane = lane_index();
    for (Place at;; at.step()) {
      mbarrier_wait(&s_.full[at.stage], at.parity);
      const TileAt tile = s_.tile[at.stage];
      if (tile.row == kNoRow) return;
      mbarrier_wait(&s_.summed[at.stage], at.parity);
      const Total total = warp_broadcast(sums_up_to(at), kWarpSize - 1);
      __syncwarp();  // all lanes have read before lane 0 says so
      if (lane != 0) continue;
      mbarrier_arrive(&s_.empty[at.stage]);
      if (rows_.tiles > 1) memory_.totals.publish(first_total(tile) + tile.index, total);
    }
  }

  __device__ __forceinline__ void find() const {
    const int lane = lane_index();
    TotalsWalk<Total, Prefix> walk;
    for (Place at;; at.step()) {
      mbarrier_wait(&s_.full[at.stage], at.parity);
      const TileAt tile = s_.tile[at.stage];
      if (tile.row == kNoRow) return;
      Prefix prefix = task_.initial();
      if (rows_.tiles > 1)
        prefix = walk.in_front_of(memory_.totals, first_total(tile), tile.index, prefix, task_.identity(),
                                  combine(), extend());
      mbarrier_wait(&s_.summed[at.stage], at.parity);
      const Total up_to = sums_up_to(at);
      const Total in_front = shuffle_up(up_to, 1);
      if (lane == kWarpSize - 1) task_.found(tile, prefix, up_to);
      __syncwarp();  // all lanes have read the stage before some say so
      if (lane < kScanners) {
        s_.prefixes[at.stage][lane] = lane == 0 ? prefix : task_.extend(prefix, in_front);
        mbarrier_arrive(&s_.ready[at.stage]);
      }
    }
  }

  [[nodiscard]] __device__ __forceinline__ std::int64_t first_total(const TileAt& tile) const {
    return tile.row * totals_of_row(rows_.tiles);
  }
  // Of a tile that is summed up: in lane i what scanners 0 ... i have, in those behind the last scanner the tile's total.
  [[nodiscard]] __device__ __forceinline__ Total sums_up_to(const Place& at) const {
    const int lane = lane_index();
    return warp_inclusive_scan(lane < kScanners ? s_.totals[at.stage][lane] : task_.identity(), combine());
  }
  [[nodiscard]] __device__ __forceinline__ auto combine() const {
    return [this](const Total& a, const Total& b) { return task_.combine(a, b); };
  }
  [[nodiscard]] __device__ __forceinline__ auto extend() const {
    return [this](const Prefix& a, const Total& b) { return task_.extend(a, b); };
  }
  [[nodiscard]] __device__ __forceinline__ uint4* stage(const Place& at) const {
    return s_ring_ + at.stage * kLookAheadStageVectors<Task>;
  }

  const Task& task_;
  const TileRows& rows_;
  const LookAheadMemory<Total>& memory_;
  uint4* s_ring_;
  LookAheadShared<Task>& s_;
};

}  // namespace rooftile::ROOFTILE_TARGET
