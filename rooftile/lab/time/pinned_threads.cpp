#include "rooftile/lab/time/pinned_threads.h"

#include <sched.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace rooftile::lab {

// Lives as long as the process and watches who is in the arena: a worker that
// is already inside when pinning begins is not announced again. Restored by
// thread id, because a worker may still be inside when pinning ends.
class PinnedThreads::Observer : public tbb::task_scheduler_observer {
 public:
  // Never destroyed: a worker may leave the arena after the statics are gone.
  static Observer& instance() {
    static auto* observer = new Observer;
    return *observer;
  }

  void begin() {
    // oneTBB takes its number of threads from the affinity that it finds at its first use: not from ours.
    static_cast<void>(tbb::this_task_arena::max_concurrency());
    observe(true);
    const std::lock_guard lock(mutex_);
    error_ = 0;
    cpus_.clear();
    CPU_ZERO(&allowed_);
    if (sched_getaffinity(0, sizeof(allowed_), &allowed_) != 0) error_ = errno;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed_)) cpus_.push_back(cpu);
    }
    main_ = gettid();
    if (!cpus_.empty()) pin(main_, 0);
    for (const auto& [worker, slot] : workers_) {
      if (!cpus_.empty()) pin(worker, slot);
    }
  }

  void end() {
    const std::lock_guard lock(mutex_);
    if (cpus_.empty()) return;
    cpus_.clear();
    restore(main_);
    for (const auto& [worker, slot] : workers_) restore(worker);
  }

  void on_scheduler_entry(bool is_worker) override {
    if (!is_worker) return;
    const int index = tbb::this_task_arena::current_thread_index();
    const auto slot = index > 0 ? static_cast<std::size_t>(index) : 0;
    const std::lock_guard lock(mutex_);
    workers_[gettid()] = slot;
    if (!cpus_.empty()) {
      pin(gettid(), slot);
    } else if (CPU_COUNT(&allowed_) > 0) {
      restore(gettid());  // started while the measuring thread was pinned, and only now at work
    }
  }

  void on_scheduler_exit(bool is_worker) override {
    if (!is_worker) return;
    const std::lock_guard lock(mutex_);
    if (workers_.erase(gettid()) > 0 && !cpus_.empty()) restore(gettid());
  }

  [[nodiscard]] int error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  Observer() = default;

  void pin(pid_t thread, std::size_t slot) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpus_[slot % cpus_.size()], &one);
    if (sched_setaffinity(thread, sizeof(one), &one) != 0) error_ = errno;
  }
  void restore(pid_t thread) { sched_setaffinity(thread, sizeof(allowed_), &allowed_); }

  mutable std::mutex mutex_;
  // Of the thread that measures. A worker that it starts meanwhile inherits one CPU, and gets these back.
  cpu_set_t allowed_{};
  std::vector<int> cpus_;  // empty while nothing is pinned
  pid_t main_ = 0;
  std::map<pid_t, std::size_t> workers_;  // in the arena now, and their slots there
  int error_ = 0;
};

PinnedThreads::PinnedThreads() { Observer::instance().begin(); }
PinnedThreads::~PinnedThreads() { Observer::instance().end(); }

std::string PinnedThreads::caveat() const {
  const int error = Observer::instance().error();
  return error == 0 ? "" : std::string("threads are not pinned: ") + std::strerror(error);
}

}  // namespace rooftile::lab
