// The metrics of Nsight Compute that `profile` asks for, shows and records: the one list of them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rooftile/lab/profile/ncu_csv.h"

namespace rooftile::lab {

enum class MetricUnit { count, decimal, percent, seconds, hertz, bytes, bytes_per_second };

struct MetricRow {
  std::string_view label;
  std::string_view metric;
  MetricUnit unit = MetricUnit::count;
};

struct MetricSection {
  std::string_view title;
  std::span<const MetricRow> rows;
};
// Speed of Light, memory, launch, occupancy, scheduler: as Nsight Compute's details page has them.
[[nodiscard]] std::span<const MetricSection> metric_sections();

// "12.5 us", "79.3 %", "4.17 TB/s".
[[nodiscard]] std::string metric_text(double value, MetricUnit unit);

// What limits the blocks on an SM: "registers (2 blocks)",
// several where they are equal; empty where it is not known.
[[nodiscard]] std::string occupancy_limit(const NcuKernel& kernel);

// Why warps waited: cycles per issued instruction, the largest first, those of next to nothing left out.
struct Stall {
  std::string_view reason;   // ncu's name: "long_scoreboard"
  std::string_view meaning;  // "a load from global memory"
  double cycles = 0;
};
[[nodiscard]] std::vector<Stall> stalls(const NcuKernel& kernel);

// All names, divided by commas: these and those of profile_counters.h.
[[nodiscard]] std::string wanted_metrics();
// Leaves nothing else in the kernel: a GPU's attributes come unasked.
void keep_wanted_metrics(NcuKernel& kernel);

}  // namespace rooftile::lab
