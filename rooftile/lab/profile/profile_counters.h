// What both Nsight Compute and the simulated SM count, side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rooftile/lab/profile/ncu_csv.h"
#include "rooftile/sim/checked/report.h"

namespace rooftile::lab {

struct Counter {
  std::string name;                 // "global_load_sectors"
  std::optional<double> measured;   // none where the GPU has no such counter
  std::optional<double> simulated;  // none where nothing was simulated
  // (simulated - measured) / measured; none where one of
  // them is not there, or where only the measured one is 0.
  [[nodiscard]] std::optional<double> deviation() const;
};

// Sums over all kernels of the launch. A kind of access that neither side saw is left out.
[[nodiscard]] std::vector<Counter> compare_counters(const std::vector<NcuKernel>& kernels,
                                                    const simt::checked::Report* report);

// ncu's names of the metrics that are compared, divided by commas.
[[nodiscard]] std::string counter_metrics();

}  // namespace rooftile::lab
