// What is known of every word of a block's shared memory: who wrote and read it last, and which of its bytes
// have been written at all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "rooftile/sim/checked/lane_clocks.h"
#include "rooftile/sim/checked/report.h"

namespace rooftile::simt::checked {

// One access to a word.
struct Mark {
  const void* pc = nullptr;
  Stamp stamp = 0;
  std::uint16_t thread = 0;
  std::uint8_t bytes = 0;  // of the word, as bits
  bool atomic = false;
  bool write = false;
};

struct SharedVerdict {
  Mark conflict;               // bytes != 0: an unordered access, the first that was found
  bool uninitialised = false;  // a byte is read that no thread of this block has written
};

class SharedShadow {
 public:
  explicit SharedShadow(std::size_t bytes);

  void start_block() { ++block_; }
  // Takes note of an access of up to 16 bytes and judges it; `mark.bytes` is filled in here.
  SharedVerdict access(std::size_t offset, unsigned bytes, Mark mark, bool reads, const LaneClocks& clocks);

  // An access to these bytes that is not ordered before `mark`; its `bytes` are 0 where there is none.
  [[nodiscard]] Mark conflict(std::size_t offset, std::size_t bytes, Mark mark,
                              const LaneClocks& clocks) const;
  // By an asynchronous copy.
  void set_written(std::size_t offset, std::size_t bytes);

 private:
  static constexpr std::size_t kWordBytes = 4;
  // Two writers: the second would hide a race with the first. Four readers: one of each side of most partial
  // synchronisations.
  struct Cell {
    std::array<Mark, 2> writes;
    std::array<Mark, 4> reads;
    std::uint32_t written_in = 0;  // the block that `written` is about
    std::uint8_t written = 0;      // bytes, as bits
    std::uint8_t victim = 0;
  };
  static void find_conflict(const Cell& cell, const Mark& mark, const LaneClocks& clocks,
                            SharedVerdict& verdict);
  template <std::size_t kMarks>
  static void keep(std::array<Mark, kMarks>& marks, Cell& cell, const Mark& mark, const LaneClocks& clocks);

  struct Unmap {
    std::size_t bytes;
    void operator()(Cell* cells) const;
  };
  std::unique_ptr<Cell, Unmap> cells_;  // zero pages until they are touched
  std::size_t count_;
  std::uint32_t block_ = 0;
};

}  // namespace rooftile::simt::checked
