// What is known of every word of a block's shared memory: who wrote
// and read it last, and which of its bytes have been written at all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "rooftile/sim/checked/lane_clocks.h"
#include "rooftile/sim/checked/report.h"
#include "rooftile/sim/checked/unwritten_bytes.h"

namespace rooftile::simt::checked {

// One access to a word.
struct Mark {
  const void* pc = nullptr;  // or a Place, where `placed` is set
  Stamp stamp = 0;
  std::uint16_t thread = 0;    // or an agent
  std::uint8_t bytes : 4 = 0;  // of the word, as bits
  bool atomic : 1 = false;
  bool write : 1 = false;
  bool placed : 1 = false;
};
static_assert(sizeof(Mark) == 16, "six of them are looked at with every access");

// Whether a thread's write, which is ordered before a bulk copy of its place, is over for that copy.
using IsFenced = std::function<bool(const Mark&)>;

struct SharedVerdict {
  Mark conflict;               // bytes != 0: an unordered access, the last that was found
  bool of_two_stores = false;  // the conflict: both plain, which is no race where they store the same
  Mark unfenced;               // bytes != 0: a write that a bulk copy does not see
  UnwrittenBytes unwritten;    // that are read, and that nobody has written since the block started
};

class SharedShadow {
 public:
  explicit SharedShadow(std::size_t bytes);

  void start_block() { ++block_; }  // what others write into it is of this block from now on
  // Takes note of an access and judges it as one of `thread`, which for a copy issued it; `mark` has no bytes
  // yet. What a copy writes is not there before set_written().
  SharedVerdict access(std::size_t offset, std::size_t bytes, const Mark& mark, bool reads, unsigned thread,
                       const LaneClocks& clocks, const IsFenced* is_fenced = nullptr);
  // By an asynchronous copy that has landed.
  void set_written(std::size_t offset, std::size_t bytes);

 private:
  static constexpr std::size_t kWordBytes = 4;
  // Two writers: the second would hide a race with the first. Four readers, of different warps where as many read:
  // one of each side of most partial synchronisations.
  struct Cell {
    std::array<Mark, 2> writes;
    std::array<Mark, 4> reads;
    std::uint32_t written_in = 0;  // the block that `written` is about
    std::uint8_t written = 0;      // bytes, as bits
    std::uint8_t victim = 0;
  };
  static void find_conflict(const Cell& cell, const Mark& mark, unsigned bytes, unsigned thread,
                            const LaneClocks& clocks, SharedVerdict& verdict);
  template <std::size_t kMarks>
  static void keep(std::array<Mark, kMarks>& marks, Cell& cell, const Mark& mark, unsigned bytes,
                   unsigned thread, const LaneClocks& clocks);

  struct Unmap {
    std::size_t bytes;
    void operator()(Cell* cells) const;
  };
  std::unique_ptr<Cell, Unmap> cells_;  // zero pages until they are touched
  std::size_t count_;
  std::uint32_t block_ = 0;
};

}  // namespace rooftile::simt::checked
