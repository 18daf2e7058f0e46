#include "rooftile/sim/checked/global_shadow.h"

#include <algorithm>

namespace rooftile::simt::checked {
namespace {

bool is_ordered(const GlobalMark& earlier, const GlobalMark& now, const GlobalActor& actor) {
  if (earlier.epoch != now.epoch) return true;
  if (earlier.block == now.block || actor.lanes.has_block(earlier.block)) {
    return actor.lanes.is_ordered(earlier.thread, earlier.stamp, actor.thread);
  }
  return actor.grid.is_ordered(earlier.block, earlier.thread, earlier.stamp, actor.local);
}

// The copy first: what was just written in parts is slow to read as a whole.
void put(GlobalMark& place, const GlobalMark& mark, unsigned bytes) {
  place = mark;
  place.bytes = static_cast<std::uint8_t>(bytes & 0xfu);
}

// Replaces a mark that is ordered before, for who conflicts with that one conflicts with the new one as well. Else of two
// atomics, which do not conflict with each other, the one of the same block: that another block was here is told longest;
// else the older of the two.
void keep(std::array<GlobalMark, 2>& marks, const GlobalMark& mark, unsigned bytes,
          const GlobalActor& actor) {
  for (GlobalMark& old : marks) {
    const bool same_kind = (old.bytes & ~bytes) == 0 && old.atomic == mark.atomic;
    if (old.epoch != mark.epoch || (same_kind && is_ordered(old, mark, actor))) {
      put(old, mark, bytes);
      return;
    }
  }
  const bool keeps_older = mark.atomic && marks[0].atomic && marks[1].atomic &&
                           marks[0].block != mark.block && marks[1].block == mark.block;
  if (!keeps_older) marks[0] = marks[1];
  put(marks[1], mark, bytes);
}

}  // namespace

GlobalShadow::GlobalShadow(std::size_t bytes)
    : memory_(take_shadow_memory((bytes / kWordBytes + 2) * (sizeof(Cell) + sizeof(Marks)))),
      cells_(reinterpret_cast<Cell*>(memory_.get())),
      reads_(reinterpret_cast<Marks*>(cells_ + bytes / kWordBytes + 2)) {}

void GlobalShadow::access(std::size_t offset, std::size_t bytes, const GlobalMark& mark,
                          const GlobalActor& actor, GlobalVerdict& verdict,
                          const std::function<bool(const GlobalMark&)>* is_fenced) {
  std::atomic_flag* lock = nullptr;
  const std::size_t end = offset + bytes;
  for (std::size_t word = offset / kWordBytes; word * kWordBytes < end; ++word) {
    const std::size_t first = std::max(offset, word * kWordBytes) - word * kWordBytes;
    const std::size_t last = std::min(end - word * kWordBytes, kWordBytes);
    const unsigned of_word = (1u << last) - (1u << first);
    if (!actor.is_alone && (lock == nullptr || word % kLockedWords == 0)) {
      if (lock != nullptr) lock->clear(std::memory_order_release);
      lock = &locks_[word / kLockedWords % kLocks];
      while (lock->test_and_set(std::memory_order_acquire)) {
      }
    }
    Cell& cell = cells_[word];
    // Whether a later write of the same block has covered all of it that is read now.
    const auto is_covered = [&](const GlobalMark& earlier) {
      unsigned seen = earlier.bytes & of_word;
      for (const GlobalMark& other : cell.writes) {
        if (other.epoch == earlier.epoch && other.block == earlier.block && other.stamp > earlier.stamp)
          seen &= ~unsigned{other.bytes};
      }
      return seen == 0;
    };
    const auto judge = [&](const GlobalMark& earlier) {
      if (earlier.epoch != mark.epoch || (earlier.bytes & of_word) == 0) return;
      if (earlier.atomic && mark.atomic) return;
      if (!is_ordered(earlier, mark, actor)) {
        if (verdict.conflict.epoch != 0 && !verdict.of_two_stores) return;
        verdict.conflict = earlier;
        verdict.of_two_stores = are_plain_stores(earlier, mark);
      } else if (is_fenced != nullptr && earlier.write && !is_agent(earlier.thread) && !is_covered(earlier) &&
                 !(*is_fenced)(earlier)) {
        verdict.unfenced = earlier;
      }
    };
    if (cell.write_epoch == mark.epoch) {
      for (const GlobalMark& earlier : cell.writes) judge(earlier);
    }
    if (mark.write && cell.read_epoch == mark.epoch) {
      for (const GlobalMark& earlier : reads_[word]) judge(earlier);
    }
    Marks& own = mark.write ? cell.writes : reads_[word];
    std::uint32_t& epoch = mark.write ? cell.write_epoch : cell.read_epoch;
    if (epoch == mark.epoch) {
      keep(own, mark, of_word, actor);
    } else {
      epoch = mark.epoch;
      put(own[0], mark, of_word);
    }
  }
  if (lock != nullptr) lock->clear(std::memory_order_release);
}

}  // namespace rooftile::simt::checked
