#include "rooftile/sim/executor.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "rooftile/sim/block.h"
#include "rooftile/sim/cluster.h"
#include "rooftile/sim/grid.h"
#include "rooftile/sim/launch_recording.h"

namespace rooftile::simt {
namespace {

using detail::BlockRunner;
using detail::ClusterRun;
using detail::GridRun;

constexpr int kDefaultMaxWorkers = 16;
constexpr std::uint64_t kMaxClusterBlocks = 16;

// Persistent OS threads that run blocks beside the launching thread.
class Helpers {
 public:
  ~Helpers() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void grow_to(std::size_t count) {
    while (threads_.size() < count) {
      threads_.emplace_back([this, index = threads_.size()] { serve(index); });
    }
  }

  // Starts the first `runners.size()` helpers on the grid.
  // Precondition: grown to that many, and none is at work.
  void start(GridRun& grid, std::vector<BlockRunner*> runners) {
    {
      const std::scoped_lock lock(mutex_);
      grid_ = &grid;
      runners_ = std::move(runners);
      running_ = runners_.size();
      ++generation_;
    }
    wake_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return running_ == 0; });
  }

 private:
  void serve(std::size_t index) {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stopping_ || (generation_ != seen && index < runners_.size()); });
      if (stopping_) return;
      seen = generation_;
      GridRun& grid = *grid_;
      BlockRunner& runner = *runners_[index];
      lock.unlock();
      runner.run_blocks(grid);
      lock.lock();
      if (--running_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<std::thread> threads_;
  bool stopping_ = false;
  std::uint64_t generation_ = 0;
  std::size_t running_ = 0;
  GridRun* grid_ = nullptr;
  std::vector<BlockRunner*> runners_;
};

class Executor {
 public:
  static Executor& instance() {
    static Executor executor;
    return executor;
  }

  Status run(const GridShape& shape, const KernelCall& kernel, const ExecutorConfig& config) {
    const std::scoped_lock lock(mutex_);
    GridRun grid(shape, kernel, config);
    return shape.cooperative ? run_cooperative(grid) : run_independent(grid);
  }

 private:
  Status reserve(GridRun& grid, std::size_t count) {
    while (runners_.size() < count) runners_.emplace_back();
    for (std::size_t i = 0; i < count; ++i) {
      ROOFTILE_TRY(runners_[i].reserve(grid.block_threads));
      grid.enter(runners_[i].progress());
    }
    return {};
  }

  Status run_independent(GridRun& grid) {
    const unsigned hardware = std::max(1u, std::thread::hardware_concurrency());
    const std::uint64_t workers = grid.config.workers > 0
                                      ? static_cast<std::uint64_t>(grid.config.workers)
                                      : std::min<std::uint64_t>(hardware, kDefaultMaxWorkers);
    ClusterRun cluster(grid.shape.cluster, &grid);
    const bool clustered = cluster.blocks > 1;
    const auto used = clustered ? cluster.blocks : static_cast<std::size_t>(std::min(workers, grid.blocks));
    ROOFTILE_TRY(reserve(grid, used));
    helpers_.grow_to(used - 1);
    std::vector<BlockRunner*> helping;
    for (std::size_t i = 1; i < used; ++i) helping.push_back(&runners_[i]);
    for (unsigned rank = 0; clustered && rank < cluster.blocks; ++rank) runners_[rank].join(cluster, rank);
    if (!helping.empty()) helpers_.start(grid, std::move(helping));
    runners_[0].run_blocks(grid);
    helpers_.wait();
    return grid.status();
  }

