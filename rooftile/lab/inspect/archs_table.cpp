// What a rung's kernels take of every architecture, side by side.
#include <fmt/format.h>

#include <utility>

#include "rooftile/lab/base/text_table.h"
#include "rooftile/lab/inspect/inspection.h"

namespace rooftile::lab {
namespace {

void add_kernel(TextTable& table, const ArchInspection& arch, const InspectedKernel& kernel, bool first) {
  const Occupancy& o = kernel.occupancy;
  const auto known = [&](int KernelResources::*member) {
    return kernel.resources ? fmt::format("{}", (*kernel.resources).*member) : std::string("?");
  };
  const char* at_most = kernel.resources ? "" : "<= ";  // registers may allow less
  const bool spills = kernel.resources && kernel.resources->spill_stores > 0;
  table.add_row({{first ? arch.arch.name : ""},
                 {first ? std::string(arch.inspection->gpu.name) : ""},
                 {known(&KernelResources::registers)},
                 {known(&KernelResources::spill_stores), spills ? Colour::red : Colour::none},
                 {known(&KernelResources::shared_bytes)},
                 {fmt::format("{}", kernel.launch.blocks())},
                 {fmt::format("{}{}", at_most, o.blocks), o.blocks == 0 ? Colour::red : Colour::none},
                 {fmt::format("{}{:.0f} %", at_most, 100 * o.fraction())},
                 {kernel.waves ? fmt::format("{:.2f}", kernel.waves->count) : "-"},
                 {fmt::format("{}", fmt::join(o.binding, ", "))},
                 {kernel.name.substr(0, kernel.name.find('<'))}});
}

}  // namespace

std::string archs_table(const std::vector<ArchInspection>& archs, int width, bool colour) {
  TextTable table;
  table.add_column("arch");
  table.add_column("GPU");
  for (const char* header : {"registers", "spilled", "static", "grid", "blocks/SM", "occupancy", "waves"})
    table.add_column(header, Align::right);
  table.add_column("bound by");
  table.add_column("kernel");
  std::string title;
  for (const ArchInspection& arch : archs) {
    if (!arch.inspection) {
      table.add_line(paint(fmt::format("{}  {}", arch.arch.name, arch.reason), Colour::dim, colour));
      continue;
    }
    const Inspection& inspection = *arch.inspection;
    if (title.empty()) {
      title = fmt::format("{}/{} on every architecture: {}", inspection.operator_name, inspection.rung,
                          case_id(inspection.the_case));
    }
    bool first = true;
    for (const InspectedKernel& kernel : inspection.kernels)
      add_kernel(table, arch, kernel, std::exchange(first, false));
  }
  std::string text;
  for (const std::string& part : wrap(title, width)) text += paint(part, Colour::bold, colour) + "\n";
  text += "\n" + table.render(width, colour);
  constexpr std::string_view kLegend =
      "registers: per thread; spilled: bytes of spill stores in the code; static: bytes of shared memory; "
      "grid: blocks; --arch NAME shows one architecture with its machine code";
  for (const std::string& part : wrap(kLegend, width)) text += paint(part, Colour::dim, colour) + "\n";
  return text;
}

}  // namespace rooftile::lab
