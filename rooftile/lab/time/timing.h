// Time: rows interleaved in one process, one event pair per launch, in one of six modes.
//
//   stream-cold  caches flushed before each launch by writing: the last-level cache is full of lines that must go to
//                memory, as after an operator with a large output
//   stream-cold-clean  then so much is read that nothing is left to be written back, as after one with a large input
//   stream-hot   the same launch ran directly before
//   graph-cold, graph-hot  the same, the launch captured once into a graph of its own and replayed: what a
//                launch-bound operator costs a caller who uses graphs; the flush stays outside. GPU only.
//   sustained    many of the same launch back to back, on a device that has been busy for a second: what compute-bound work
//                is given by the clock that power allows. The time is that of the burst over its launches.
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
#include "rooftile/lab/time/statistics.h"

namespace rooftile::lab {

enum class TimeMode { stream_cold, stream_cold_clean, stream_hot, graph_cold, graph_hot, sustained };
[[nodiscard]] std::span<const TimeMode> all_time_modes();
[[nodiscard]] std::string_view to_string(TimeMode mode);  // "stream-cold"
[[nodiscard]] Result<TimeMode> parse_time_mode(std::string_view text);
[[nodiscard]] constexpr bool is_cold(TimeMode mode) {
  return mode == TimeMode::stream_cold || mode == TimeMode::stream_cold_clean || mode == TimeMode::graph_cold;
}
[[nodiscard]] constexpr bool uses_graph(TimeMode mode) {
  return mode == TimeMode::graph_cold || mode == TimeMode::graph_hot;
}

// An error where the device cannot be timed in this mode.
[[nodiscard]] Status check_mode(TimeMode mode, Device device);

// Evicts a device's last-level cache by writing a buffer of twice its size. With `clean` nothing is left to be written
// back: a GPU reads another buffer then, a host reads in place of writing.
class CacheFlush {
 public:
  static Result<CacheFlush> create(StreamRef stream, const DeviceProperties& device, bool clean);
  CacheFlush() = default;

  // On cuda enqueued, never waited for.
  [[nodiscard]] Status run(StreamRef stream) const;
  // Empty, or in what way this flush is weaker than its promise.
  [[nodiscard]] const std::string& caveat() const { return caveat_; }
  [[nodiscard]] std::size_t bytes() const { return buffer_.bytes(); }

 private:
  DeviceMemory buffer_;
  bool clean_ = false;
  DeviceMemory read_;  // of a GPU, with `clean`
  DeviceMemory sink_;
  std::string caveat_;
};

struct TimedLaunch {
  std::function<Status()> launch;  // enqueues one run on the stream; neither allocates nor synchronises
  // Enqueues, untimed and before the caches are flushed, what every launch must find: inputs that it overwrites. Null:
  // nothing. In `sustained` once for the launches of a burst.
  std::function<Status()> prepare{};
  // After all rounds: runs once more what was timed, the graph where it was one, and looks whether it is still right.
  std::function<Status(const std::function<Status()>& run)> check{};
  // In place of `launch`, of what runs in another process: microseconds of one run of it, while nothing of ours runs.
  // Its `check` runs it itself.
  std::function<Result<double>(TimeMode)> measure{};
};

struct TimingRemarks {
  std::string caveat;  // how the times are weaker than their mode promises; empty: they are not
  std::size_t flush_bytes =
      0;  // that are written, or on a host walked, to make the caches cold; 0: they are not
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
  // the first and the last are timed under the same conditions as those between; so it is on both sides of what
  // another process measures.
  [[nodiscard]] Result<std::vector<double>> run(std::span<const std::size_t> order);
  [[nodiscard]] TimingRemarks remarks() const;
  // The last word on every launch that has one (TimedLaunch::check).
  void check_all();

 private:
  struct EventPair {
    Event start;
    Event stop;
  };
  void capture_all();
  [[nodiscard]] Status capture(std::size_t launch);
  [[nodiscard]] Status prepare_one(std::size_t launch) const;
  [[nodiscard]] Status start_one(std::size_t launch) const;
  [[nodiscard]] Status time_one(std::size_t launch, EventPair& events) const;
  [[nodiscard]] Status time_burst(std::size_t launch, EventPair& events) const;
  // Keeps the device busy with all launches, until its clock and power are what they will be.
  [[nodiscard]] Status preheat();
  [[nodiscard]] Status grow_events(std::size_t count);
  // Of launches that this process enqueues.
  [[nodiscard]] Status run_ours(std::span<const std::size_t> order, std::span<double> times_us);
  [[nodiscard]] Result<double> run_elsewhere(std::size_t launch) const;
  // Runs the shortest launch so many times as if it were timed.
  void pad(std::size_t count);

  StreamRef stream_;
  TimeMode mode_ = TimeMode::stream_cold;
  std::vector<TimedLaunch> launches_;
  std::vector<Status> statuses_;
  std::vector<std::vector<GraphExec>> graphs_;  // in graph modes: a few of each launch, which take turns
  std::size_t turn_ = 0;
  std::vector<EventPair> events_;  // the last pair is the padding's
  std::vector<double> last_us_;    // of each launch; 0: not known yet
  std::vector<int> bursts_;        // in `sustained`: how many launches of each are timed as one
  CacheFlush flush_;
  std::unique_ptr<PinnedThreads> pinned_;  // on cpu
};

struct TimingOptions {
  TimeMode mode = TimeMode::stream_cold;
  int min_rounds = 20;  // after which the budget ends the series
  int first_look = 60;  // rounds after which `settled` is asked, then after twice as many, and so on
  int max_rounds = 240;
  std::uint64_t order_seed = 1;
  double budget_s = 5.0;  // wall time; a series that it cuts short may have fewer than min_rounds
  std::function<void(int round, int rounds)> on_round{};
  std::function<void()> on_timed{};  // after the last round, before what was timed is checked once more
};

struct TimeSeries {
  Status status;                   // why the launch failed; then no samples
  std::vector<double> samples_us;  // the i-th of every series belong to the same round
};

// Whether the series say enough; null: they do at the first look.
using Settled = std::function<bool(std::span<const TimeSeries>)>;

// One sample of each launch per round, in an order that is drawn anew for each: neither drift nor a place in
// the order nor a neighbour belongs to one of them.
[[nodiscard]] Result<std::vector<TimeSeries>> time_interleaved(
    StreamRef stream, const DeviceProperties& device, const std::vector<TimedLaunch>& launches,
    const TimingOptions& options, const Settled& settled, TimingRemarks* remarks);

// Which differences are called differences.
struct Margins {
  DeviceKind device = DeviceKind::cuda;
  // In a mode that leaves the caches as they are, data of about the last-level cache's size: how much of it stays there
  // depends on where it lies.
  bool near_cache = false;
};
[[nodiscard]] Margins margins_of(const DeviceProperties& device, TimeMode mode, double bytes);

// What the rounds say of two launches: other time / own time (above 1: own is faster), from all rounds.
struct SeriesComparison {
  Interval ratio;
  Verdict verdict = Verdict::insufficient;  // of own
};
[[nodiscard]] SeriesComparison compare_series(const TimeSeries& own, const TimeSeries& other, Margins margins,
                                              std::uint64_t seed);

}  // namespace rooftile::lab
