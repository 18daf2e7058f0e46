// The launches that a rung makes on a case and a GPU, found without that GPU and without the case's memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/lab/case/case_request.h"
#include "rooftile/lab/inspect/gpu_arch.h"
#include "rooftile/sim/executor.h"

namespace rooftile::lab {

struct PlannedLaunch {
  std::string kernel;  // portable_kernel_name(); empty where the program has no symbols
  simt::GridShape shape;
  int times = 1;  // launches of the same kernel and shape

  [[nodiscard]] std::int64_t blocks() const;
  [[nodiscard]] int block_threads() const;
  [[nodiscard]] int cluster_blocks() const;
};

struct LaunchPlan {
  Case the_case;
  bool other_case = false;              // in place of the default one, which the rung does not serve
  std::vector<PlannedLaunch> launches;  // in the order of their first launch; none: nothing to do
};

// The rung on the operator's default case with the caller's changes (without a shape of the caller's: or on
// the largest alike that it serves), launched by the simulated target's launcher on a device that has the
// GPU's SMs; the kernels do not run. `unsupported` where the rung does not serve the case or the
// architecture, `invalid_argument` for a CPU rung.
[[nodiscard]] Result<LaunchPlan> plan_launches(const Registry& registry, const OperatorDescriptor& op,
                                               const RungRow& rung, const CaseRequest& request,
                                               const GpuModel& gpu);

}  // namespace rooftile::lab
