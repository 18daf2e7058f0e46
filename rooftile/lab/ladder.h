// The ladder: every rung and peer of one operator on one case, verified, then measured against each other and
// against the streaming bound.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/lab/statistics.h"
#include "rooftile/lab/timing.h"

namespace rooftile::lab {

enum class RowStatus { ok, skipped, failed, not_built };
[[nodiscard]] std::string_view to_string(RowStatus status);

struct RowTime {
  Summary summary;  // microseconds
  TimeMode mode = TimeMode::stream_cold;
  std::vector<double> samples_us;
  bool steady = false;  // enough samples, and close enough, to quote the median
};

// What a rung's accesses cost on the simulated SM; 0 where it makes none of the kind.
struct AccessSummary {
  double load_sectors = 0;  // of global memory, per request
  double ideal_load_sectors = 0;
  double store_sectors = 0;
  double ideal_store_sectors = 0;
  double conflict_degree = 0;  // of shared memory; 1: none
  unsigned worst_conflict = 0;
  double constant_words = 0;  // of constant memory, different ones per request; 1 is what it is made for
  double lanes = 0;           // active per request
  double block_lanes = 0;     // active per basic block: divergence of all code
  double bytes_moved = 0;
  std::uint64_t barriers = 0;
  std::uint64_t shuffles = 0;
};

struct LadderRow {
  std::string rung;
  std::string kind;  // rung, cpu, peer, bound
  std::string idea;
  bool chosen = false;
  bool other_process = false;  // a peer that a program of its own measured (peer_rows.h)
  bool simulated = false;      // executed and verified by the simulated SM: no time
  RowStatus status = RowStatus::ok;
  std::string reason;
  bool verified = false;
  double error = 0;                       // the largest |out - reference|
  std::optional<AccessSummary> accesses;  // simulated, where the checked build is there
  std::optional<RowTime> time;
  double gbps = 0;
  double tflops = 0;
  std::optional<double> bound_fraction;   // bound time / our time
  std::string peer;                       // the best peer of the run
  std::optional<Interval> ratio_to_peer;  // peer time / our time, from quads (head_to_head.h)
  int quads = 0;
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
  Case the_case;
  double read_bytes = 0;
  double write_bytes = 0;
  double flops = 0;
  std::vector<LadderRow> rows;
  std::optional<SmClock> sm_clock;  // on cuda
  std::vector<std::string> notes;   // what a reader must know about these numbers
};

struct LadderReport {
  std::string operator_name;
  std::string summary;
  TimeMode mode = TimeMode::stream_cold;
  std::vector<LadderResult> results;
  [[nodiscard]] bool failed() const;  // a row failed its check
};

// What the caller changes of an operator's default case.
struct CaseRequest {
  std::vector<std::pair<std::string, std::string>> shape;  // key, count
  std::optional<DType> dtype;
  std::vector<std::pair<std::string, std::string>> args;  // parameter, value
  std::optional<Fill> fill;
  std::optional<int> offset;
  std::optional<std::uint64_t> seed;
};
// The default case of a device with the caller's changes; an error names the legal keys and the nearest
// parameter.
[[nodiscard]] Result<Case> make_case(const OperatorDescriptor& op, const OperatorCases& cases,
                                     const CaseRequest& request, DeviceKind kind);

// The case itself where it holds at most so many bytes, else the largest quick-tier case of the same dtype
// and parameters; none where there is no such case.
[[nodiscard]] std::optional<Case> simulated_case(const OperatorCases& cases, const Case& wanted,
                                                 double limit_bytes);

struct LadderOptions {
  CaseRequest request;
  std::vector<std::string> rungs;  // empty: all, and the peers
  // Empty: the GPU where one is usable; else the CPU, timed, and the simulated SM, verified.
  std::vector<Device> devices;
  TimingOptions timing;
  std::function<void(std::string_view)> on_step;
};

[[nodiscard]] Result<LadderReport> run_ladder(const Registry& registry, const OperatorDescriptor& op,
                                              const LadderOptions& options);

}  // namespace rooftile::lab
