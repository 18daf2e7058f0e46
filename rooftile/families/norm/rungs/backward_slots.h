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
  std::int64_t dx;    // where the row begins in dx
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
  RawVector* s_vector;  // of the row's x: the first, or one that a thread has
  int slot = 0;
  std::uint32_t parity = 0;
  __device__ __forceinline__ void advance(const GroupRing& ring) {
    s_vector += 2 * ring.vectors;
    if (++slot < ring.slots) return;
    s_vector -= ring.slots * 2 * ring.vectors;
    slot = 0;
    parity ^= 1u;
  }
};

// By one thread; nobody reads the slot any more.
template <class T>
__device__ __forceinline__ void ask_for_row(const GroupRing& ring, const SlotWalk& walk,
                                            const Operands<T>& call, std::int64_t row) {
  RowSlot& s_slot = ring.s_slots[walk.slot];
  const auto bytes = static_cast<std::uint32_t>(ring.vectors) * kVecBytes;
  std::int64_t outer = 0;
  std::int64_t inner = row;
  if (const auto& places = call.places; places.rows.inner != places.rows.count) {
    const auto parts = places.by_inner.divide_with_remainder(static_cast<std::uint64_t>(row));
    outer = static_cast<std::int64_t>(parts.quotient);
    inner = static_cast<std::int64_t>(parts.remainder);
  }
  const auto offset = [&](std::size_t tensor) {
    const RowPitch& place = call.places.rows.tensors[tensor];
    return outer * place.outer_pitch + inner * place.pitch;
  };
  s_slot.dx = offset(kDx);
  s_slot.dsum = offset(kDsum);
  mbarrier_arrive_expect_tx(&s_slot.full, 2 * bytes);
  bulk_load(walk.s_vector, call.g_x + offset(kX), bytes, &s_slot.full);
  bulk_load(walk.s_vector + ring.vectors, call.g_dy + offset(kDy), bytes, &s_slot.full);
}

}  // namespace rooftile::ROOFTILE_TARGET::norm::backward
