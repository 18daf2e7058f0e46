#include "rooftile/sim/checked/global_shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace rooftile::simt::checked {
namespace {

bool is_ordered(const GlobalMark& earlier, const GlobalMark& now, const LaneClocks& lanes,
                const GridClocks& grid) {
  if (earlier.epoch != now.epoch) return true;
  if (earlier.block == now.block) return lanes.is_ordered(earlier.thread, earlier.stamp, now.thread);
  return grid.is_ordered(earlier.block, earlier.thread, earlier.stamp, now.thread);
}

// Replaces a mark that is ordered before, for who conflicts with that one conflicts with the new one as well;
// else the older of the two.
void keep(std::array<GlobalMark, 2>& marks, const GlobalMark& mark, const LaneClocks& lanes,
          const GridClocks& grid) {
  for (GlobalMark& old : marks) {
    const bool same_kind = (old.bytes & ~mark.bytes) == 0 && old.atomic == mark.atomic;
    if (old.epoch != mark.epoch || (same_kind && is_ordered(old, mark, lanes, grid))) {
      old = mark;
      return;
    }
  }
  marks[0] = marks[1];
  marks[1] = mark;
}

}  // namespace

void GlobalShadow::Unmap::operator()(Cell* cells) const { munmap(static_cast<void*>(cells), bytes); }

GlobalShadow::GlobalShadow(std::size_t bytes)
    : cells_(nullptr, Unmap{(bytes / kWordBytes + 2) * sizeof(Cell)}) {
  void* memory = mmap(nullptr, cells_.get_deleter().bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  cells_.reset(static_cast<Cell*>(memory));
}

GlobalMark GlobalShadow::access(std::size_t offset, unsigned bytes, GlobalMark mark, const LaneClocks& lanes,
                                const GridClocks& grid) {
  GlobalMark conflict;
  const std::size_t end = offset + bytes;
  for (std::size_t word = offset / kWordBytes; word * kWordBytes < end; ++word) {
    const std::size_t first = std::max(offset, word * kWordBytes) - word * kWordBytes;
    const std::size_t last = std::min(end - word * kWordBytes, kWordBytes);
    mark.bytes = static_cast<std::uint8_t>((1u << last) - (1u << first));
    std::atomic_flag& lock = locks_[word / 16 % kLocks];
    while (lock.test_and_set(std::memory_order_acquire)) {
    }
    Cell& cell = cells_.get()[word];
    const auto judge = [&](const GlobalMark& earlier) {
      if (earlier.epoch != mark.epoch || (earlier.bytes & mark.bytes) == 0) return;
      if ((earlier.atomic && mark.atomic) || is_ordered(earlier, mark, lanes, grid)) return;
      conflict = earlier;
    };
    for (const GlobalMark& earlier : cell.writes) judge(earlier);
    if (mark.write) {
      for (const GlobalMark& earlier : cell.reads) judge(earlier);
    }
    keep(mark.write ? cell.writes : cell.reads, mark, lanes, grid);
    lock.clear(std::memory_order_release);
  }
  return conflict;
}

}  // namespace rooftile::simt::checked
