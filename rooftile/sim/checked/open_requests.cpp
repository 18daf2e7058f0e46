#include "rooftile/sim/checked/open_requests.h"

#include <algorithm>
#include <bit>

namespace rooftile::simt::checked {

// Precondition: both are of the same lanes.
bool OpenRequests::join(Open& open, const WarpRequest& request, unsigned alignment) {
  WarpRequest joined = open.request;
  unsigned first = alignment;
  unsigned end = 0;
  bool is_first = true;
  for (std::uint32_t left = request.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const std::uintptr_t mine = open.request.address[lane];
    const std::uintptr_t other = request.address[lane];
    if (mine / alignment != other / alignment) return false;
    const auto lane_first = static_cast<unsigned>(std::min(mine, other) % alignment);
    const auto lane_end = static_cast<unsigned>(std::max(mine + open.request.bytes, other + request.bytes) -
                                                mine / alignment * alignment);
    if (!is_first && (lane_first != first || lane_end != end)) return false;
    is_first = false;
    first = lane_first;
    end = lane_end;
    joined.address[lane] = std::min(mine, other);
  }
  if (end - first > open.request.bytes + request.bytes) return false;  // a gap
  joined.bytes = std::bit_ceil(end - first);
  if (first % joined.bytes != 0) return false;
  open.request = joined;
  return true;
}

void OpenRequests::add(const void* pc, AccessKind kind, MemorySpace space, const WarpRequest& request,
                       unsigned alignment, SiteCounts& sites) {
  if (count_ > 0 && open_[0].kind != kind) close(sites);
  if (alignment <= request.bytes) {
    if (kind != AccessKind::load) close(sites);
    return sites.add(pc, kind, space, request);
  }
  for (unsigned i = 0; i < count_; ++i) {
    Open& open = open_[i];
    if (open.space == space && open.request.lanes == request.lanes && join(open, request, alignment)) return;
  }
  if (count_ == kMost) close(sites);
  open_[count_++] = {pc, kind, space, request};
}

void OpenRequests::close(SiteCounts& sites) {
  for (unsigned i = 0; i < count_; ++i) {
    sites.add(open_[i].pc, open_[i].kind, open_[i].space, open_[i].request);
  }
  count_ = 0;
}

}  // namespace rooftile::simt::checked
