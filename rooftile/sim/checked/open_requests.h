// The requests of a warp that may be parts of one: of neighbouring members of an aligned struct nvcc makes a single
// access. They stay open until something ends the stretch of code in which a compiler may join them.
#pragma once

#include <array>

#include "rooftile/sim/checked/site_counts.h"

namespace rooftile::simt::checked {

class OpenRequests {
 public:
  // `alignment`: of the struct whose member is accessed; 1: of none.
  void add(const void* pc, AccessKind kind, MemorySpace space, const WarpRequest& request, unsigned alignment,
           SiteCounts& sites);
  // A store among loads, a branch, a barrier.
  void close(SiteCounts& sites);

 private:
  struct Open {
    const void* pc;
    AccessKind kind;
    MemorySpace space;
    WarpRequest request;  // addresses of the first byte
  };
  static bool join(Open& open, const WarpRequest& request, unsigned alignment);

  static constexpr unsigned kMost = 4;
  std::array<Open, kMost> open_;
  unsigned count_ = 0;
};

}  // namespace rooftile::simt::checked
