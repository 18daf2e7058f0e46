#include "rooftile/lab/pinned_threads.h"

#include <sched.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

namespace rooftile::lab {

// A worker is pinned when it first takes work from the arena. Restored by id and not on leaving: a worker may
// still be inside, waiting, when the observer ends.
class PinnedThreads::Observer : public tbb::task_scheduler_observer {
 public:
  Observer() {
    CPU_ZERO(&allowed_);
    if (sched_getaffinity(0, sizeof(allowed_), &allowed_) != 0) {
      error_ = errno;
      return;
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed_)) cpus_.push_back(cpu);
    }
    // oneTBB takes its number of threads from the affinity that it finds at its first use: not from ours.
    static_cast<void>(tbb::this_task_arena::max_concurrency());
    observe(true);
    pin(0);
  }
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  ~Observer() override {
    observe(false);  // returns when no callback runs any more
    for (const pid_t thread : pinned_) sched_setaffinity(thread, sizeof(allowed_), &allowed_);
  }

  void on_scheduler_entry(bool is_worker) override {
    if (!is_worker) return;
    const int slot = tbb::this_task_arena::current_thread_index();
    pin(slot > 0 ? static_cast<std::size_t>(slot) : 0);
  }

  [[nodiscard]] int error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  void pin(std::size_t slot) {
    const std::lock_guard lock(mutex_);
    const pid_t thread = gettid();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpus_[slot % cpus_.size()], &one);
    if (sched_setaffinity(thread, sizeof(one), &one) != 0) error_ = errno;
    pinned_.insert(thread);
  }

  // Of the thread that measures. A worker that it starts meanwhile inherits one CPU, and gets these back.
  cpu_set_t allowed_{};
  std::vector<int> cpus_;
  mutable std::mutex mutex_;
  std::set<pid_t> pinned_;
  int error_ = 0;
};

PinnedThreads::PinnedThreads() : observer_(std::make_unique<Observer>()) {}
PinnedThreads::~PinnedThreads() = default;

std::string PinnedThreads::caveat() const {
  const int error = observer_->error();
  return error == 0 ? "" : std::string("threads are not pinned: ") + std::strerror(error);
}

}  // namespace rooftile::lab
