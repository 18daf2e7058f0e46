// CPU measuring: a thread that the scheduler moves takes its time with it.
#pragma once

#include <string>

namespace rooftile::lab {

// While it lives, the calling thread and the oneTBB workers that join its
// arena stay on one CPU each, of those that the calling thread may use; then
// all of them get these back. One at a time, always by the same thread.
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
};

}  // namespace rooftile::lab
