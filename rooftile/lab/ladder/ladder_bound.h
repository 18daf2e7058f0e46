// The bound of a case, measured in the rounds of its ladder: the slower of moving its bytes (stream_bound.h) and executing
// its operations (compute_bound.h).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rooftile/lab/ladder/ladder.h"
#include "rooftile/lab/time/compute_bound.h"
#include "rooftile/lab/time/stream_bound.h"
#include "rooftile/lab/time/timing.h"

namespace rooftile::lab {

// The rung of a row that is the bound.
inline constexpr std::string_view kStreamingBound = "streaming_bound";
inline constexpr std::string_view kComputeBound = "compute_bound";

class CaseBound {
 public:
  // What has no bound on this device is a note of the result.
  CaseBound(StreamRef stream, const DeviceProperties& device, LadderResult& result);
  CaseBound(const CaseBound&) = delete;
  CaseBound& operator=(const CaseBound&) = delete;

  // They refer to this.
  [[nodiscard]] std::vector<TimedLaunch> launches() const;
  // From the series of launches(), in their order; none, and a note, where nothing was measured.
  [[nodiscard]] std::optional<LadderRow> row(std::span<const TimeSeries> series, LadderResult& result) const;

 private:
  StreamRef stream_;
  std::optional<StreamBound> bytes_;
  std::optional<ComputeBound> flops_;
};

// Every row's share of the bound.
void set_bound_fraction(LadderRow& row, const LadderRow& bound, double bytes);
// That launching decides, where it does.
void note_launch_bound(const LadderRow& bound, LadderResult& result);

}  // namespace rooftile::lab
