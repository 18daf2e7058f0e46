// What the lab launches: a rung or a peer, seen alike.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/core/operator.h"
#include "rooftile/core/registry.h"
#include "rooftile/core/status.h"

namespace rooftile::lab {

enum class CandidateKind { rung, cpu, peer };
[[nodiscard]] std::string_view to_string(CandidateKind kind);

struct Candidate {
  std::string id;
  std::string idea;
  CandidateKind kind = CandidateKind::rung;
  Determinism determinism = Determinism::run_to_run;
  bool built = true;    // for this kind of device
  bool absent = false;  // its operator is described only
  bool lost = false;  // a row whose file defines no launcher for this device: a mistake, not a reason to skip
  std::string unsupported;  // why it does not serve these arguments on this device; empty: it does
  RungPlan plan;
  LaunchFn launch;
  std::function<Result<LaunchFn>(const AnyCall&)> prepare;  // PeerRow::prepare
  LaunchFn checked;  // on sim: the same with instrumented accesses; empty where it is not built
};

// The rungs of the device's kind (cpu rungs on cpu, gpu rungs on cuda and sim) whose id is in `only` (empty:
// all), in the operator's order; then the peers of that device by the same rule.
[[nodiscard]] std::vector<Candidate> candidates(const OperatorDescriptor& op,
                                                const std::vector<const PeerRow*>& peers,
                                                const std::vector<std::string>& only, ArgsRef args,
                                                const DeviceProperties& device);

// What a launch of this call is, after the candidate's untimed preparations. The call's tensors are written to.
[[nodiscard]] Result<LaunchFn> prepared_launch(const Candidate& candidate, const AnyCall& call);

// Whether that list has an entry on such a device.
[[nodiscard]] bool has_candidates(const OperatorDescriptor& op, const std::vector<const PeerRow*>& peers,
                                  const std::vector<std::string>& only, DeviceKind kind);

// Empty, or an error that names the nearest rung or peer.
[[nodiscard]] Status check_rung_names(const OperatorDescriptor& op, const std::vector<const PeerRow*>& peers,
                                      const std::vector<std::string>& names);

}  // namespace rooftile::lab
