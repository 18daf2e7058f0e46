// Groups within a warp: tiles, which are consecutive lanes, and coalesced groups, which are any lanes. What
// they have in common is written once, over lanes(), lane_of(rank) and ranks_of(lanes) of the group.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <string>
#include <type_traits>

#include "rooftile/sim/collectives.h"
#include "rooftile/sim/cooperative_groups/block.h"

namespace rooftile::simt::cooperative_groups {

namespace detail_cg {

// What is wider than the registers of one shuffle goes in 4-byte parts.
template <class T>
T shuffle_value(detail::WarpOp op, unsigned mask, const T& value, unsigned source,
                std::source_location where) {
  if constexpr (sizeof(T) <= 8) {
    return detail::shuffle(op, mask, value, source, where);
  } else {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 32,
                  "a shuffle moves trivially copyable values of up to 32 bytes");
    std::uint32_t parts[(sizeof(T) + 3) / 4] = {};
    std::memcpy(parts, &value, sizeof(T));
    for (std::uint32_t& part : parts) part = detail::shuffle(op, mask, part, source, where);
    T result = value;
    std::memcpy(static_cast<void*>(&result), parts, sizeof(T));
    return result;
  }
}

[[noreturn]] inline void fail_rank(unsigned rank, unsigned size, std::source_location where) {
  detail::report_failure(
      "a shuffle from rank " + std::to_string(rank) + " of a coalesced_group of " + std::to_string(size),
      where);
  detail::abandon_thread();
}

inline unsigned lanes_below(unsigned lane) { return (1u << lane) - 1; }

template <class Self>
class LaneGroup {
 public:
  [[nodiscard]] unsigned num_threads() const { return self().size(); }
  void sync(std::source_location where = std::source_location::current()) const {
    __syncwarp(lanes(), where);
  }
  template <class T>
  T shfl(T value, int source, std::source_location where = std::source_location::current()) const {
    return shuffle_value(detail::WarpOp::shuffle_index, lanes(), value,
                         self().lane_of(static_cast<unsigned>(source), where), where);
  }
  // A thread whose source is outside of the group keeps its own value.
  template <class T>
  T shfl_up(T value, unsigned delta, std::source_location where = std::source_location::current()) const {
    const unsigned rank = self().thread_rank();
    return shuffle_value(detail::WarpOp::shuffle_up, lanes(), value,
                         self().lane_of(delta <= rank ? rank - delta : rank, where), where);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, std::source_location where = std::source_location::current()) const {
    const unsigned rank = self().thread_rank();
    return shuffle_value(detail::WarpOp::shuffle_down, lanes(), value,
                         self().lane_of(delta < self().size() - rank ? rank + delta : rank, where), where);
  }
  // Of votes and matches, bit i is the group's thread i.
  unsigned ballot(int predicate, std::source_location where = std::source_location::current()) const {
    return self().ranks_of(__ballot_sync(lanes(), predicate, where));
  }
  int any(int predicate, std::source_location where = std::source_location::current()) const {
    return __any_sync(lanes(), predicate, where);
  }
  int all(int predicate, std::source_location where = std::source_location::current()) const {
    return __all_sync(lanes(), predicate, where);
  }
  template <class T>
  unsigned match_any(T value, std::source_location where = std::source_location::current()) const {
    return self().ranks_of(__match_any_sync(lanes(), value, where));
  }
  template <class T>
  unsigned match_all(T value, int& predicate,
                     std::source_location where = std::source_location::current()) const {
    return self().ranks_of(__match_all_sync(lanes(), value, &predicate, where));
  }

 private:
  friend Self;
  LaneGroup() = default;
  [[nodiscard]] const Self& self() const { return static_cast<const Self&>(*this); }
  [[nodiscard]] unsigned lanes() const { return self().lanes(); }
};

}  // namespace detail_cg

// kSize consecutive lanes of a warp, as a part of `Parent`; void: of any group.
template <unsigned kSize, class Parent = void>
class thread_block_tile : public detail_cg::LaneGroup<thread_block_tile<kSize, Parent>> {
  static_assert(kSize >= 1 && kSize <= 32 && (kSize & (kSize - 1)) == 0,
                "tiles are powers of two within a warp");
  using Base = detail_cg::LaneGroup<thread_block_tile>;

