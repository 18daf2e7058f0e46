// setmaxnreg of the simulated SM, which has no registers: it compares what the warps of a warpgroup call.
#pragma once

#include <array>
#include <cstddef>
#include <source_location>
#include <string>
#include <vector>

#include "rooftile/sim/warpgroup.h"

namespace rooftile::simt::detail {

struct RegisterCount {
  int registers = 0;  // of each thread
  bool increases = false;
  friend bool operator==(const RegisterCount&, const RegisterCount&) = default;
};

// By all lanes of the current thread's warp.
void setmaxnreg(const RegisterCount& count, std::source_location where);

// The calls of a block's warps.
class RegisterCounts {
 public:
  // By a warp. Returns what is wrong, or nothing.
  [[nodiscard]] std::string set(unsigned warp, const RegisterCount& count, std::source_location where);
  // The block has returned. Returns what is wrong, or nothing.
  [[nodiscard]] std::string finish() const;
  void clear();

 private:
  struct Call {
    RegisterCount count;
    std::source_location where;
  };
  std::array<std::vector<Call>, kMostGroupedWarps / kGroupWarps> calls_;  // of each warpgroup
  std::array<std::size_t, kMostGroupedWarps> made_{};                     // by each warp
};

}  // namespace rooftile::simt::detail
