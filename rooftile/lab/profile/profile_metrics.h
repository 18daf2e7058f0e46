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

// Those that tables of several rungs show, too.
namespace metric_rows {
inline constexpr MetricRow kDuration{"duration", "gpu__time_duration.sum", MetricUnit::seconds};
inline constexpr MetricRow kCompute{"compute throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                                    MetricUnit::percent};
inline constexpr MetricRow kDram{"DRAM throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                                 MetricUnit::percent};
inline constexpr MetricRow kL2{"L2 throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed",
                               MetricUnit::percent};
inline constexpr MetricRow kL1{"L1 throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active",
                               MetricUnit::percent};
inline constexpr MetricRow kBlocks{"blocks", "launch__grid_size"};
inline constexpr MetricRow kRegisters{"registers per thread", "launch__registers_per_thread"};
inline constexpr MetricRow kWaves{"waves per SM", "launch__waves_per_multiprocessor", MetricUnit::decimal};
inline constexpr MetricRow kOccupancy{"achieved", "sm__warps_active.avg.pct_of_peak_sustained_active",
                                      MetricUnit::percent};
}  // namespace metric_rows

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
