// The ladder: every rung and peer of one operator on one case, verified,
// then measured against each other and against the bound.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/lab/case/case_request.h"
#include "rooftile/lab/peer_process/peer_process.h"
#include "rooftile/lab/simulate/simulation.h"
#include "rooftile/lab/time/gpu_launches.h"
#include "rooftile/lab/time/gpu_monitor.h"
#include "rooftile/lab/time/statistics.h"
#include "rooftile/lab/time/timing.h"

namespace rooftile::lab {

enum class RowStatus { ok, skipped, failed, not_built };
[[nodiscard]] std::string_view to_string(RowStatus status);

struct RowTime {
  Summary summary;  // microseconds
  TimeMode mode = TimeMode::stream_cold;
  std::vector<double> samples_us;
  bool steady = false;  // enough samples, and close enough, to quote the median
};

struct LadderRow {
  std::string rung;
  std::string kind;  // rung, cpu, peer, bound
  std::string idea;
  bool chosen = false;
  std::string variant;     // of several ways to do it the one that was the fastest: the bound's
  bool simulated = false;  // executed and verified by the simulated SM: no time
  RowStatus status = RowStatus::ok;
  std::string reason;
  bool verified = false;
  double error = 0;                       // the largest |out - reference|
  std::optional<AccessSummary> accesses;  // simulated, where the checked build is there
  std::optional<RowTime> time;
  double gbps = 0;
  double tflops = 0;
  std::optional<std::size_t> workspace_bytes;  // of a launch that was timed
  std::optional<GpuLaunches> launches;   // on cuda: what such a launch starts; none where that is not known
  std::optional<double> bound_fraction;  // bound time / our time
  std::string peer;                      // the best peer of the run
  // Median of the peer's times / median of ours, from the same rounds as these; the interval is one of 99 %.
  std::optional<Interval> ratio_to_peer;
  int rounds = 0;
  // Against the peer; without one, `insufficient` where the time is not steady.
  std::optional<Verdict> verdict;
};

// Of the SMs, estimated right before and right after measuring.
struct SmClock {
  double before_mhz = 0;
  double after_mhz = 0;
  double rated_mhz = 0;  // 0 where the driver does not say
  // Fell by more than 5 % meanwhile, or stands more than 10 % below the rated clock.
  [[nodiscard]] bool throttled() const;
};

struct LadderResult {
  Device device;
  TimeMode mode = TimeMode::stream_cold;
  Case the_case;
  double read_bytes = 0;
  double write_bytes = 0;
  double flops = 0;
  FlopUnit flops_on = FlopUnit::none;
  std::vector<std::string> inputs;  // of each slot that is read, how it was drawn: "index: indices in [0,50)"
  std::vector<LadderRow> rows;
  std::optional<SmClock> sm_clock;          // on cuda
  std::optional<GpuConditions> conditions;  // on cuda, while it was measured
  bool takes_turns = false;                 // with launches of another process
  // Where a peer has a process of its own: the time of a copy there over that of the same copy here, in turns.
  std::optional<Interval> process_copy;
  double flush_bytes = 0;          // that make the caches cold; 0: they are not
  double budget_s = 0;             // that the measurement may take
  double judging_s = 0;            // of the host: inputs, reference, comparisons
  std::vector<std::string> notes;  // what a reader must know about these numbers
};

struct LadderReport {
  std::string operator_name;
  std::string summary;
  std::vector<LadderResult> results;
  [[nodiscard]] bool failed() const;  // a row failed its check
};

struct LadderOptions {
  CaseRequest request{};
  std::vector<std::string> rungs{};  // empty: all, and the peers
  // Empty: the GPU where one is usable; else the CPU, timed, and the simulated SM, verified.
  std::vector<Device> devices{};
  // Each is measured; the rungs are verified once.
  std::vector<TimeMode> modes = {TimeMode::stream_cold};
  TimingOptions timing{};              // but its mode
  std::optional<PeerProgram> torch{};  // its rows, too, on devices that are timed
  std::function<void(std::string_view)> on_step{};
};

[[nodiscard]] Result<LadderReport> run_ladder(const Registry& registry, const OperatorDescriptor& op,
                                              const LadderOptions& options);

}  // namespace rooftile::lab
