// The program's operator new, watched: counts what it is asked for, and fails once where a test wants it to.
#pragma once

namespace rooftile::operators_testing {

// While one lives, on every thread.
class CountedNew {
 public:
  explicit CountedNew(long fails_at = -1);  // the allocation that fails, from 0; negative: none
  ~CountedNew();
  CountedNew(const CountedNew&) = delete;
  CountedNew& operator=(const CountedNew&) = delete;
  [[nodiscard]] static long allocations();  // since the last one was made
};

}  // namespace rooftile::operators_testing
