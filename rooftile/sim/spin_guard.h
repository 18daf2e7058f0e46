// Ends kernels of the plain build that turn in a loop for ever: they call nothing of the executor, so that a thread of
// its own looks whether the threads of each block still change, and a signal takes a spinning one out of its code.
//
// The checked build watches its kernels' basic blocks and needs no such guard. x86-64 alone.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>

namespace rooftile::simt::detail {

class SpinGuard {
 public:
  static SpinGuard& instance();
  ~SpinGuard();

  // The calling OS thread runs blocks, until leave(). `heartbeat` changes whenever another thread of a block runs.
  void enter(const std::atomic<std::uint64_t>& heartbeat, std::chrono::milliseconds patience);
  void leave(const std::atomic<std::uint64_t>& heartbeat);

 private:
  struct Watched {
    pthread_t thread;
    std::chrono::milliseconds patience;
    std::uint64_t seen;
    std::chrono::steady_clock::time_point seen_at;
  };
  void watch();
  void look(const std::atomic<std::uint64_t>& heartbeat, Watched& watched);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<const std::atomic<std::uint64_t>*, Watched> watched_;
  bool stopping_ = false;
  std::thread thread_;  // started with the first that enters
};

}  // namespace rooftile::simt::detail
