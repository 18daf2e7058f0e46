#include "rooftile/lab/profile/profile_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace rooftile::lab {
namespace {

using simt::checked::AccessCounts;
using simt::checked::AccessKind;
using simt::checked::MemorySpace;

constexpr std::size_t kMostMetrics = 2;

// A counter of the simulated SM and the metrics of ncu whose sum it is.
struct Pair {
  std::string_view name;
  std::array<std::string_view, kMostMetrics> metrics;
  MemorySpace space;
  AccessKind kind;
  std::uint64_t AccessCounts::*count;
};

// Requests of the SM's load/store unit: what TMA and cp.async move is not in these counters of ncu. `red` are
// atomics whose old value nobody takes.
constexpr std::array kPairs = {
    Pair{"global_load_requests",
         {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
         MemorySpace::global,
         AccessKind::load,
         &AccessCounts::requests},
    Pair{"global_load_sectors",
         {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
         MemorySpace::global,
         AccessKind::load,
         &AccessCounts::sectors},
    Pair{"global_store_requests",
         {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
         MemorySpace::global,
         AccessKind::store,
         &AccessCounts::requests},
    Pair{"global_store_sectors",
         {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
         MemorySpace::global,
         AccessKind::store,
         &AccessCounts::sectors},
    Pair{"global_atomic_requests",
         {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
          "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"},
         MemorySpace::global,
         AccessKind::atomic,
         &AccessCounts::requests},
    Pair{"global_atomic_sectors",
         {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
          "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"},
         MemorySpace::global,
         AccessKind::atomic,
         &AccessCounts::sectors},
    Pair{"shared_load_requests",
         {"smsp__sass_inst_executed_op_shared_ld.sum"},
         MemorySpace::shared,
         AccessKind::load,
         &AccessCounts::requests},
    Pair{"shared_load_wavefronts",
         {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"},
         MemorySpace::shared,
         AccessKind::load,
         &AccessCounts::wavefronts},
    Pair{"shared_store_requests",
         {"smsp__sass_inst_executed_op_shared_st.sum"},
         MemorySpace::shared,
         AccessKind::store,
         &AccessCounts::requests},
    Pair{"shared_store_wavefronts",
         {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
         MemorySpace::shared,
         AccessKind::store,
         &AccessCounts::wavefronts},
};

constexpr std::string_view kInstructions = "smsp__inst_executed.sum";
constexpr std::string_view kThreadInstructions = "smsp__thread_inst_executed.sum";

// None where a kernel lacks the metric.
std::optional<double> sum_of(const std::vector<NcuKernel>& kernels, std::string_view metric) {
  double sum = 0;
  for (const NcuKernel& kernel : kernels) {
    const std::optional<double> value = kernel.metric(metric);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum;
}

std::optional<double> measured(const std::vector<NcuKernel>& kernels, const Pair& pair) {
  double sum = 0;
  for (const std::string_view metric : pair.metrics) {
    if (metric.empty()) continue;
    const std::optional<double> value = sum_of(kernels, metric);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum;
}

// Where blocks are simulated at once, which lanes leave a loop or a barrier together depends on which block came first.
bool has_blocks_at_once(const simt::checked::Report& report) {
  return std::any_of(report.kernels.begin(), report.kernels.end(),
                     [](const auto& kernel) { return kernel.at_once; });
}

// ncu weighs by instructions, the simulated SM by basic blocks: equal where nothing diverges.
Counter threads_per_instruction(const std::vector<NcuKernel>& kernels, const simt::checked::Report* report) {
  Counter counter{.name = "threads_per_instruction", .measured = {}, .simulated = {}};
  const std::optional<double> instructions = sum_of(kernels, kInstructions);
  const std::optional<double> threads = sum_of(kernels, kThreadInstructions);
  if (instructions && threads && *instructions > 0) counter.measured = *threads / *instructions;
  if (report != nullptr && report->basic_blocks > 0 && !has_blocks_at_once(*report)) {
    counter.simulated =
        static_cast<double>(report->basic_block_lanes) / static_cast<double>(report->basic_blocks);
  }
  return counter;
}

}  // namespace

std::optional<double> Counter::deviation() const {
  if (!measured || !simulated) return std::nullopt;
  if (*measured == *simulated) return 0.0;
  if (*measured == 0.0) return std::nullopt;
  return (*simulated - *measured) / *measured;
}

std::vector<Counter> compare_counters(const std::vector<NcuKernel>& kernels,
                                      const simt::checked::Report* report) {
  std::vector<Counter> counters;
  for (const Pair& pair : kPairs) {
    Counter counter{.name = std::string(pair.name), .measured = measured(kernels, pair), .simulated = {}};
    if (report != nullptr)
      counter.simulated = static_cast<double>(report->total(pair.space, pair.kind).*pair.count);
    if (counter.measured.value_or(0.0) > 0 || counter.simulated.value_or(0.0) > 0)
      counters.push_back(std::move(counter));
  }
  counters.push_back(threads_per_instruction(kernels, report));
  return counters;
}

std::string counter_metrics() {
  std::string names = fmt::format("{},{}", kInstructions, kThreadInstructions);
  for (const Pair& pair : kPairs) {
    for (const std::string_view metric : pair.metrics) {
      if (!metric.empty()) names += "," + std::string(metric);
    }
  }
  return names;
}

}  // namespace rooftile::lab
