// Time: rows interleaved in one process, one event pair per launch, caches flushed before each.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/core/device.h"
#include "rooftile/core/memory.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::lab {

enum class TimeMode { stream_cold, stream_hot };
[[nodiscard]] std::string_view to_string(TimeMode mode);  // "stream-cold"
[[nodiscard]] Result<TimeMode> parse_time_mode(std::string_view text);

// Evicts a device's last-level cache by writing a buffer of twice its size.
class CacheFlush {
 public:
  static Result<CacheFlush> create(StreamRef stream, const DeviceProperties& device);
  CacheFlush() = default;

  // On cuda enqueued, never waited for.
  [[nodiscard]] Status run(StreamRef stream) const;
  // Empty, or in what way this flush is weaker than its promise.
  [[nodiscard]] const std::string& caveat() const { return caveat_; }

 private:
  DeviceMemory buffer_;
  std::string caveat_;
};

struct TimedLaunch {
  std::function<Status()> launch;  // enqueues one run on the stream; neither allocates nor synchronises
};

struct TimingOptions {
  TimeMode mode = TimeMode::stream_cold;
  int min_samples = 20;  // after which the budget ends the series
  int max_samples = 50;
  double budget_s = 5.0;  // wall time; a series that it cuts short has fewer than min_samples
  std::function<void(int round, int rounds)> on_round;
};

struct TimeSeries {
  Status status;                   // why the launch failed; then no samples
  std::vector<double> samples_us;  // the i-th of every series belong to the same round
};

// One sample of each launch per round, the order reversed every other round, so that drift hits all alike.
[[nodiscard]] Result<std::vector<TimeSeries>> time_interleaved(StreamRef stream,
                                                               const DeviceProperties& device,
                                                               const std::vector<TimedLaunch>& launches,
                                                               const TimingOptions& options,
                                                               std::string* caveat);

}  // namespace rooftile::lab
