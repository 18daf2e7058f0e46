// When threads executed fence.proxy.async: what a thread wrote
// before is seen by bulk copies that are ordered behind the fence.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "rooftile/sim/checked/lane_clocks.h"

namespace rooftile::simt::checked {

// Of threads of any block, for one kind of memory. Thread-safe.
class ProxyFences {
 public:
  // The block's number in the grid, and LaneClocks' of the thread.
  using Thread = std::pair<std::uint32_t, unsigned>;
  void clear();
  void add(Thread thread, Stamp time);
  // The thread's first fence later than an access with this stamp; 0: none.
  [[nodiscard]] Stamp after(Thread thread, Stamp stamp) const;

 private:
  mutable std::mutex mutex_;
  std::map<Thread, std::vector<Stamp>> fences_;
};

}  // namespace rooftile::simt::checked