  Status run_cooperative(GridRun& grid) {
    const auto count = static_cast<std::size_t>(grid.blocks);
    ROOFTILE_TRY(reserve(grid, count));
    std::vector<std::thread> threads;
    threads.reserve(count);
    Status started;
    for (std::size_t i = 1; i < count && started.ok(); ++i) {
      try {
        threads.emplace_back([&grid, &runner = runners_[i], i] { runner.run_cooperative_block(grid, i); });
      } catch (const std::exception& error) {
        started =
            Status::error(StatusCode::out_of_memory,
                          "the simulated SM cannot start an OS thread for each of " + std::to_string(count) +
                              " cooperative blocks (" + error.what() + "): launch fewer blocks");
        grid.fail(i, ": not started");
      }
    }
    runners_[0].run_cooperative_block(grid, 0);
    for (std::thread& thread : threads) thread.join();
    return started.ok() ? grid.status() : started;
  }

  std::mutex mutex_;
  std::deque<BlockRunner> runners_;  // keeps addresses
  Helpers helpers_;                  // after the runners: its threads end before they do
};

Status check_shape(const GridShape& shape) {
  const auto text = [](dim3 d) { return detail::describe(uint3{d.x, d.y, d.z}); };
  const dim3 grid = shape.grid;
  const dim3 block = shape.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0) {
    return invalid_argument("a launch needs at least one block and one thread, not grid " + text(grid) +
                            " block " + text(block) + ": handle empty input before the launch");
  }
  if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) {
    return invalid_argument("grid " + text(grid) + " is larger than (2147483647,65535,65535)");
  }
  if (block.x > 1024 || block.y > 1024 || block.z > 64 ||
      std::uint64_t{block.x} * block.y * block.z > kMaxBlockThreads) {
    return invalid_argument("block " + text(block) +
                            " is larger than (1024,1024,64) or than 1024 threads in all");
  }
  if (shape.dynamic_shared_bytes > kMaxDynamicSharedBytes) {
    return invalid_argument(std::to_string(shape.dynamic_shared_bytes) +
                            " bytes of dynamic shared memory are more than a block's " +
                            std::to_string(kMaxDynamicSharedBytes));
  }
  const dim3 cluster = shape.cluster;
  const std::uint64_t cluster_blocks = std::uint64_t{cluster.x} * cluster.y * cluster.z;
  if (cluster_blocks == 0 || cluster_blocks > kMaxClusterBlocks || grid.x % cluster.x != 0 ||
      grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    return invalid_argument("a cluster of " + text(cluster) +
                            " blocks must have 1 to 16 blocks and divide grid " + text(grid));
  }
  return {};
}

// What a GPU would take and the simulated SM does not.
Status check_modelled(const GridShape& shape) {
  const dim3 grid = shape.grid;
  const dim3 block = shape.block;
  const dim3 cluster = shape.cluster;
  if (shape.cooperative && std::uint64_t{cluster.x} * cluster.y * cluster.z > 1) {
    return unsupported("the simulated SM does not model a cooperative launch with clusters");
  }
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (shape.cooperative && (blocks > kMaxCooperativeBlocks || blocks * threads > kMaxCooperativeThreads)) {
    return unsupported("a cooperative launch of " + std::to_string(blocks) + " blocks of " +
                       std::to_string(threads) + " threads is more than the simulated SM holds at once (" +
                       std::to_string(kMaxCooperativeBlocks) + " blocks, " +
                       std::to_string(kMaxCooperativeThreads) + " threads): launch fewer");
  }
  return {};
}

}  // namespace

Status run_grid(const GridShape& shape, const KernelCall& kernel) {
  ROOFTILE_TRY(check_shape(shape));
  if (detail::record_launch(shape, kernel)) return {};
  ROOFTILE_TRY(check_modelled(shape));
  ROOFTILE_TRY_ASSIGN(const ExecutorConfig config, executor_config());
  if (detail::current_thread != nullptr) {
    return unsupported("a kernel on the simulated SM cannot launch another one");
  }
  try {
    return Executor::instance().run(shape, kernel, config);
  } catch (const std::exception& error) {
    return Status::error(
        StatusCode::out_of_memory,
        std::string("the simulated SM ran out of host memory or threads (") + error.what() + ")");
  }
}

}  // namespace rooftile::simt
