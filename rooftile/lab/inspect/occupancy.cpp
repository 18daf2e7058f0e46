#include "rooftile/lab/inspect/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rooftile::lab {
namespace {

constexpr std::int64_t kKib = 1024;

template <class Integer>
constexpr Integer round_up(Integer value, Integer grain) {
  return (value + grain - 1) / grain * grain;
}

// Each of the four partitions of the register file serves whole warps.
int register_blocks(int warps, int registers) {
  const int per_warp = round_up(registers * kWarpThreads, kRegisterGrain);
  return kRegistersPerSm / kRegisterPartitions / per_warp * kRegisterPartitions / warps;
}

int shared_blocks(const SmLimits& sm, std::int64_t bytes) {
  const std::int64_t taken = round_up<std::int64_t>(bytes + sm.reserved_kib * kKib, sm.shared_grain);
  if (taken > (sm.largest_block_kib + sm.reserved_kib) * kKib) return 0;
  return static_cast<int>(sm.shared_kib * kKib / taken);
}

std::string why_not(const SmLimits& sm, const BlockNeeds& needs) {
  if (needs.threads > kMaxThreadsPerBlock)
    return fmt::format("{} threads are more than {}", needs.threads, kMaxThreadsPerBlock);
  if (needs.shared_bytes > sm.largest_block_kib * kKib) {
    return fmt::format("{} bytes of shared memory are more than the {} KiB that a block may use",
                       needs.shared_bytes, sm.largest_block_kib);
  }
  return fmt::format("{} threads of {} registers are more than the {} registers of an SM", needs.threads,
                     needs.registers.value_or(0), kRegistersPerSm);
}

}  // namespace

Occupancy occupancy_of(const SmLimits& sm, const BlockNeeds& needs) {
  const int warps = (needs.threads + kWarpThreads - 1) / kWarpThreads;
  Occupancy result;
  result.most_warps = sm.warps;
  result.limits.push_back({"warps", needs.threads > kMaxThreadsPerBlock ? 0 : sm.warps / warps});
  result.limits.push_back({"blocks", sm.blocks});
  if (needs.registers && *needs.registers > 0)
    result.limits.push_back({"registers", register_blocks(warps, *needs.registers)});
  if (needs.shared_bytes + sm.reserved_kib > 0)
    result.limits.push_back({"shared memory", shared_blocks(sm, needs.shared_bytes)});
  if (sm.barriers > 0 && needs.barriers > 0)
    result.limits.push_back({"barriers", sm.barriers / needs.barriers});

  const auto fewest =
      std::min_element(result.limits.begin(), result.limits.end(),
                       [](const OccupancyLimit& a, const OccupancyLimit& b) { return a.blocks < b.blocks; });
  result.blocks = fewest->blocks;
  result.warps = result.blocks * warps;
  for (const OccupancyLimit& limit : result.limits) {
    if (limit.blocks == result.blocks) result.binding.push_back(limit.name);
  }
  if (result.blocks == 0) result.problem = why_not(sm, needs);
  return result;
}

Waves waves_of(std::int64_t blocks, int blocks_per_sm, int multiprocessors, int cluster_blocks) {
  Waves waves;
  waves.slots = std::int64_t{blocks_per_sm} * multiprocessors / cluster_blocks * cluster_blocks;
  if (waves.slots == 0) return waves;
  waves.count = static_cast<double>(blocks) / static_cast<double>(waves.slots);
  const double whole = std::ceil(waves.count);
  waves.last_fill = waves.count - (whole - 1);
  waves.idle = 1 - waves.count / whole;
  waves.busy_sms = std::min<std::int64_t>(blocks, multiprocessors);
  return waves;
}

}  // namespace rooftile::lab
