// How rows go through rings in shared memory: decided on the host, read by device/sm90a/row_ring.h.
#pragma once

#include <cstdint>

#include "rooftile/core/integers.h"

namespace rooftile {

inline constexpr int kMostRingStages = 64;
inline constexpr int kMostClusterBlocks = 16;

struct RowRingPlan {
  int blocks = 1;         // of a cluster: each has an equal part of every row
  int stages = 0;         // of a block's ring
  int clusters = 0;       // that are launched, and walk along all rows
  std::int64_t part = 0;  // vectors of 16 bytes of a row that a block has at most
};

// Bytes of a stage: a vector for each of the threads that read it.
constexpr int ring_stage_bytes(int warps) { return warps * 32 * 16; }

}  // namespace rooftile
