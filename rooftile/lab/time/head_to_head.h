// Two launches against each other, until the difference is known or the budget is spent.
//
// Measured in quads A B B A or B A A B, back to back: one quad gives one ratio sqrt(B1 B2 / (A1 A2)), in
// which a drift that is steady over the quad cancels, as does whatever the second of two neighbours gains
// from the first. The two kinds alternate by the sequence of Thue and Morse, so that a place in the quad
// belongs to neither side. The verdict rests on the median of these ratios, so that up to half of the quads
// may be disturbed; no difference below one step of the event clock is called one. The data are looked at
// after 60, 120, 240 … quads; each look asks for a 99 % interval, so that all looks together are wrong in
// fewer than 5 of 100 comparisons of a launch with itself.
#pragma once

#include <cstdint>
#include <string>

#include "rooftile/lab/time/statistics.h"
#include "rooftile/lab/time/timing.h"

namespace rooftile::lab {

struct DuelOptions {
  TimeMode mode = TimeMode::stream_cold;
  int first_look = 60;  // quads, at least 10; doubled from look to look
  int max_quads = 480;
  double budget_s = 1.0;  // wall time, after which the next look is the last
  double confidence = 0.99;
  std::uint64_t seed = 1;  // of the bootstrap
};

struct Duel {
  Interval ratio;                           // time of b / time of a: above 1, a is faster
  Verdict verdict = Verdict::insufficient;  // of a
  int quads = 0;
  Summary a;  // microseconds
  Summary b;
  std::string caveat;
};

// Both launches on this stream. The error of a launch that failed, or of the device.
[[nodiscard]] Result<Duel> compare_launches(StreamRef stream, const DeviceProperties& device,
                                            const TimedLaunch& a, const TimedLaunch& b,
                                            const DuelOptions& options);

}  // namespace rooftile::lab
