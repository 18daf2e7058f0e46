// A profile as tables for people.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rooftile/lab/base/text_table.h"
#include "rooftile/lab/profile/profile.h"
#include "rooftile/lab/profile/profile_metrics.h"

namespace rooftile::lab {
namespace {

constexpr std::size_t kMostStalls = 3;

// "vectorized_kernel<Sum<float>>" of "void unnamed>::vectorized_kernel<Sum<float>>(const float *, long)".
std::string short_name(const std::string& name) {
  const std::size_t arguments =
      std::min(name.find('<', name.find("_kernel")), name.find('(', name.find("_kernel")));
  const std::string stem = name.substr(0, arguments);
  const std::size_t scope = stem.find_last_of(": ");
  std::string result = scope == std::string::npos ? stem : stem.substr(scope + 1);
  const std::size_t end = name.rfind('(');
  if (arguments < end && end != std::string::npos) result += name.substr(arguments, end - arguments);
  return result;
}

std::string title(const Profile& profile) {
  std::string text = fmt::format("{}/{} on {}: {}", profile.operator_name, profile.rung,
                                 profile.measured.launch.gpu, profile.case_name);
  for (std::size_t i = 0; i < profile.measured.kernels.size(); ++i) {
    const NcuKernel& kernel = profile.measured.kernels[i];
    text +=
        fmt::format("\n#{} {}: grid {}, block {}", i + 1, short_name(kernel.name), kernel.grid, kernel.block);
  }
  return text;
}

TextTable kernel_columns(std::size_t count) {
  TextTable table;
  table.add_column("");
  for (std::size_t i = 0; i < count; ++i) table.add_column(fmt::format("#{}", i + 1), Align::right);
  return table;
}

void add_row(TextTable& table, std::string label, const std::vector<std::string>& values) {
  std::vector<Cell> cells = {{"  " + std::move(label)}};
  for (const std::string& value : values) cells.push_back({value});
  table.add_row(std::move(cells));
}

std::string metric_tables(const Profile& profile, int width, bool colour) {
  TextTable table = kernel_columns(profile.measured.kernels.size());
  for (const MetricSection& section : metric_sections()) {
    table.add_line(paint(section.title, Colour::bold, colour));
    for (const MetricRow& row : section.rows) {
      std::vector<std::string> values;
      for (const NcuKernel& kernel : profile.measured.kernels) {
        const std::optional<double> value = kernel.metric(row.metric);
        values.push_back(value ? metric_text(*value, row.unit) : "n/a");
      }
      add_row(table, std::string(row.label), values);
    }
  }
  return table.render(width, colour);
}

// What the tables' numbers come to, kernel by kernel.
std::string remarks(const Profile& profile, int width) {
  std::string text;
  for (std::size_t i = 0; i < profile.measured.kernels.size(); ++i) {
    const NcuKernel& kernel = profile.measured.kernels[i];
    std::string line = fmt::format("#{}", i + 1);
    if (const std::string limit = occupancy_limit(kernel); !limit.empty())
      line += fmt::format(" occupancy is limited by {};", limit);
    std::vector<Stall> reasons = stalls(kernel);
    reasons.resize(std::min(reasons.size(), kMostStalls));
    line += reasons.empty() ? " warps wait for nothing" : " a warp waits, in cycles per instruction, for";
    for (const Stall& stall : reasons)
      line += fmt::format("{} {} ({}) {:.2f}", &stall == reasons.data() ? "" : ",", stall.meaning,
                          stall.reason, stall.cycles);
    for (const std::string& part : wrap(line, width)) text += part + "\n";
  }
  return text;
}

const Counter* find(const Profile& profile, const std::string& name) {
  const auto at = std::find_if(profile.counters.begin(), profile.counters.end(),
                               [&name](const Counter& counter) { return counter.name == name; });
  return at == profile.counters.end() ? nullptr : &*at;
}

std::string count_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : "-";
}

std::string ratio_text(const std::optional<double>& total, const std::optional<double>& requests) {
  return total && requests && *requests > 0 ? fmt::format("{:.4g}", *total / *requests) : "-";
}

Cell simulated_cell(const Counter& counter, bool same_case) {
  if (!same_case) return {"-"};
  const std::optional<double> deviation = counter.deviation();
  const bool agrees = deviation && std::abs(*deviation) <= kAgreement;
  return {count_text(counter.simulated), agrees ? Colour::green : Colour::yellow};
}

std::string counter_table(const Profile& profile, int width, bool colour) {
  struct Kind {
    const char* label;
    const char* prefix;
    const char* unit;
  };
  constexpr std::array kKinds = {Kind{"global loads, sectors", "global_load", "sectors"},
                                 Kind{"global stores, sectors", "global_store", "sectors"},
                                 Kind{"global atomics, sectors", "global_atomic", "sectors"},
                                 Kind{"shared loads, wavefronts", "shared_load", "wavefronts"},
                                 Kind{"shared stores, wavefronts", "shared_store", "wavefronts"}};
  TextTable table;
  table.add_column("");
  for (const char* header : {"requests", "simulated", "in all", "simulated", "per request", "simulated"})
    table.add_column(header, Align::right);
  for (const Kind& kind : kKinds) {
    const Counter* requests = find(profile, fmt::format("{}_requests", kind.prefix));
    const Counter* total = find(profile, fmt::format("{}_{}", kind.prefix, kind.unit));
    if (requests == nullptr || total == nullptr) continue;
    table.add_row({{fmt::format("  {}", kind.label)},
                   {count_text(requests->measured)},
                   simulated_cell(*requests, profile.same_case),
                   {count_text(total->measured)},
                   simulated_cell(*total, profile.same_case),
                   {ratio_text(total->measured, requests->measured)},
                   {ratio_text(total->simulated, requests->simulated)}});
  }
  const Counter* threads = find(profile, "threads_per_instruction");
  if (threads != nullptr) {
    const auto text = [](const std::optional<double>& value) {
      return value ? fmt::format("{:.4g}", *value) : "-";
    };
    table.add_row({{"  threads per instruction"},
                   {},
                   {},
                   {},
                   {},
                   {text(threads->measured)},
                   {text(threads->simulated)}});
  }
  return table.render(width, colour);
}

std::string simulation_note(const Profile& profile) {
  if (!profile.simulation) return "nothing was simulated beside it: " + profile.no_simulation;
  if (profile.same_case) return "simulated: the same case and grid on the simulated SM";
  return fmt::format("simulated: {}, because every thread is executed; compare what is per request",
                     case_id(profile.simulation->the_case));
}

}  // namespace

std::string profile_table(const Profile& profile, int width, bool colour) {
  std::string text = paint(title(profile), Colour::bold, colour) + "\n\n";
  text += metric_tables(profile, width, colour) + "\n" + remarks(profile, width) + "\n";
  text += paint("Counted by the GPU and by the simulated SM", Colour::bold, colour) + "\n";
  text += counter_table(profile, width, colour);
  const std::string note = simulation_note(profile) +
                           "; a profiled kernel starts with cold caches and runs alone: for times that are "
                           "compared use `rooftile ladder`";
  for (const std::string& part : wrap(note, width)) text += paint(part, Colour::dim, colour) + "\n";
  return text;
}

}  // namespace rooftile::lab
