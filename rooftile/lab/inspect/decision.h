// What the library would run for a call, and why: choose(), its rung's plan, and what the other rungs say. Neither the device
// nor the memory is needed.
#pragma once

#include <string>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/lab/case/case_request.h"
#include "rooftile/lab/inspect/gpu_arch.h"

namespace rooftile::lab {

struct RungAnswer {
  std::string rung;
  std::string reason;  // why it does not serve the call; empty: it does
  WorkspaceSpec workspace{};
};

struct Decision {
  Case the_case;
  std::string device;           // "H200"
  bool writes_nothing = false;  // so that no rung is asked or launched: the rest is empty
  std::string chosen{};         // empty: no rung serves the call
  std::string explanation{};    // the operator's own, lines of text; empty: it has none
  std::vector<RungAnswer> rungs{};
};

// The operator's default case with the caller's changes, on a GPU of this model, or on this machine's CPU. The rungs are those of
// the kind of device; whether they are built does not count, as nothing is launched.
[[nodiscard]] Result<Decision> decide(const Registry& registry, const OperatorDescriptor& op,
                                      const CaseRequest& request, const GpuModel& gpu);
[[nodiscard]] Result<Decision> decide_on_cpu(const Registry& registry, const OperatorDescriptor& op,
                                             const CaseRequest& request);

[[nodiscard]] std::string decision_table(const Decision& decision, int width, bool colour);

}  // namespace rooftile::lab
