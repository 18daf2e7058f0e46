// Warp collectives: who waits for whom, and what each lane gets.
#include <bit>
#include <string>
#include <string_view>

#include "rooftile/sim/schedule.h"
#include "rooftile/sim/wmma_warp.h"

namespace rooftile::simt::detail {
namespace {

const char* name_of(WarpOp op) {
  switch (op) {
    case WarpOp::sync:
      return "__syncwarp";
    case WarpOp::shuffle_index:
      return "__shfl_sync";
    case WarpOp::shuffle_up:
      return "__shfl_up_sync";
    case WarpOp::shuffle_down:
      return "__shfl_down_sync";
    case WarpOp::shuffle_xor:
      return "__shfl_xor_sync";
    case WarpOp::ballot:
      return "__ballot_sync";
    case WarpOp::any:
      return "__any_sync";
    case WarpOp::all:
      return "__all_sync";
    case WarpOp::match_any:
      return "__match_any_sync";
    case WarpOp::match_all:
      return "__match_all_sync";
    case WarpOp::add_unsigned:
    case WarpOp::add_signed:
      return "__reduce_add_sync";
    case WarpOp::min_unsigned:
    case WarpOp::min_signed:
      return "__reduce_min_sync";
    case WarpOp::max_unsigned:
    case WarpOp::max_signed:
      return "__reduce_max_sync";
    case WarpOp::bit_and:
      return "__reduce_and_sync";
    case WarpOp::bit_or:
      return "__reduce_or_sync";
    case WarpOp::bit_xor:
      return "__reduce_xor_sync";
    case WarpOp::load_matrix:
      return "wmma::load_matrix_sync";
    case WarpOp::store_matrix:
      return "wmma::store_matrix_sync";
    case WarpOp::multiply_matrices:
      return "wmma::mma_sync";
    case WarpOp::mma_sync:
      return "mma_sync";
    case WarpOp::ldmatrix:
      return "ldmatrix";
    case WarpOp::stmatrix:
      return "stmatrix";
    case WarpOp::wgmma:
      return "wgmma";
    case WarpOp::wgmma_fence:
      return "wgmma_fence";
    case WarpOp::wgmma_commit:
      return "wgmma_commit";
    case WarpOp::wgmma_wait:
      return "wgmma_wait";
    case WarpOp::setmaxnreg:
      return "setmaxnreg";
  }
  return "a warp collective";
}

std::string hex(std::uint32_t mask) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[mask >> shift & 15u];
  return text;
}

std::uint32_t combine(WarpOp op, std::uint32_t a, std::uint32_t b) {
  const auto less = [](std::uint32_t x, std::uint32_t y) {
    return static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y);
  };
  switch (op) {
    case WarpOp::add_unsigned:
    case WarpOp::add_signed:
      return a + b;
    case WarpOp::min_unsigned:
      return a < b ? a : b;
    case WarpOp::max_unsigned:
      return a < b ? b : a;
    case WarpOp::min_signed:
      return less(a, b) ? a : b;
    case WarpOp::max_signed:
      return less(a, b) ? b : a;
    case WarpOp::bit_and:
      return a & b;
    case WarpOp::bit_or:
      return a | b;
    case WarpOp::bit_xor:
      return a ^ b;
    default:
      return a;
  }
}

template <class Body>
void for_each_lane(std::uint32_t lanes, Body&& body) {
  for (; lanes != 0; lanes &= lanes - 1) body(static_cast<unsigned>(std::countr_zero(lanes)));
}

void set_all(WarpState& warp, std::uint32_t lanes, std::uint64_t value) {
  for_each_lane(lanes, [&](unsigned lane) { warp.result[lane] = value; });
}

// The results of all lanes that arrived.
void compute(WarpState& warp, WarpOp op, std::uint32_t lanes) {
  switch (op) {
    case WarpOp::sync:
      return;
    case WarpOp::shuffle_index:
    case WarpOp::shuffle_up:
    case WarpOp::shuffle_down:
    case WarpOp::shuffle_xor:
      for_each_lane(lanes, [&](unsigned lane) {
        const unsigned source = warp.source_lane[lane];
        warp.result[lane] = (lanes >> source & 1u) != 0 ? warp.operand[source] : kPoison;
      });
      return;
    case WarpOp::ballot:
    case WarpOp::any:
    case WarpOp::all: {
      std::uint32_t votes = 0;
      for_each_lane(lanes, [&](unsigned lane) { votes |= warp.operand[lane] != 0 ? 1u << lane : 0u; });
      if (op == WarpOp::any) votes = votes != 0 ? 1 : 0;
      if (op == WarpOp::all) votes = votes == lanes ? 1 : 0;
      set_all(warp, lanes, votes);
      return;
    }
    case WarpOp::match_any:
      for_each_lane(lanes, [&](unsigned lane) {
        std::uint32_t equal = 0;
        for_each_lane(lanes, [&](unsigned other) {
          equal |= warp.operand[other] == warp.operand[lane] ? 1u << other : 0u;
        });
        warp.result[lane] = equal;
      });
      return;
    case WarpOp::match_all: {
      const std::uint64_t first = warp.operand[static_cast<unsigned>(std::countr_zero(lanes))];
      std::uint32_t equal = 0;
      for_each_lane(lanes, [&](unsigned lane) { equal |= warp.operand[lane] == first ? 1u << lane : 0u; });
      set_all(warp, lanes, equal == lanes ? lanes : 0);
      return;
    }
    case WarpOp::load_matrix:
    case WarpOp::store_matrix:
    case WarpOp::multiply_matrices:
    case WarpOp::mma_sync:
    case WarpOp::ldmatrix:
    case WarpOp::stmatrix:
    case WarpOp::wgmma:
    case WarpOp::wgmma_fence:
    case WarpOp::wgmma_commit:
    case WarpOp::wgmma_wait:
    case WarpOp::setmaxnreg:
      run_matrix_steps(name_of(op), warp.operand);
      return;
    default: {
      const auto first = static_cast<unsigned>(std::countr_zero(lanes));
      auto total = static_cast<std::uint32_t>(warp.operand[first]);
      for_each_lane(lanes & (lanes - 1), [&](unsigned lane) {
        total = combine(op, total, static_cast<std::uint32_t>(warp.operand[lane]));
      });
      set_all(warp, lanes, total);
      return;
    }
  }
}

}  // namespace

