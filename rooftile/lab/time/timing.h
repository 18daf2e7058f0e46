// Time: rows interleaved in one process, one event pair per launch, in one of four modes.
//
//   stream-cold  caches flushed before each launch
//   stream-hot   the same launch ran directly before
//   graph-cold, graph-hot  the same, the launch captured once into a graph of its own and replayed: what a
//                launch-bound operator costs a caller who uses graphs; the flush stays outside. GPU only.
//
// On the CPU the threads are pinned for as long as they are timed (pinned_threads.h).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/core/device.h"
#include "rooftile/core/memory.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/lab/time/pinned_threads.h"

namespace rooftile::lab {

enum class TimeMode { stream_cold, stream_hot, graph_cold, graph_hot };
[[nodiscard]] std::string_view to_string(TimeMode mode);  // "stream-cold"
[[nodiscard]] Result<TimeMode> parse_time_mode(std::string_view text);
[[nodiscard]] constexpr bool is_cold(TimeMode mode) {
  return mode == TimeMode::stream_cold || mode == TimeMode::graph_cold;
}
// The step in which a device's event times advance; 0 where it is far below any launch.
[[nodiscard]] constexpr double event_step_us(DeviceKind kind) {
  return kind == DeviceKind::cuda ? 0.032 : 0.0;  // as observed on an H200; the contract promises 0.5
}
[[nodiscard]] constexpr bool uses_graph(TimeMode mode) {
  return mode == TimeMode::graph_cold || mode == TimeMode::graph_hot;
}

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

// Launches made ready to be timed in one mode: the flush, the graphs, the events, the pinned threads.
class Stopwatch {
 public:
  // Runs every launch once, untimed: lazily loaded kernels, page tables, the thread pool. The launches are
  // copied; what they refer to must outlive this.
  static Result<Stopwatch> create(StreamRef stream, const DeviceProperties& device,
                                  const std::vector<TimedLaunch>& launches, TimeMode mode);

  // Why a launch failed, in its making or since; it is then passed over.
  [[nodiscard]] const Status& status(std::size_t launch) const { return statuses_[launch]; }
  // Times launches[order[0]], launches[order[1]] … back to back, then waits for them. The i-th result is the
  // microseconds of the i-th; NaN where it failed. On cuda some of them run untimed before and after, so that
  // the first and the last are timed under the same conditions as those between.
  [[nodiscard]] Result<std::vector<double>> run(std::span<const std::size_t> order);
  // Empty, or how these times are weaker than their mode promises.
  [[nodiscard]] std::string caveat() const;

 private:
  struct EventPair {
    Event start;
    Event stop;
  };
  void capture_all();
  [[nodiscard]] Status capture(std::size_t launch);
  [[nodiscard]] Status start_one(std::size_t launch) const;
  [[nodiscard]] Status time_one(std::size_t launch, EventPair& events) const;
  [[nodiscard]] Status grow_events(std::size_t count);
  // Runs `count` of the order as if they were timed.
  void pad(std::span<const std::size_t> order, std::size_t count);

  StreamRef stream_;
  TimeMode mode_ = TimeMode::stream_cold;
  std::vector<TimedLaunch> launches_;
  std::vector<Status> statuses_;
  std::vector<std::vector<GraphExec>> graphs_;  // in graph modes: a few of each launch, which take turns
  std::size_t turn_ = 0;
  std::vector<EventPair> events_;  // the last pair is the padding's
  double longest_us_ = 0;          // of the launches of the last run
  CacheFlush flush_;
  std::unique_ptr<PinnedThreads> pinned_;  // on cpu
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

// One sample of each launch per round, in an order that is drawn anew for each: neither drift nor a place in
// the order belongs to one of them.
[[nodiscard]] Result<std::vector<TimeSeries>> time_interleaved(StreamRef stream,
                                                               const DeviceProperties& device,
                                                               const std::vector<TimedLaunch>& launches,
                                                               const TimingOptions& options,
                                                               std::string* caveat);

}  // namespace rooftile::lab
