// Who wrote and read every word of a buffer last, over all blocks of a launch.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "rooftile/sim/checked/grid_clocks.h"
#include "rooftile/sim/checked/lane_clocks.h"
#include "rooftile/sim/checked/report.h"
#include "rooftile/sim/checked/shadow_memory.h"
#include "rooftile/sim/checked/unwritten_bytes.h"

namespace rooftile::simt::checked {

struct GlobalMark {
  const void* pc = nullptr;  // or a Place, where `placed` is set
  Stamp stamp = 0;
  std::uint32_t block = 0;     // of the grid; of a copy that issued it
  std::uint32_t epoch = 0;     // of the program: launches and grid barriers; 0: no mark
  std::uint16_t thread = 0;    // in the cluster, or an agent
  std::uint8_t bytes : 4 = 0;  // of the word, as bits
  bool atomic : 1 = false;
  bool write : 1 = false;
  bool placed : 1 = false;
};

// Who accesses: `thread` for LaneClocks, `local` for GridClocks; of a copy the thread that issued it.
struct GlobalActor {
  unsigned thread;
  unsigned local;
  const LaneClocks& lanes;
  const GridClocks& grid;
  bool is_alone;  // the launch has a single OS thread
};

struct GlobalVerdict {
  GlobalMark conflict;         // epoch != 0: an unordered earlier access
  bool of_two_stores = false;  // the conflict: both plain, which is no race where they store the same
  GlobalMark unfenced;         // epoch != 0: a write that a bulk copy does not see
  UnwrittenBytes unwritten;
  bool read_only = false;  // and written
};

class GlobalShadow {
 public:
  explicit GlobalShadow(std::size_t bytes);

  // Takes note of an access and judges its order; `mark` has no bytes
  // yet. Several OS threads may call it, where `actor` says so.
  void access(std::size_t offset, std::size_t bytes, const GlobalMark& mark, const GlobalActor& actor,
              GlobalVerdict& verdict, const std::function<bool(const GlobalMark&)>* is_fenced = nullptr);

 private:
  static constexpr std::size_t kWordBytes = 4;
  static constexpr std::size_t kLocks = 256;
  static constexpr std::size_t kLockedWords = 16;
  using Marks = std::array<GlobalMark, 2>;
  // A cache line. Most words of a launch are written once, or read alone: what was read stands apart.
  struct alignas(64) Cell {
    std::uint32_t write_epoch = 0;  // the latest: of another one, none of the marks counts
    std::uint32_t read_epoch = 0;
    Marks writes;
  };
  ShadowMemory memory_;
  Cell* cells_;
  Marks* reads_;  // of each cell
  std::array<std::atomic_flag, kLocks> locks_;
};

}  // namespace rooftile::simt::checked
