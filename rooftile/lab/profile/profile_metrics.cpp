#include "rooftile/lab/profile/profile_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "rooftile/lab/profile/profile_counters.h"

namespace rooftile::lab {
namespace {

using enum MetricUnit;

constexpr std::array kSpeedOfLight = {
    metric_rows::kDuration,
    metric_rows::kCompute,
    MetricRow{"memory throughput", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
              percent},
    metric_rows::kDram,
    metric_rows::kL2,
    metric_rows::kL1,
    MetricRow{"SM clock", "gpc__cycles_elapsed.avg.per_second", hertz},
};
constexpr std::array kMemory = {
    MetricRow{"DRAM rate", "dram__bytes.sum.per_second", bytes_per_second},
    MetricRow{"DRAM read", "dram__bytes_read.sum", bytes},
    MetricRow{"DRAM written", "dram__bytes_write.sum", bytes},
    MetricRow{"L2 hit rate", "lts__t_sector_hit_rate.pct", percent},
    MetricRow{"L1 hit rate", "l1tex__t_sector_hit_rate.pct", percent},
};
constexpr std::array kLaunch = {
    metric_rows::kBlocks,
    MetricRow{"threads per block", "launch__block_size", count},
    metric_rows::kRegisters,
    MetricRow{"static shared memory", "launch__shared_mem_per_block_static", bytes},
    MetricRow{"dynamic shared memory", "launch__shared_mem_per_block_dynamic", bytes},
    metric_rows::kWaves,
};
constexpr std::array kOccupancy = {
    MetricRow{"theoretical", "sm__maximum_warps_per_active_cycle_pct", percent},
    metric_rows::kOccupancy,
    MetricRow{"blocks by registers", "launch__occupancy_limit_registers", count},
    MetricRow{"blocks by shared memory", "launch__occupancy_limit_shared_mem", count},
    MetricRow{"blocks by warps", "launch__occupancy_limit_warps", count},
    MetricRow{"blocks by the SM's limit", "launch__occupancy_limit_blocks", count},
};
constexpr std::array kScheduler = {
    MetricRow{"active warps", "smsp__warps_active.avg.per_cycle_active", decimal},
    MetricRow{"eligible warps", "smsp__warps_eligible.avg.per_cycle_active", decimal},
    MetricRow{"issued per cycle", "smsp__issue_active.avg.per_cycle_active", decimal},
};
constexpr std::array kSections = {MetricSection{"Speed of Light", kSpeedOfLight},
                                  MetricSection{"Memory", kMemory}, MetricSection{"Launch", kLaunch},
                                  MetricSection{"Occupancy", kOccupancy},
                                  MetricSection{"Scheduler, per cycle", kScheduler}};

struct StallRow {
  std::string_view reason;
  std::string_view meaning;
};
// "selected" is no stall: the warp was issued.
constexpr std::array kStalls = {
    StallRow{"barrier", "the other warps at a barrier"},
    StallRow{"branch_resolving", "a branch to be decided"},
    StallRow{"dispatch_stall", "the dispatcher"},
    StallRow{"drain", "stores to drain at the end"},
    StallRow{"gmma", "the tensor cores' asynchronous products"},
    StallRow{"imc_miss", "a constant that was not in its cache"},
    StallRow{"lg_throttle", "room in the queue of global and local accesses"},
    StallRow{"long_scoreboard", "data from global or local memory"},
    StallRow{"math_pipe_throttle", "an arithmetic pipe in use"},
    StallRow{"membar", "a memory fence"},
    StallRow{"mio_throttle", "room in the queue of shared memory and special instructions"},
    StallRow{"misc", "other reasons"},
    StallRow{"no_instruction", "the next instruction to be fetched"},
    StallRow{"not_selected", "their turn: another warp was issued"},
    StallRow{"short_scoreboard", "data from shared memory, or a special function"},
    StallRow{"sleeping", "the end of a sleep"},
    StallRow{"tex_throttle", "room in the texture queue"},
    StallRow{"wait", "the fixed latency of the instruction before"},
};
constexpr double kNextToNothing = 0.05;  // cycles per issued instruction

std::string stall_metric(std::string_view reason) {
  return fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", reason);
}

std::string scaled(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 5> kPrefixes = {"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  for (; value >= 1000.0 && prefix + 1 < kPrefixes.size(); ++prefix) value /= 1000.0;
  return fmt::format("{:.4g} {}{}", value, kPrefixes[prefix], unit);
}

}  // namespace

std::span<const MetricSection> metric_sections() { return kSections; }

std::string metric_text(double value, MetricUnit unit) {
  switch (unit) {
    case count:
      return fmt::format("{:.0f}", value);
    case decimal:
      return fmt::format("{:.2f}", value);
    case percent:
      return fmt::format("{:.1f} %", value);
    case seconds:
      return value < 1e-3 ? fmt::format("{:.2f} us", value * 1e6) : fmt::format("{:.3f} ms", value * 1e3);
    case hertz:
      return scaled(value, "Hz");
    case bytes:
      return scaled(value, "B");
    case bytes_per_second:
      return scaled(value, "B/s");
  }
  return "";
}

std::string occupancy_limit(const NcuKernel& kernel) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kLimits = {
      {{"registers", "launch__occupancy_limit_registers"},
       {"shared memory", "launch__occupancy_limit_shared_mem"},
       {"warps", "launch__occupancy_limit_warps"},
       {"blocks per SM", "launch__occupancy_limit_blocks"},
       {"barriers", "launch__occupancy_limit_barriers"}}};
  std::optional<double> least;
  std::string names;
  for (const auto& [name, metric] : kLimits) {
    const std::optional<double> blocks = kernel.metric(metric);
    if (!blocks || (least && *blocks > *least)) continue;
    names = least && *blocks == *least ? fmt::format("{}, {}", names, name) : std::string(name);
    least = blocks;
  }
  return least ? fmt::format("{} ({:.0f} block{})", names, *least, *least == 1.0 ? "" : "s") : "";
}

std::vector<Stall> stalls(const NcuKernel& kernel) {
  std::vector<Stall> list;
  for (const StallRow& row : kStalls) {
    const double cycles = kernel.metric(stall_metric(row.reason)).value_or(0.0);
    if (cycles >= kNextToNothing) list.push_back({row.reason, row.meaning, cycles});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Stall& x, const Stall& y) { return x.cycles > y.cycles; });
  return list;
}

std::string wanted_metrics() {
  std::string names = counter_metrics() + ",launch__occupancy_limit_barriers";
  for (const MetricSection& section : kSections) {
    for (const MetricRow& row : section.rows) names += fmt::format(",{}", row.metric);
  }
  for (const StallRow& row : kStalls) names += "," + stall_metric(row.reason);
  return names;
}

void keep_wanted_metrics(NcuKernel& kernel) {
  static const std::set<std::string, std::less<>> wanted = [] {
    std::set<std::string, std::less<>> names;
    const std::string all = wanted_metrics();
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t comma = std::min(all.find(',', at), all.size());
      names.insert(all.substr(at, comma - at));
      at = comma + 1;
    }
    return names;
  }();
  std::erase_if(kernel.metrics, [](const auto& metric) { return !wanted.contains(metric.first); });
}

}  // namespace rooftile::lab
