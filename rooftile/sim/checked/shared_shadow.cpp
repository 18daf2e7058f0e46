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

inline void SharedShadow::find_conflict(const Cell& cell, const Mark& mark, unsigned bytes, unsigned thread,
                                        const LaneClocks& clocks, SharedVerdict& verdict) {
  const auto judge = [&](const Mark& earlier) {
    if ((earlier.bytes & bytes) == 0 || (earlier.atomic && mark.atomic)) return;
    if (clocks.is_ordered(earlier.thread, earlier.stamp, thread)) return;
    if (verdict.conflict.bytes != 0 && !verdict.of_two_stores) return;
    verdict.conflict = earlier;
    verdict.of_two_stores = are_plain_stores(earlier, mark);
  };
  for (const Mark& earlier : cell.writes) judge(earlier);
  if (!mark.write) return;
  for (const Mark& earlier : cell.reads) judge(earlier);
}

// Replaces the thread's own mark, or one that is ordered before (who conflicts with that one conflicts with
// the new one as well); else takes turns, with marks of its own warp where there are any: many lanes of one
// warp must not hide another.
template <std::size_t kMarks>
void SharedShadow::keep(std::array<Mark, kMarks>& marks, Cell& cell, const Mark& mark, unsigned bytes,
                        unsigned thread, const LaneClocks& clocks) {
  // The copy first: what was just written in parts is slow to read as a whole.
  const auto put = [&](Mark& place) {
    place = mark;
    place.bytes = static_cast<std::uint8_t>(bytes & 0xfu);
  };
  for (Mark& old : marks) {
    if (clocks.is_old(old.thread, old.stamp) || ((old.bytes & ~bytes) == 0 && old.atomic == mark.atomic &&
                                                 clocks.is_ordered(old.thread, old.stamp, thread))) {
      put(old);
      return;
    }
  }
  ++cell.victim;
  for (std::size_t turn = 0; turn < kMarks; ++turn) {
    Mark& old = marks[(cell.victim + turn) % kMarks];
    if (old.thread / detail::kWarpLanes == mark.thread / detail::kWarpLanes) return put(old);
  }
  put(marks[cell.victim % kMarks]);
}

SharedVerdict SharedShadow::access(std::size_t offset, std::size_t bytes, const Mark& mark, bool reads,
                                   unsigned thread, const LaneClocks& clocks, const IsFenced* is_fenced) {
  SharedVerdict verdict;
  const std::size_t end = offset + bytes;
  for (std::size_t word = offset / kWordBytes; word * kWordBytes < end && word < count_; ++word) {
    const std::size_t first = std::max(offset, word * kWordBytes) - word * kWordBytes;
    const std::size_t last = std::min(end - word * kWordBytes, kWordBytes);
    const unsigned of_word = (1u << last) - (1u << first);
    Cell& cell = cells_.get()[word];
    if (cell.written_in != block_) {
      cell.written_in = block_;
      cell.written = 0;
    }
    if (const unsigned missing = of_word & ~unsigned{cell.written}; reads && missing != 0) [[unlikely]]
      verdict.unwritten.add(missing, static_cast<std::ptrdiff_t>(word * kWordBytes - offset));
    find_conflict(cell, mark, of_word, thread, clocks, verdict);
    if (is_fenced != nullptr) {
      for (const Mark& write : cell.writes) {
        unsigned seen = write.bytes & of_word;  // what no later write has covered
        for (const Mark& other : cell.writes) {
          if (other.stamp > write.stamp) seen &= ~unsigned{other.bytes};
        }
        const bool concerns = write.stamp >= clocks.start_stamp() && seen != 0 && !is_agent(write.thread) &&
                              clocks.is_ordered(write.thread, write.stamp, thread);
        if (concerns && !(*is_fenced)(write)) verdict.unfenced = write;
      }
    }
    if (mark.write) {
      if (!is_agent(mark.thread)) cell.written = static_cast<std::uint8_t>(cell.written | of_word);
      keep(cell.writes, cell, mark, of_word, thread, clocks);
    } else {
      keep(cell.reads, cell, mark, of_word, thread, clocks);
    }
  }
  return verdict;
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
