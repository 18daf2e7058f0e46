// How the simulated SM runs blocks and lanes. For hosts: no CUDA names in here.
//
// Environment, read at the first launch: ROOFTILE_SIM_ORDER=forward|reversed|random:SEED,
// ROOFTILE_SIM_WORKERS=N, ROOFTILE_SIM_WATCHDOG_MS=N, ROOFTILE_SIM_TIME_LIMIT_MS=N. A value that does not parse
// fails every launch until it is mended or replaced by set_executor_config().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rooftile/core/status.h"

namespace rooftile::simt {

// Who runs first among threads that may run. A kernel with a missing barrier is often right in one order and
// wrong in another, so tests run in several.
enum class LaneOrder : std::uint8_t { forward, reversed, random };

struct ExecutorConfig {
  LaneOrder order = LaneOrder::forward;
  std::uint64_t seed = 0;  // of LaneOrder::random; the same seed gives the same order in every block
  int workers = 0;         // OS threads that run blocks; 0: as many as the machine has, at most 16
  std::chrono::milliseconds watchdog{10000};  // polling without progress for so long ends the launch
  // A launch whose blocks still go from barrier to barrier after so long is ended; 0: none is.
  std::chrono::milliseconds time_limit{0};
};

inline constexpr int kMaxWorkers = 64;
inline constexpr unsigned kMaxBlockThreads = 1024;
inline constexpr std::size_t kMaxDynamicSharedBytes = std::size_t{227} * 1024;
// A cooperative launch holds an OS thread per block and a stack per thread, all at once.
inline constexpr unsigned kMaxCooperativeBlocks = 256;
inline constexpr unsigned kMaxCooperativeThreads = 16384;

[[nodiscard]] Result<ExecutorConfig> executor_config();
// For all launches from now on. Thread-safe.
[[nodiscard]] Status set_executor_config(const ExecutorConfig& config);

// "forward", "reversed" or "random:SEED" into `config`.
[[nodiscard]] Status parse_lane_order(std::string_view text, ExecutorConfig& config);

}  // namespace rooftile::simt
