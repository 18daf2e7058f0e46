// Counts shared-memory bank conflicts from addresses.
//
// 32 banks of 4 bytes. A request of a warp is served in phases: all 32 lanes at once for up to 4 bytes per
// lane, 16 lanes for 8 bytes, 8 lanes for 16. In a phase each bank gives one word per cycle, to all lanes
// that want it. Source: CUDA C++ Programming Guide, shared memory (compute capability 5.x and later); the
// phases of wide accesses as measured by ncu's l1tex__data_bank_conflicts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace rooftile {

// The cycles of the slowest phase: 1 without conflicts. `offsets`: the 32 lanes' byte offsets.
inline std::size_t conflict_degree(const std::vector<std::uint32_t>& offsets, std::uint32_t bytes_per_lane) {
  constexpr std::uint32_t kBanks = 32;
  const std::size_t lanes = bytes_per_lane <= 4 ? 32 : 128 / bytes_per_lane;
  std::size_t degree = 0;
  for (std::size_t phase = 0; phase < offsets.size(); phase += lanes) {
    std::array<std::set<std::uint32_t>, kBanks> words;
    for (std::size_t lane = phase; lane < phase + lanes; ++lane) {
      for (std::uint32_t byte = 0; byte < bytes_per_lane; byte += 4) {
        const std::uint32_t word = (offsets[lane] + byte) / 4;
        words[word % kBanks].insert(word);
      }
    }
    for (const auto& bank : words) degree = std::max(degree, bank.size());
  }
  return degree;
}

}  // namespace rooftile
