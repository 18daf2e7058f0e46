#include "rooftile/sim/grid.h"

#include <string_view>

namespace rooftile::simt::detail {
namespace {

constexpr std::uint64_t volume(dim3 extents) { return std::uint64_t{extents.x} * extents.y * extents.z; }

std::atomic<LaunchWatcher*> g_launch_watcher{nullptr};

}  // namespace

void set_launch_watcher(LaunchWatcher* watcher) { g_launch_watcher.store(watcher); }
LaunchWatcher* launch_watcher() { return g_launch_watcher.load(); }

std::string describe(std::source_location where) {
  const std::string_view path = where.file_name();
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1)) + ":" +
         std::to_string(where.line());
}

std::string describe(uint3 index) {
  return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z) + ")";
}

GridRun::GridRun(const GridShape& grid_shape, const KernelCall& kernel_call,
                 const ExecutorConfig& executor_config)
    : shape(grid_shape),
      kernel(kernel_call),
      config(executor_config),
      blocks(volume(grid_shape.grid)),
      block_threads(static_cast<unsigned>(volume(grid_shape.block))),
      watcher(launch_watcher()) {
  if (watcher != nullptr) watcher->launch_started(*this);
}

bool GridRun::next_block(std::uint64_t& linear) {
  if (failed()) return false;
  linear = next_block_.fetch_add(1, std::memory_order_relaxed);
  return linear < blocks;
}

uint3 GridRun::block_index(std::uint64_t linear) const {
  const std::uint64_t row = linear / shape.grid.x;
  return {static_cast<unsigned>(linear % shape.grid.x), static_cast<unsigned>(row % shape.grid.y),
          static_cast<unsigned>(row / shape.grid.y)};
}

void GridRun::fail(std::uint64_t block, const std::string& what, StatusCode code) {
  const std::scoped_lock lock(mutex_);
  fail_locked(block, what, code);
}

void GridRun::fail_locked(std::uint64_t block, const std::string& what, StatusCode code) {
  if (watcher != nullptr) watcher->launch_failed("block " + describe(block_index(block)) + what);
  if (status_.ok() || block < failed_block_) {
    status_ = Status::error(code, "simulated SM: block " + describe(block_index(block)) + what);
    failed_block_ = block;
  }
  failed_.store(true, std::memory_order_relaxed);
  grid_synced_.notify_all();
}

Status GridRun::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

void GridRun::wait_for_grid(std::uint64_t block, std::source_location where) {
  std::unique_lock lock(mutex_);
  if (finished_ > 0) {
    fail_locked(block,
                ": deadlock: waits at grid.sync() (" + describe(where) + "), and block " +
                    describe(block_index(last_finished_)) + " has returned",
                StatusCode::device_error);
    return;
  }
  grid_where_ = where;
  if (++grid_arrived_ == blocks) {
    grid_arrived_ = 0;
    ++grid_generation_;
    grid_synced_.notify_all();
    return;
  }
  busy.fetch_sub(1);
  const std::uint64_t generation = grid_generation_;
  grid_synced_.wait(lock, [&] { return grid_generation_ != generation || failed(); });
  busy.fetch_add(1);
}

void GridRun::block_finished(std::uint64_t block) {
  if (!shape.cooperative) return;
  const std::scoped_lock lock(mutex_);
  ++finished_;
  last_finished_ = block;
  if (grid_arrived_ > 0 && !failed()) {
    fail_locked(block,
                ": deadlock: returned, while " + std::to_string(grid_arrived_) + " of " +
                    std::to_string(blocks) + " blocks wait for it at grid.sync() (" + describe(grid_where_) +
                    ")",
                StatusCode::device_error);
  }
}

std::uint64_t GridRun::total_progress() const {
  std::uint64_t total = 0;
  for (const auto* progress : progress_) total += progress->load(std::memory_order_relaxed);
  return total;
}

}  // namespace rooftile::simt::detail
