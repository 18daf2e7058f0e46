// The agents of a cluster's asynchronous copies, and what is learned by waiting for them.
//
// Copies that complete at one mbarrier are one agent: who has seen a phase complete knows all of them that
// were issued before. Copies of one thread that are waited for by groups are another: cp.async, the reading
// of bulk stores, their writing. An mbarrier also passes on what its arriving threads knew.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rooftile/sim/checked/grid_clocks.h"
#include "rooftile/sim/checked/lane_clocks.h"
#include "rooftile/sim/watcher.h"

namespace rooftile::simt::checked {

class AsyncAgents {
 public:
  explicit AsyncAgents(LaneClocks& clocks) : clocks_(clocks) {}
  void start();  // a cluster starts

  // Of a copy that the thread issues now; `known` is what it knows of other clusters.
  [[nodiscard]] unsigned issue(const void* mbarrier, unsigned thread, const SharedKnowledge& known);
  [[nodiscard]] unsigned issue(detail::CopyGroups groups, unsigned thread);

  void initialise(const void* mbarrier);
  void arrive(const void* mbarrier, unsigned thread, const SharedKnowledge& known);
  void complete_phase(const void* mbarrier);
  // The thread has seen a phase complete: it knows what came with
  // all complete phases. Returns what it learns of other clusters.
  SharedKnowledge pass(const void* mbarrier, unsigned thread);

  void commit(detail::CopyGroups groups, unsigned thread);
  // All but the newest `pending` groups of the thread have ended, or all its copies.
  void wait(detail::CopyGroups groups, unsigned thread, std::uint64_t pending);
  void wait_all(detail::CopyGroups groups, unsigned thread);
  // `thread` knows that the first `count` groups of `owner` have ended.
  void wait_for(detail::CopyGroups groups, unsigned owner, std::uint64_t count, unsigned thread);

 private:
  struct Passed {
    LaneClocks::Clock clock;
    SharedKnowledge grid;
  };
  struct AtMbarrier {
    unsigned agent = 0;
    Passed phase;     // what the phase that is not complete has gathered
    Passed complete;  // by all complete phases
  };
  struct OfThread {
    unsigned agent = 0;
    std::vector<Stamp> commits;  // when its groups ended, the newest last; old ones are forgotten
    std::uint64_t forgotten = 0;
  };
  [[nodiscard]] unsigned new_agent();
  [[nodiscard]] AtMbarrier& at(const void* mbarrier);
  [[nodiscard]] OfThread& of(detail::CopyGroups groups, unsigned thread);

  LaneClocks& clocks_;
  unsigned next_agent_ = kFirstAgent;
  std::unordered_map<const void*, AtMbarrier> mbarriers_;
  std::map<std::pair<detail::CopyGroups, unsigned>, OfThread> threads_;
};

}  // namespace rooftile::simt::checked
