#include "rooftile/lab/profile/ncu_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rooftile/lab/profile/profile_metrics.h"

namespace rooftile::lab {
namespace {

struct Column {
  std::string_view header;
  MetricRow metric;
};
constexpr std::array kColumns = {
    Column{"time", metric_rows::kDuration},
    Column{"compute", metric_rows::kCompute},
    Column{"L1", metric_rows::kL1},
    Column{"L2", metric_rows::kL2},
    Column{"DRAM", metric_rows::kDram},
    Column{"occupancy", metric_rows::kOccupancy},
    Column{"registers", metric_rows::kRegisters},
    Column{"blocks", metric_rows::kBlocks},
    Column{"waves", metric_rows::kWaves},
};

double duration_of(const NcuKernel& kernel) {
  return kernel.metric(metric_rows::kDuration.metric).value_or(0);
}

const NcuKernel* longest_kernel(const RecordedProfile& profile) {
  const std::vector<NcuKernel>& kernels = profile.measured.kernels;
  const auto longest = std::max_element(
      kernels.begin(), kernels.end(),
      [](const NcuKernel& a, const NcuKernel& b) { return duration_of(a) < duration_of(b); });
  return longest == kernels.end() || !longest->metric(metric_rows::kDuration.metric) ? nullptr : &*longest;
}

std::string shape_text(const RecordedProfile& profile) {
  std::string text;
  for (const auto& [key, extent] : profile.measured.launch.the_case.shape)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, extent);
  return text;
}

std::string row(const RecordedProfile& profile, const NcuKernel& kernel, SourceTable present) {
  const bool is_stale =
      !stale_parts(profile.sources, profile.operator_name, profile.rung, "", present).empty();
  const std::size_t kernels = profile.measured.kernels.size();
  std::string text =
      fmt::format("| {}{}{} |", profile.rung, is_stale ? kStaleMark : "",
                  kernels > 1 ? fmt::format(" (the longest of {} kernels)", kernels) : std::string());
  for (const Column& column : kColumns) {
    const std::optional<double> value = kernel.metric(column.metric.metric);
    text += value ? fmt::format(" {} |", metric_text(*value, column.metric.unit)) : std::string(" |");
  }
  const std::vector<Stall> waits = stalls(kernel);
  return text + (waits.empty() ? std::string(" |\n") : fmt::format(" {} |\n", waits.front().meaning));
}

}  // namespace

std::string ncu_figures(const std::vector<RecordedProfile>& profiles, std::string_view operator_name,
                        SourceTable present) {
  std::string header = "| rung |";
  std::string rule = "|---|";
  for (const Column& column : kColumns) {
    header += fmt::format(" {} |", column.header);
    rule += "--:|";
  }
  std::string text;
  std::string shown;  // what the table is of
  for (const RecordedProfile& profile : profiles) {
    const NcuKernel* kernel = longest_kernel(profile);
    if (profile.operator_name != operator_name || kernel == nullptr) continue;
    const std::string origin =
        fmt::format("{} on {}: `{}`, commit {}", shape_text(profile), profile.measured.launch.gpu,
                    profile.command, profile.commit.substr(0, 12));
    if (origin != shown) {
      shown = origin;
      text += fmt::format(
          "{}\n{}. Of a launch from cold caches: compute, L1, L2 and DRAM in percent of their "
          "peaks, the occupancy that was achieved, and for what warps waited longest.\n\n{} waits for |\n{}---|\n",
          text.empty() ? "\n### Under Nsight Compute\n" : "", origin, header, rule);
    }
    text += row(profile, *kernel, present);
  }
  return text;
}

}  // namespace rooftile::lab