inline std::uint64_t BlockRunner::collective(WarpOp op, unsigned mask, std::uint64_t operand,
                                             unsigned source_lane, std::source_location where) {
  ThreadRecord& self = *current_thread;
  WarpState& warp = warps_[self.warp];
  const std::uint32_t bit = 1u << self.lane;
  if ((mask & bit) == 0) [[unlikely]]
    fail_foreign_mask(op, mask, where);
  warp.operand[self.lane] = operand;
  warp.source_lane[self.lane] = static_cast<std::uint8_t>(source_lane);

  PendingCollective* pending = warp.pending.data();
  PendingCollective* const end = pending + warp.pending_count;
  while (pending != end && pending->mask != mask) ++pending;
  if (pending == end) {
    ++warp.pending_count;
    *pending = {mask, 0, op, where};
  } else if (pending->op != op) [[unlikely]] {
    fail_mixed_collectives(op, *pending, where);
  }
  pending->arrived |= bit;
  if ((mask & warp.live & ~pending->arrived) == 0) complete_if_all_arrived(warp, self.warp);
  self.waits_at = name_of(op);
  self.where = where;
  switch_away(self);
  return warp.result[self.lane];
}

void BlockRunner::fail_foreign_mask(WarpOp op, unsigned mask, std::source_location where) {
  report_failure(std::string(name_of(op)) + " at " + describe(where) + ": lane " +
                 std::to_string(current_thread->lane) + " calls it with mask " + hex(mask) +
                 ", which does not name that lane");
  abandon_thread();
}

void BlockRunner::fail_mixed_collectives(WarpOp op, const PendingCollective& pending,
                                         std::source_location where) {
  report_failure(std::string(name_of(op)) + " at " + describe(where) + ", while other lanes of mask " +
                 hex(pending.mask) + " wait in " + name_of(pending.op) + " at " + describe(pending.where) +
                 ": all lanes of a mask must call the same collective");
  abandon_thread();
}

void BlockRunner::complete_if_all_arrived(WarpState& warp, unsigned warp_index) {
  for (unsigned i = 0; i < warp.pending_count;) {
    const PendingCollective pending = warp.pending[i];
    const std::uint32_t needed = is_matrix_op(pending.op) ? pending.mask : pending.mask & warp.live;
    if ((needed & ~pending.arrived) != 0) {
      ++i;
      continue;
    }
    compute(warp, pending.op, pending.arrived);
    if (watcher_ != nullptr) [[unlikely]] {
      watcher_->collective_passed(warp_index, pending.op, pending.mask, pending.arrived,
                                  warp.source_lane.data(), pending.where);
    }
    warp.pending[i] = warp.pending[--warp.pending_count];
    make_ready(warp_index, pending.arrived);
  }
}

std::uint32_t BlockRunner::active_lanes(std::source_location where) {
  ThreadRecord& self = *current_thread;
  WarpState& warp = warps_[self.warp];
  warp.at_activemask |= 1u << self.lane;
  self.waits_at = "__activemask";
  self.where = where;
  switch_away(self);
  return static_cast<std::uint32_t>(warp.result[self.lane]);
}

void BlockRunner::release_active(WarpState& warp, unsigned warp_index) {
  const auto place_of = [&](unsigned lane) { return threads_[warp_index * kWarpLanes + lane].where; };
  const std::source_location first = place_of(static_cast<unsigned>(std::countr_zero(warp.at_activemask)));
  std::uint32_t lanes = 0;
  for_each_lane(warp.at_activemask, [&](unsigned lane) {
    const std::source_location where = place_of(lane);
    const bool same = where.line() == first.line() && where.column() == first.column() &&
                      std::string_view(where.file_name()) == first.file_name();
    if (same) lanes |= 1u << lane;
  });
  set_all(warp, lanes, lanes);
  warp.at_activemask &= ~lanes;
  make_ready(warp_index, lanes);
}

std::uint32_t active_lanes(std::source_location where) { return current_runner->active_lanes(where); }

std::uint64_t warp_collective(WarpOp op, unsigned mask, std::uint64_t operand, unsigned source_lane,
                              std::source_location where) {
  BlockWatcher* watcher = current_runner->watcher();
  if (op == WarpOp::sync && watcher != nullptr && watcher->is_disabled(where)) return 0;
  return current_runner->collective(op, mask, operand, source_lane, where);
}

}  // namespace rooftile::simt::detail
