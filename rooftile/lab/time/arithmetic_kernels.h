// The parts of arithmetic.h that nvcc compiles, and how much each of their rounds multiplies.
#pragma once

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/lab/time/arithmetic.h"

namespace rooftile::lab {

struct FmaShape {
  static constexpr int kBlock = 256;
  static constexpr int kBlocksPerSm = 4;  // 32 warps, eight per scheduler
  static constexpr int kChains = 8;       // independent, so that latency does not decide
};

struct MmaSyncShape {
  static constexpr int kBlock = 256;
  static constexpr int kBlocksPerSm = 2;  // 16 warps, four per tensor core
  static constexpr int kChains = 8;       // independent, so that latency does not decide
  static constexpr int kProducts = 16 * 8 * 16;
};

// Two warpgroups, because while one waits for its group of products the other's are executed.
struct WgmmaShape {
  static constexpr int kWarpgroup = 128;
  static constexpr int kWarpgroups = 2;
  static constexpr int kM = 64;
  static constexpr int kN = 256;
  static constexpr int kDepthBytes = 32;  // of one product along k, whatever the dtype
  static constexpr int kTilesOfB = 4;     // products per group
};

[[nodiscard]] Status fma_cuda(StreamRef stream, Arithmetic arithmetic, int multiprocessors, int rounds,
                              void* sink);
[[nodiscard]] Status mma_sync_bf16_cuda(StreamRef stream, int multiprocessors, int rounds, void* sink);
// wgmma, and mma.sync of f64.
[[nodiscard]] Status hopper_cuda(StreamRef stream, Arithmetic arithmetic, int multiprocessors, int rounds,
                                 void* sink);

}  // namespace rooftile::lab
