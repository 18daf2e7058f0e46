// CPU measuring: a thread that the scheduler moves takes its time with it.
#pragma once

#include <memory>
#include <string>

namespace rooftile::lab {

// While it lives, the calling thread and the oneTBB workers that join its arena stay on one CPU each, of
// those that this process may use; then every thread gets back what it had.
class PinnedThreads {
 public:
  PinnedThreads();
  PinnedThreads(const PinnedThreads&) = delete;
  PinnedThreads& operator=(const PinnedThreads&) = delete;
  ~PinnedThreads();

  // Empty, or why threads are not pinned.
  [[nodiscard]] std::string caveat() const;

 private:
  class Observer;
  std::unique_ptr<Observer> observer_;
};

}  // namespace rooftile::lab
