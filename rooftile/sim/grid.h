// What the blocks of one launch share: work distribution, the first failure, the grid barrier, the watchdog.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <source_location>
#include <string>
#include <vector>

#include "rooftile/core/status.h"
#include "rooftile/sim/config.h"
#include "rooftile/sim/executor.h"
#include "rooftile/sim/thread.h"
#include "rooftile/sim/watcher.h"

namespace rooftile::simt::detail {

// "kernel.cu:41"
[[nodiscard]] std::string describe(std::source_location where);
[[nodiscard]] std::string describe(uint3 index);  // "(3,0,0)"

class GridRun {
 public:
  GridRun(const GridShape& shape, const KernelCall& kernel, const ExecutorConfig& config);

  const GridShape shape;
  const KernelCall kernel;
  const ExecutorConfig config;
  const std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  const std::uint64_t blocks;
  const unsigned block_threads;
  LaunchWatcher* const watcher;  // null where nobody watches

  // The next block to run, in index order; false when there is none left or the launch has failed.
  [[nodiscard]] bool next_block(std::uint64_t& linear);
  [[nodiscard]] uint3 block_index(std::uint64_t linear) const;

  // Records the failure of a block and stops the launch.
  void fail(std::uint64_t block, const std::string& what, StatusCode code = StatusCode::device_error);
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_relaxed); }
  [[nodiscard]] Status status() const;

  // Waits for all blocks of a cooperative grid; returns at once when the launch fails.
  void wait_for_grid(std::uint64_t block, std::source_location where);
  void block_finished(std::uint64_t block);

  // The watchdog. Every OS thread that takes part enters
  // with its progress counter before the first block runs.
  void enter(const std::atomic<std::uint64_t>& progress) { progress_.push_back(&progress); }
  [[nodiscard]] std::uint64_t total_progress() const;
  [[nodiscard]] bool shared_by_threads() const { return progress_.size() > 1; }
  // OS threads that run kernel code and are not known to poll.
  std::atomic<int> busy{0};

 private:
  void fail_locked(std::uint64_t block, const std::string& what, StatusCode code);

  std::atomic<std::uint64_t> next_block_{0};
  std::atomic<bool> failed_{false};
  std::vector<const std::atomic<std::uint64_t>*> progress_;

  mutable std::mutex mutex_;
  std::condition_variable grid_synced_;
  Status status_;
  std::uint64_t failed_block_ = 0;
  std::uint64_t grid_arrived_ = 0;
  std::uint64_t grid_generation_ = 0;
  std::uint64_t finished_ = 0;
  std::uint64_t last_finished_ = 0;
  std::source_location grid_where_;
};

}  // namespace rooftile::simt::detail
