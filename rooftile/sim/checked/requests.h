// What one memory instruction of a warp costs, by the rules of compute capability 7.0 and newer.
//
// Global memory: the lanes' bytes are served in sectors of 32 bytes, four to a line of 128. Shared memory: 32
// banks of 4 bytes; lanes that want different words of one bank are served one after the other. Accesses of 8
// bytes go by half-warps, of 16 bytes by quarters, or by half-warps where neighbours share their 16 bytes (counted
// by an H200: docs/calibration.md). Source: CUDA C++ Programming Guide, "Compute Capability 5.x" and newer; Nsight
// Compute's memory tables.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace rooftile::simt::checked {

inline constexpr unsigned kLanes = 32;
inline constexpr unsigned kSectorBytes = 32;
inline constexpr unsigned kLineBytes = 128;

struct WarpRequest {
  std::uint32_t lanes = 0;   // active ones, as bits
  unsigned bytes = 0;        // per lane
  bool matrix_rows = false;  // of ldmatrix or stmatrix: eight lanes at a time, whatever neighbours share
  std::array<std::uintptr_t, kLanes> address{};
};

struct GlobalCost {
  unsigned sectors = 0;
  unsigned ideal_sectors = 0;  // that would hold the distinct bytes
  unsigned lines = 0;
};
[[nodiscard]] GlobalCost global_cost(const WarpRequest& request);

struct SharedCost {
  unsigned wavefronts = 0;
  unsigned ideal_wavefronts = 0;
};
[[nodiscard]] SharedCost shared_cost(const WarpRequest& request);

// Different words of 4 bytes: constant memory serves a request one word after the other.
[[nodiscard]] unsigned constant_words(const WarpRequest& request);

// The most lanes that have the same address.
[[nodiscard]] unsigned same_address_lanes(const WarpRequest& request);

// Bytes from one lane to the next, where that is the same for all active lanes; none for a single lane.
[[nodiscard]] std::optional<std::int64_t> lane_stride(const WarpRequest& request);

}  // namespace rooftile::simt::checked
