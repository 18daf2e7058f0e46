// Philox4x32-10: a counter-based random generator, the same on host, device and simulated SM.
//
// Source: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
#pragma once

#include <cstdint>

#include "rooftile/core/host_device.h"

namespace rooftile {

struct PhiloxCounter {
  std::uint32_t x, y, z, w;
};
struct PhiloxKey {
  std::uint32_t x, y;
};

// Four random 32-bit words, a pure function of counter and key.
ROOFTILE_HOST_DEVICE constexpr PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) {
  constexpr std::uint32_t kMultiplier0 = 0xD2511F53u;
  constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57u;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9u;  // golden ratio
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85u;  // sqrt(3) - 1
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiplier0} * counter.x;
    const std::uint64_t product1 = std::uint64_t{kMultiplier1} * counter.z;
    counter = {
        static_cast<std::uint32_t>(product1 >> 32) ^ counter.y ^ key.x, static_cast<std::uint32_t>(product1),
        static_cast<std::uint32_t>(product0 >> 32) ^ counter.w ^ key.y, static_cast<std::uint32_t>(product0)};
    key = {key.x + kWeyl0, key.y + kWeyl1};
  }
  return counter;
}

// The counter of the index-th group of four words in a stream of its own (a tensor, a layer, a step).
ROOFTILE_HOST_DEVICE constexpr PhiloxCounter philox_counter(std::uint64_t index, std::uint64_t stream) {
  return {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
          static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)};
}
ROOFTILE_HOST_DEVICE constexpr PhiloxKey philox_key(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

// [0, 1) in steps of 2^-24: every value exact in float.
ROOFTILE_HOST_DEVICE constexpr float philox_unit_float(std::uint32_t word) {
  return static_cast<float>(word >> 8) * (1.0f / 16777216.0f);
}

}  // namespace rooftile