 public:
  thread_block_tile(unsigned meta_rank, unsigned meta_size) : meta_rank_(meta_rank), meta_size_(meta_size) {}
  template <class Other>
  requires(std::is_void_v<Parent> && !std::is_void_v<Other>)
      thread_block_tile(const thread_block_tile<kSize, Other>& tile)  // NOLINT(google-explicit-constructor)
      : thread_block_tile(tile.meta_group_rank(), tile.meta_group_size()) {}

  [[nodiscard]] static unsigned thread_rank() { return detail::current_thread->lane % kSize; }
  [[nodiscard]] static constexpr unsigned size() { return kSize; }
  [[nodiscard]] static constexpr unsigned num_threads() { return kSize; }
  [[nodiscard]] unsigned meta_group_rank() const { return meta_rank_; }
  [[nodiscard]] unsigned meta_group_size() const { return meta_size_; }

  template <class T>
  T shfl_xor(T value, unsigned lane_mask,
             std::source_location where = std::source_location::current()) const {
    const unsigned lane = detail::current_thread->lane;
    const unsigned source = lane ^ (lane_mask & 31u);
    return detail_cg::shuffle_value(detail::WarpOp::shuffle_xor, lanes(), value,
                                    source < first_lane() + kSize ? source : lane, where);
  }

  // For the common part: its lanes in the warp.
  [[nodiscard]] static unsigned lanes() { return (0xffffffffu >> (32 - kSize)) << first_lane(); }
  [[nodiscard]] static unsigned lane_of(unsigned rank, std::source_location) {
    return first_lane() + rank % kSize;
  }
  [[nodiscard]] static unsigned ranks_of(unsigned lanes) { return lanes >> first_lane(); }

 private:
  [[nodiscard]] static unsigned first_lane() { return detail::current_thread->lane / kSize * kSize; }

  unsigned meta_rank_;
  unsigned meta_size_;
};

// Any lanes of a warp, ranked in their order.
class coalesced_group : public detail_cg::LaneGroup<coalesced_group> {
 public:
  explicit coalesced_group(unsigned lanes, unsigned meta_rank = 0, unsigned meta_size = 1)
      : lanes_(lanes), meta_rank_(meta_rank), meta_size_(meta_size) {}

  [[nodiscard]] unsigned thread_rank() const {
    return static_cast<unsigned>(
        std::popcount(lanes_ & detail_cg::lanes_below(detail::current_thread->lane)));
  }
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(std::popcount(lanes_)); }
  [[nodiscard]] unsigned meta_group_rank() const { return meta_rank_; }
  [[nodiscard]] unsigned meta_group_size() const { return meta_size_; }

  [[nodiscard]] unsigned lanes() const { return lanes_; }
  [[nodiscard]] unsigned lane_of(unsigned rank, std::source_location where) const {
    if (rank >= size()) [[unlikely]]
      detail_cg::fail_rank(rank, size(), where);
    unsigned left = lanes_;
    for (; rank > 0; --rank) left &= left - 1;
    return static_cast<unsigned>(std::countr_zero(left));
  }
  [[nodiscard]] unsigned ranks_of(unsigned lanes) const {
    unsigned ranks = 0;
    unsigned rank = 0;
    for (unsigned left = lanes_; left != 0; left &= left - 1, ++rank) {
      ranks |= (lanes & left & (~left + 1)) != 0 ? 1u << rank : 0;
    }
    return ranks;
  }

 private:
  unsigned lanes_;
  unsigned meta_rank_;
  unsigned meta_size_;
};

// A block or lanes of a warp, known at run time alone.
class thread_group {
 public:
  thread_group(const thread_block&) {}  // NOLINT(google-explicit-constructor)
  template <class Self>
  thread_group(const detail_cg::LaneGroup<Self>& group)  // NOLINT(google-explicit-constructor)
      : lanes_(static_cast<const Self&>(group).lanes()) {}

  void sync(std::source_location where = std::source_location::current()) const {
    if (is_block()) {
      thread_block::sync(where);
    } else {
      __syncwarp(lanes_, where);
    }
  }
  [[nodiscard]] unsigned size() const {
    return is_block() ? thread_block::size() : coalesced_group(lanes_).size();
  }
  [[nodiscard]] unsigned num_threads() const { return size(); }
  [[nodiscard]] unsigned thread_rank() const {
    return is_block() ? thread_block::thread_rank() : coalesced_group(lanes_).thread_rank();
  }

  [[nodiscard]] bool is_block() const { return lanes_ == 0; }
  [[nodiscard]] unsigned lanes() const { return lanes_; }

 private:
  unsigned lanes_ = 0;
};

}  // namespace rooftile::simt::cooperative_groups
