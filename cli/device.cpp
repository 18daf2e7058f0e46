#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "rooftile/lab/base/format_bytes.h"
#include "rooftile/lab/base/machine.h"
#include "rooftile/lab/base/terminal.h"
#include "rooftile/lab/base/text_table.h"
#include "rooftile/lab/case/problem.h"
#include "rooftile/lab/ladder/json_report.h"

namespace rooftile::cli {
namespace {

Result<lab::DeviceReport> look(Session& session, bool remeasure) {
  lab::DeviceReport found;
  lab::Progress progress;
  found.cuda_reason = cuda_availability().ok() ? "" : cuda_availability().sentence();
  std::vector<Device> devices;
  for (int i = 0; i < cuda_device_count(); ++i) devices.push_back(cuda_device(i));
  devices.insert(devices.end(), {kCpu, kSim});
  for (const Device device : devices) {
    progress.show("measuring " + to_string(device));
    ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
    lab::DeviceEntry entry{*properties, {}};
    if (device.kind != DeviceKind::sim) {
      ROOFTILE_TRY_ASSIGN(entry.measured, lab::cached_ceilings(device, remeasure));
    }
    found.devices.push_back(std::move(entry));
  }
  found.peers = session.peers();
  return found;
}

void print_machine() {
  const lab::Machine machine = lab::describe_machine(cuda_device(0));
  fmt::print("cpu       {}, {} threads, {}\n", machine.cpu, machine.cpu_threads, machine.memory);
  fmt::print("gpu       {}{}\n", machine.gpu, machine.gpu_reason.empty() ? "" : ": " + machine.gpu_reason);
  if (!machine.driver.empty()) fmt::print("driver    {}, runtime {}\n", machine.driver, machine.cuda_runtime);
  fmt::print("os        {}\nbuilt by  {} {}\n\n", machine.os, machine.compiler, machine.flags);
}

void print_ceilings(const lab::DeviceReport& found) {
  lab::TextTable table;
  table.add_column("ceiling");
  table.add_column("of");
  for (const char* header : {"measured", "datasheet", "unit"}) table.add_column(header, lab::Align::right);
  table.add_column("");
  std::string notes;
  for (const lab::DeviceEntry& entry : found.devices) {
    for (const lab::Ceiling& c : entry.measured.ceilings) {
      table.add_row({{c.name},
                     {to_string(entry.properties.device)},
                     {c.value > 0 ? fmt::format("{:.1f}", c.value) : "-"},
                     {c.datasheet > 0 ? fmt::format("{:.1f}", c.datasheet) : "-"},
                     {c.unit},
                     {c.reason}});
    }
    const lab::CachedCeilings& from = entry.measured;
    if (from.ceilings.empty()) continue;
    notes += fmt::format("{}: {}\n", to_string(entry.properties.device),
                         !from.problem.empty() ? from.problem
                         : from.measured       ? "measured now, kept in " + from.path
                                               : "from " + from.path + "; --measure measures again");
  }
  fmt::print("\n{}{}\n", table.render(lab::stdout_width(), lab::stdout_has_colour()), notes);
}

void print_devices(const lab::DeviceReport& found) {
  lab::TextTable table;
  table.add_column("device");
  for (const char* header : {"arch", "SMs/threads", "LLC", "memory"}) {
    table.add_column(header, lab::Align::right);
  }
  table.add_column("name");
  for (const lab::DeviceEntry& entry : found.devices) {
    const DeviceProperties& p = entry.properties;
    std::vector<lab::Cell> cells = {
        {to_string(p.device)},
        {p.compute_capability > 0 ? fmt::format("sm_{}", p.compute_capability) : "-"},
        {fmt::format("{}", p.multiprocessors)},
        {lab::format_bytes(static_cast<double>(p.last_level_cache))},
        {lab::format_bytes(static_cast<double>(p.memory_bytes))}};
    cells.push_back({p.name});
    table.add_row(std::move(cells));
  }
  fmt::print("{}", table.render(lab::stdout_width(), lab::stdout_has_colour()));
  print_ceilings(found);
  for (const lab::PeerLibrary& peer : found.peers) {
    fmt::print("peers     {}: {}\n", peer.file, peer.reason.empty() ? "loaded" : peer.reason);
  }
  if (found.peers.empty())
    fmt::print("peers     none: no rooftile_peers_*.so and no rooftile_host_peers_*.so beside the program\n");
}

int run(Session& session, const std::string* json, bool remeasure) {
  const Result<lab::DeviceReport> found = look(session, remeasure);
  if (!found.ok()) return report(found.status());
  if (json != nullptr) {
    const Status status = write_text(*json, lab::device_json(*found));
    if (!status.ok()) return report(status);
    if (*json == "-") return kDone;
  }
  print_machine();
  print_devices(*found);
  return kDone;
}

}  // namespace

void add_device(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("device", "what is here: GPUs, limits, measured ceilings, libraries");
  auto json = std::make_shared<std::string>();
  CLI::Option* option = command->add_option("--json", *json, "write JSON to a file, or to stdout")
                            ->expected(0, 1)
                            ->type_name("[FILE|-]");
  auto remeasure = std::make_shared<bool>(false);
  command->add_flag("--measure", *remeasure, "measure the ceilings again, though they are known");
  command->footer("Examples:\n  rooftile device\n  rooftile device --measure --json -");
  command->callback([&session, json, option, remeasure] {
    if (option->count() > 0 && json->empty()) *json = "-";
    session.exit_code = run(session, option->count() > 0 ? json.get() : nullptr, *remeasure);
  });
}

}  // namespace rooftile::cli
