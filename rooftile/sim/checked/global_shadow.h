// Who wrote and read every word of a buffer last, over all blocks of a launch.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "rooftile/sim/checked/grid_clocks.h"
#include "rooftile/sim/checked/lane_clocks.h"
#include "rooftile/sim/checked/report.h"

namespace rooftile::simt::checked {

struct GlobalMark {
  const void* pc = nullptr;
  Stamp stamp = 0;
  std::uint32_t block = 0;  // of the grid
  std::uint32_t epoch = 0;  // of the session: launches and grid barriers; 0: no mark
  std::uint16_t thread = 0;
  std::uint8_t bytes = 0;  // of the word, as bits
  bool atomic : 1 = false;
  bool write : 1 = false;
};

class GlobalShadow {
 public:
  explicit GlobalShadow(std::size_t bytes);

  // Takes note of an access and returns an unordered earlier one; its `epoch` is 0 where there is none.
  // `mark.bytes` is filled in here. Several OS threads may call it.
  GlobalMark access(std::size_t offset, unsigned bytes, GlobalMark mark, const LaneClocks& lanes,
                    const GridClocks& grid);

 private:
  static constexpr std::size_t kWordBytes = 4;
  static constexpr std::size_t kLocks = 256;
  struct Cell {
    std::array<GlobalMark, 2> writes;
    std::array<GlobalMark, 2> reads;
  };
  struct Unmap {
    std::size_t bytes;
    void operator()(Cell* cells) const;
  };
  std::unique_ptr<Cell, Unmap> cells_;  // zero pages until they are touched
  std::array<std::atomic_flag, kLocks> locks_;
};

}  // namespace rooftile::simt::checked
