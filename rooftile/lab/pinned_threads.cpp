#include "rooftile/lab/pinned_threads.h"

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

// A worker is pinned when it first takes work from the arena. Restored by id and not on leaving: a worker may
// still be inside, waiting, when the observer ends.
class PinnedThreads::Observer : public tbb::task_scheduler_observer {
 public:
  Observer() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
      error_ = errno;
      return;
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) cpus_.push_back(cpu);
    }
    pin(0);
    observe(true);
  }
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  ~Observer() override {
    observe(false);  // returns when no callback runs any more
    for (const auto& [thread, before] : before_) sched_setaffinity(thread, sizeof(before), &before);
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
    cpu_set_t before;
    CPU_ZERO(&before);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpus_[slot % cpus_.size()], &one);
    if (sched_getaffinity(thread, sizeof(before), &before) != 0 ||
        sched_setaffinity(thread, sizeof(one), &one) != 0) {
      error_ = errno;
      return;
    }
    before_.try_emplace(thread, before);  // the first entry holds what the thread came with
  }

  std::vector<int> cpus_;
  mutable std::mutex mutex_;
  std::map<pid_t, cpu_set_t> before_;
  int error_ = 0;
};

PinnedThreads::PinnedThreads() : observer_(std::make_unique<Observer>()) {}
PinnedThreads::~PinnedThreads() = default;

std::string PinnedThreads::caveat() const {
  const int error = observer_->error();
  return error == 0 ? "" : std::string("threads are not pinned: ") + std::strerror(error);
}

}  // namespace rooftile::lab
