#include "rooftile/sim/checked/requests.h"

#include <algorithm>
#include <bit>
#include <span>

namespace rooftile::simt::checked {
namespace {

constexpr unsigned kBanks = 32;
constexpr unsigned kWordBytes = 4;
constexpr unsigned kMostBytes = 16;  // of one lane's access

template <class Body>
void for_each_lane(std::uint32_t lanes, Body&& body) {
  for (; lanes != 0; lanes &= lanes - 1) body(static_cast<unsigned>(std::countr_zero(lanes)));
}

// The distinct units of `unit` bytes that the lanes touch, in order. A lane touches at most `kPerLane`.
template <unsigned kPerLane>
class TouchedUnits {
 public:
  TouchedUnits(const WarpRequest& request, std::uint32_t lanes, unsigned unit) {
    for_each_lane(lanes, [&](unsigned lane) {
      const std::uintptr_t first = request.address[lane] / unit;
      const std::uintptr_t last = (request.address[lane] + request.bytes - 1) / unit;
      for (std::uintptr_t i = first; i <= last && i - first < kPerLane; ++i) {
        // Neighbouring lanes mostly share their unit, or take the next one.
        if (count_ == 0 || units_[count_ - 1] != i) units_[count_++] = i;
      }
    });
    if (!std::is_sorted(units_.begin(), units_.begin() + count_)) {
      std::sort(units_.begin(), units_.begin() + count_);
    }
    count_ = static_cast<unsigned>(std::unique(units_.begin(), units_.begin() + count_) - units_.begin());
  }
  [[nodiscard]] std::span<const std::uintptr_t> units() const { return {units_.data(), count_}; }
  [[nodiscard]] unsigned count() const { return count_; }

 private:
  std::array<std::uintptr_t, std::size_t{kLanes} * kPerLane> units_;
  unsigned count_ = 0;
};

std::array<std::uintptr_t, kLanes> sorted_addresses(const WarpRequest& request, unsigned& count) {
  std::array<std::uintptr_t, kLanes> addresses{};
  count = 0;
  for_each_lane(request.lanes, [&](unsigned lane) { addresses[count++] = request.address[lane]; });
  if (!std::is_sorted(addresses.begin(), addresses.begin() + count)) {
    std::sort(addresses.begin(), addresses.begin() + count);
  }
  return addresses;
}

// Whether `lanes` are pairs of neighbours (lanes 2 i and 2 i + 1), and each pair has one address.
bool neighbours_share(const WarpRequest& request, std::uint32_t lanes) {
  constexpr std::uint32_t kFirst = 0x55555555u;
  bool all = (lanes & kFirst) == (lanes >> 1 & kFirst);
  for_each_lane(all ? lanes & kFirst : 0,
                [&](unsigned lane) { all = all && request.address[lane] == request.address[lane + 1]; });
  return all;
}

// Lanes that are served at once.
void add_part(const WarpRequest& request, std::uint32_t lanes, SharedCost& cost) {
  if (lanes == 0) return;
  const TouchedUnits<kMostBytes / kWordBytes + 1> words(request, lanes, kWordBytes);
  std::array<std::uint8_t, kBanks> in_bank{};
  unsigned most = 0;
  for (const std::uintptr_t word : words.units()) most = std::max<unsigned>(most, ++in_bank[word % kBanks]);
  cost.wavefronts += most;
  ++cost.ideal_wavefronts;
}

}  // namespace

GlobalCost global_cost(const WarpRequest& request) {
  // A misaligned access of 16 bytes, which hardware refuses, would touch two sectors.
  const TouchedUnits<2> sectors(request, request.lanes, kSectorBytes);
  GlobalCost cost;
  cost.sectors = sectors.count();
  std::uintptr_t line = 0;
  for (const std::uintptr_t sector : sectors.units()) {
    const std::uintptr_t own = sector / (kLineBytes / kSectorBytes);
    if (cost.lines == 0 || own != line) ++cost.lines;
    line = own;
  }
  unsigned count = 0;
  const auto addresses = sorted_addresses(request, count);
  std::uint64_t bytes = 0;
  std::uintptr_t end = 0;
  for (unsigned i = 0; i < count; ++i) {
    const std::uintptr_t from = std::max(addresses[i], end);
    end = addresses[i] + request.bytes;
    if (end > from) bytes += end - from;
  }
  cost.ideal_sectors = static_cast<unsigned>((bytes + kSectorBytes - 1) / kSectorBytes);
  return cost;
}

SharedCost shared_cost(const WarpRequest& request) {
  SharedCost cost;
  if (request.bytes < 8) {
    add_part(request, request.lanes, cost);
    return cost;
  }
  for (const std::uint32_t half : {request.lanes & 0xffffu, request.lanes & 0xffff0000u}) {
    if (request.bytes == 8 || (!request.matrix_rows && neighbours_share(request, half))) {
      add_part(request, half, cost);
    } else {
      add_part(request, half & 0x00ff00ffu, cost);
      add_part(request, half & 0xff00ff00u, cost);
    }
  }
  return cost;
}

unsigned constant_words(const WarpRequest& request) {
  return TouchedUnits<kMostBytes / kWordBytes + 1>(request, request.lanes, kWordBytes).count();
}

unsigned same_address_lanes(const WarpRequest& request) {
  unsigned count = 0;
  const auto addresses = sorted_addresses(request, count);
  unsigned most = 0;
  unsigned run = 0;
  for (unsigned i = 0; i < count; ++i) {
    run = i > 0 && addresses[i] == addresses[i - 1] ? run + 1 : 1;
    most = std::max(most, run);
  }
  return most;
}

std::optional<std::int64_t> lane_stride(const WarpRequest& request) {
  std::optional<std::int64_t> stride;
  unsigned before = kLanes;
  bool same = true;
  for_each_lane(request.lanes, [&](unsigned lane) {
    if (before != kLanes) {
      const auto distance = static_cast<std::int64_t>(request.address[lane] - request.address[before]);
      const auto steps = static_cast<std::int64_t>(lane - before);
      if (distance % steps != 0 || (stride && *stride != distance / steps)) same = false;
      if (same) stride = distance / steps;
    }
    before = lane;
  });
  return same ? stride : std::nullopt;
}

}  // namespace rooftile::simt::checked
