#include "rooftile/sim/checked/shared_shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace rooftile::simt::checked {

void SharedShadow::Unmap::operator()(Cell* cells) const { munmap(static_cast<void*>(cells), bytes); }

SharedShadow::SharedShadow(std::size_t bytes)
    : cells_(nullptr, Unmap{(bytes / kWordBytes + 1) * sizeof(Cell)}), count_(bytes / kWordBytes + 1) {
  void* memory = mmap(nullptr, cells_.get_deleter().bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  cells_.reset(static_cast<Cell*>(memory));
}

void SharedShadow::find_conflict(const Cell& cell, const Mark& mark, const LaneClocks& clocks,
                                 SharedVerdict& verdict) {
  const auto judge = [&](const Mark& earlier) {
    if (earlier.stamp < clocks.floor() || (earlier.bytes & mark.bytes) == 0) return;
    if (earlier.atomic && mark.atomic) return;
    if (clocks.is_ordered(earlier.thread, earlier.stamp, mark.thread)) return;
    verdict.conflict = earlier;
  };
  for (const Mark& earlier : cell.writes) judge(earlier);
  if (!mark.write) return;
  for (const Mark& earlier : cell.reads) judge(earlier);
}

// Replaces the thread's own mark, or one that is ordered before (who conflicts with that one conflicts with
// the new one as well); else takes turns.
template <std::size_t kMarks>
void SharedShadow::keep(std::array<Mark, kMarks>& marks, Cell& cell, const Mark& mark,
                        const LaneClocks& clocks) {
  for (Mark& old : marks) {
    if (old.stamp < clocks.floor() || ((old.bytes & ~mark.bytes) == 0 && old.atomic == mark.atomic &&
                                       clocks.is_ordered(old.thread, old.stamp, mark.thread))) {
      old = mark;
      return;
    }
  }
  marks[++cell.victim % kMarks] = mark;
}

SharedVerdict SharedShadow::access(std::size_t offset, unsigned bytes, Mark mark, bool reads,
                                   const LaneClocks& clocks) {
  SharedVerdict verdict;
  const std::size_t end = offset + bytes;
  for (std::size_t word = offset / kWordBytes; word * kWordBytes < end && word < count_; ++word) {
    const std::size_t first = std::max(offset, word * kWordBytes) - word * kWordBytes;
    const std::size_t last = std::min(end - word * kWordBytes, kWordBytes);
    mark.bytes = static_cast<std::uint8_t>((1u << last) - (1u << first));
    Cell& cell = cells_.get()[word];
    if (cell.written_in != block_) {
      cell.written_in = block_;
      cell.written = 0;
    }
    if (reads && (mark.bytes & ~cell.written) != 0) verdict.uninitialised = true;
    find_conflict(cell, mark, clocks, verdict);
    if (mark.write) {
      cell.written |= mark.bytes;
      keep(cell.writes, cell, mark, clocks);
    } else {
      keep(cell.reads, cell, mark, clocks);
    }
  }
  return verdict;
}

Mark SharedShadow::conflict(std::size_t offset, std::size_t bytes, Mark mark,
                            const LaneClocks& clocks) const {
  SharedVerdict verdict;
  mark.bytes = 0xf;  // copies move whole words
  for (std::size_t word = offset / kWordBytes; word * kWordBytes < offset + bytes && word < count_; ++word) {
    find_conflict(cells_.get()[word], mark, clocks, verdict);
  }
  return verdict.conflict;
}

void SharedShadow::set_written(std::size_t offset, std::size_t bytes) {
  for (std::size_t at = offset; at < offset + bytes && at / kWordBytes < count_; ++at) {
    Cell& cell = cells_.get()[at / kWordBytes];
    if (cell.written_in != block_) {
      cell.written_in = block_;
      cell.written = 0;
    }
    cell.written |= static_cast<std::uint8_t>(1u << at % kWordBytes);
  }
}

}  // namespace rooftile::simt::checked
