// How many blocks of a kernel an SM holds at once, which limit says so, and how a grid fills a GPU with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rooftile/core/status.h"
#include "rooftile/lab/inspect/gpu_arch.h"

namespace rooftile::lab {

// What a block of a kernel takes of an SM.
struct BlockNeeds {
  int threads = 0;
  std::optional<int> registers;   // per thread; none: not known, and not counted
  std::int64_t shared_bytes = 0;  // static and dynamic
  int barriers = 0;
};

struct OccupancyLimit {
  std::string name;  // "registers"
  int blocks = 0;    // that this limit alone allows
};

struct Occupancy {
  int blocks = 0;  // per SM; 0: a block does not fit
  int warps = 0;   // of these blocks
  int most_warps = 0;
  std::vector<OccupancyLimit> limits;  // that count for this kernel
  std::vector<std::string> binding;    // the names of those that allow no more than `blocks`
  std::string problem;                 // why a block does not fit

  [[nodiscard]] double fraction() const { return static_cast<double>(warps) / most_warps; }
};

// As if the SM gave to shared memory what it can (the driver's choice where blocks ask for it).
[[nodiscard]] Occupancy occupancy_of(const SmLimits& sm, const BlockNeeds& needs);

// A grid on a GPU, under the assumption that all blocks take the same time.
struct Waves {
  std::int64_t slots = 0;     // blocks that run at once
  double count = 0;           // blocks over slots
  double last_fill = 0;       // share of the slots that the last wave uses
  double idle = 0;            // share of the GPU's time that is idle because of it
  std::int64_t busy_sms = 0;  // SMs that get a block at all
};
// `cluster_blocks` of one cluster run at once; that each cluster stays within one GPC is not known here, so
// `slots` is an upper bound then. Precondition: blocks_per_sm > 0.
[[nodiscard]] Waves waves_of(std::int64_t blocks, int blocks_per_sm, int multiprocessors, int cluster_blocks);

}  // namespace rooftile::lab
