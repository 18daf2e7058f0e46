// Verification: every rung of every case on a device, or one of them, against the reference.
//
// One check launches the candidate twice. Before each launch outputs and the free part of the
// workspace are poisoned (0xFF bytes: NaN in every float; another pattern before the second
// launch, so that an element that nobody writes cannot repeat itself) and the zeroed part is
// zero. After each: the launch and the stream succeeded, guard bytes around every buffer are
// intact, the zeroed part is zero again, the error word is the case's, and the case's judge finds
// nothing wrong. After both: the inputs are unchanged, every result was written, and the two
// results are bitwise equal where the row promises it. Inputs that a call overwrites (inout slots, cases in place) are drawn
// anew before each launch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/core/host_tensor.h"
#include "rooftile/core/registry.h"
#include "rooftile/lab/case/candidate.h"
#include "rooftile/lab/case/problem.h"

namespace rooftile::lab {

// Seconds of judging above which they are told.
inline constexpr double kSlowJudging = 1.0;

enum class CheckStatus { passed, failed, skipped };
[[nodiscard]] std::string_view to_string(CheckStatus status);

struct CheckResult {
  std::string id;  // "reduce/warp_shuffle[n=1025,f32,op=sum]"
  std::string device;
  CheckStatus status = CheckStatus::skipped;
  std::string reason;  // what failed, or why it was skipped
  double max_error = 0;
  std::string sampled;                   // "4096 of 16777216 elements": not all were looked at; empty: all
  double judging_s = 0;                  // what the reference and comparing took on the host
  std::vector<std::uint64_t> digests{};  // of the outputs' results, as they were found to be right
  std::vector<std::int64_t> results{};   // how many elements those are (Judgement::results)
  std::shared_ptr<const std::vector<HostTensor>> outputs{};  // of a peer that was judged by a sample
  bool forgives = false;  // a peer, which is not asked for the bits of a NaN
  bool spoiled = false;   // the problem could not be restored: whoever comes next cannot be judged
  std::string repro;      // a command line that reruns this one check
};

// What a peer made of the same inputs. Where a judge looks at a sample, every element must be near the peer's: within
// twice what the judge allows an element to be off.
struct PeerOutputs {
  std::string peer;
  std::shared_ptr<const std::vector<HostTensor>> outputs;
};

// In which order to check, so that a peer is there to compare with: peers first.
[[nodiscard]] std::vector<std::size_t> checking_order(const std::vector<Candidate>& candidates);

// Precondition: candidate.unsupported is empty. Leaves the problem's inputs as they were, but for those that a launch
// overwrites. `peer` may be null.
[[nodiscard]] CheckResult check_candidate(const Candidate& candidate, DeviceProblem& problem,
                                          const PeerOutputs* peer = nullptr);
// What `check` leaves for those that come after it.
void keep_peer(CheckResult& check, const Candidate& candidate, std::optional<PeerOutputs>& peer);

// After a candidate was timed: outputs poisoned, `run` once more (the timed launch, or its graph) with this scratch, and
// its results have the digests of the check; where they have others they are judged again, and must be right.
[[nodiscard]] Status check_again(const CheckResult& check, DeviceProblem& problem, const Scratch& scratch,
                                 const std::function<Status()>& run);

// The same for what runs elsewhere: in a peer's process. A run starts with `poison` in every byte of the outputs and
// gives what the slots that are written hold after it; what else it finds wrong is put into `found`.
using PoisonedRun = std::function<Result<std::vector<HostTensor>>(int poison, std::string& found)>;
[[nodiscard]] CheckResult check_peer_runs(std::string_view peer, DeviceProblem& problem,
                                          const PoisonedRun& run);
[[nodiscard]] Status check_peer_again(const CheckResult& check, HostProblem& host, const PoisonedRun& run);

struct VerifyOptions {
  std::vector<std::string> operators;  // empty: all
  std::vector<Device> devices;
  std::vector<std::string> rungs;                         // empty: all; ids of rungs or peers
  std::optional<DType> dtype;                             // only the cases of this dtype
  std::vector<std::pair<std::string, std::string>> args;  // only the cases with these parameters
  std::optional<Case> single;                             // this case in place of the operator's list
  CaseTier largest = CaseTier::huge;
  int every = 1;          // of the list's cases every so many-th, from the first on; at least 1
  std::string sim_order;  // forward, reversed, random:SEED; empty: as the process is configured
  // Called after each check, with the number of checks done.
  std::function<void(const CheckResult&, int done)> on_check;
};

struct VerifyReport {
  std::vector<Device> devices;
  int cases = 0;  // candidate x case x device: passed + failed + skipped
  int passed = 0;
  int failed = 0;
  std::set<std::pair<std::string, std::string>> candidates;  // operator and rung or peer: what was checked
  std::vector<CheckResult> skipped;
  std::vector<CheckResult> failures;
  int sampled = 0;                // of those that passed: judged by a sample of their elements
  std::vector<CheckResult> slow;  // whose judging took more than a second of the host
};

// An error where the call is wrong; mismatches are in the report.
[[nodiscard]] Result<VerifyReport> verify(const Registry& registry, const VerifyOptions& options);

// The largest tier that a device runs: quick on sim, full on cpu, huge on cuda.
[[nodiscard]] CaseTier largest_tier(DeviceKind kind);

[[nodiscard]] std::string repro_command(const OperatorDescriptor& op, std::string_view candidate,
                                        const Case& c, Device device);

}  // namespace rooftile::lab
