// Rows of x and dy on their way to shared memory: where each comes, and who waits for it.
//
// Source: PTX ISA, cp.async.bulk, mbarrier.
#pragma once

#include <cstdint>

#include "rooftile/device/raw_vector.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/families/norm/rungs/backward_device.h"

namespace rooftile::ROOFTILE_TARGET::norm::backward {

struct RowSlot {
  Mbarrier full;      // the row's vectors are there
  std::int64_t dx;    // where it begins in dx
  std::int64_t dsum;  // and in dsum
};

// A group's ring: a slot has as many vectors of x, and behind them of dy, as a row has.
struct GroupRing {
  RowSlot* s_slots;
  RawVector* s_rows;
  int slots;
  int vectors;
};
// Its rows, one behind the other, round and round.
struct SlotWalk {
  int slot = 0;
  int vector = 0;  // the first of the row
  std::uint32_t parity = 0;
  __device__ __forceinline__ void advance(const GroupRing& ring) {
    vector += 2 * ring.vectors;
    if (++slot < ring.slots) return;
    slot = vector = 0;
    parity ^= 1u;
  }
};

// By one thread; nobody reads the slot any more.
template <class T>
__device__ __forceinline__ void ask_for_row(const GroupRing& ring, const SlotWalk& walk,
                                            const Operands<T>& call, std::int64_t row) {
  RowSlot& s_slot = ring.s_slots[walk.slot];
  RawVector* s_row = ring.s_rows + walk.vector;
  const auto bytes = static_cast<std::uint32_t>(ring.vectors) * kVecBytes;
  s_slot.dx = call.places.offset(kDx, row);
  s_slot.dsum = call.places.offset(kDsum, row);
  mbarrier_arrive_expect_tx(&s_slot.full, 2 * bytes);
  bulk_load(s_row, call.x(row), bytes, &s_slot.full);
  bulk_load(s_row + ring.vectors, call.dy(row), bytes, &s_slot.full);
}

}  // namespace rooftile::ROOFTILE_TARGET::norm::backward
