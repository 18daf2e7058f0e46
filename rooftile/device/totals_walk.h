// What stands in front of one tile after the other, by a warp that walks along the totals of all tiles.
//
// A warp that needs the prefix of a tile now and of another one, further on, later, keeps what it has added up: it reads the
// totals in between, 128 at a time, and waits for those that are not there yet. No tile depends on another tile's prefix, and
// the order of the additions is fixed: groups of 128, one behind the other, then the part of a group in front of the tile.
#pragma once

#include <cstdint>

#include "rooftile/core/look_ahead_plan.h"
#include "rooftile/device/lookback.h"
#include "rooftile/device/poll.h"
#include "rooftile/device/published.h"
#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET {

// Total: what a tile publishes. Prefix: what stands in front of one, which may be wider.
template <class Total, class Prefix>
class TotalsWalk {
 public:
  // What stands in front of tile `tile` of the row whose totals begin at number `first`, an even one; by all lanes of a warp, which takes
  // tiles of a row in ascending order, and rows likewise. combine(total, total) and extend(prefix, total) are associative.
  template <class Combine, class Extend>
  __device__ __forceinline__ Prefix in_front_of(const PublishedValues<Total>& totals, std::int64_t first,
                                                std::int64_t tile, const Prefix& initial,
                                                const Total& identity, Combine combine, Extend extend) {
    if (first != first_) {
      first_ = first;
      groups_ = 0;
      prefix_ = initial;
    }
    const std::int64_t whole = tile / kGroup;
    const auto place = static_cast<int>(tile % kGroup);
    const int rest = place - lane_index() * kPerLane;
    Run part;  // on its way while the whole groups are added up
    part.read(totals, at(whole), rest < kPerLane ? rest : kPerLane);
    for (; groups_ < whole; ++groups_) {
      Run run;
      run.read(totals, at(groups_), kPerLane);
      prefix_ = extend(prefix_, run.fold(totals, identity, combine));
    }
    const Total in_front = part.fold(totals, identity, combine);
    return place == 0 ? prefix_ : extend(prefix_, in_front);
  }

 private:
  static constexpr int kPerLane = 4;
  static_assert(kPerLane <= kTotalsOverhang, "the last lane that reads may read beyond the last row");
  static constexpr int kGroup = kPerLane * kWarpSize;

  // A lane's totals of a group, of which the first `count` are asked for.
  struct Run {
    typename PublishedValues<Total>::Entry entries[kPerLane];
    std::int64_t first;
    int count;

    __device__ __forceinline__ void read(const PublishedValues<Total>& totals, std::int64_t i, int asked) {
      first = i;
      count = asked;
      if (count > 0) totals.template read_run<kPerLane>(first, count, entries);
    }
    // Of all lanes, once all that they ask for is there.
    template <class Combine>
    __device__ __forceinline__ Total fold(const PublishedValues<Total>& totals, const Total& identity,
                                          Combine combine) {
      for (;;) {
        bool is_there = true;
#pragma unroll
        for (int k = 0; k < kPerLane; ++k) is_there = is_there && (k >= count || entries[k].state != 0);
        if (__all_sync(kFullMask, is_there)) break;
#if defined(ROOFTILE_SIM)  // on a GPU the round trip to memory is pause enough
        spin_hint();
#endif
        if (!is_there) totals.template read_run<kPerLane>(first, count, entries);
      }
      Total sum = count > 0 ? entries[0].value : identity;
#pragma unroll
      for (int k = 1; k < kPerLane; ++k) {
        if (k < count) sum = combine(sum, entries[k].value);
      }
      return fold_lanes(sum, combine);
    }
  };

  [[nodiscard]] __device__ __forceinline__ std::int64_t at(std::int64_t group) const {
    return first_ + group * kGroup + lane_index() * kPerLane;
  }

  std::int64_t first_ = -1;  // no row yet
  std::int64_t groups_ = 0;  // of the row, added up
  Prefix prefix_{};
};

}  // namespace rooftile::ROOFTILE_TARGET
