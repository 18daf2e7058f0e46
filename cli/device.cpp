#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "rooftile/lab/json_report.h"
#include "rooftile/lab/machine.h"
#include "rooftile/lab/problem.h"
#include "rooftile/lab/terminal.h"
#include "rooftile/lab/text_table.h"

namespace rooftile::cli {
namespace {

constexpr double kHostStreamBytes = 256.0 * 1024 * 1024;
constexpr double kGpuStreamBytes = 1024.0 * 1024 * 1024;

Result<lab::DeviceReport> look(Session& session) {
  lab::DeviceReport found;
  lab::Progress progress;
  found.cuda_reason = cuda_availability().ok() ? "" : cuda_availability().message();
  std::vector<Device> devices;
  for (int i = 0; i < cuda_device_count(); ++i) devices.push_back(cuda_device(i));
  devices.insert(devices.end(), {kCpu, kSim});
  for (const Device device : devices) {
    progress.show("measuring " + to_string(device));
    ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
    lab::DeviceEntry entry{*properties, {}};
    if (device.kind != DeviceKind::sim) {
      const double bytes = device.kind == DeviceKind::cuda ? kGpuStreamBytes : kHostStreamBytes;
      ROOFTILE_TRY_ASSIGN(entry.measured, lab::measure_streaming(device, bytes));
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

void print_devices(const lab::DeviceReport& found) {
  lab::TextTable table;
  table.add_column("device");
  for (const char* header :
       {"arch", "SMs/threads", "LLC", "memory", "read GB/s", "write GB/s", "copy GB/s"}) {
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
    for (std::size_t i = 0; i < 3; ++i) {
      cells.push_back({i < entry.measured.size() ? fmt::format("{:.1f}", entry.measured[i].gbps) : "-"});
    }
    cells.push_back({p.name});
    table.add_row(std::move(cells));
  }
  fmt::print("{}", table.render(lab::stdout_width(), lab::stdout_has_colour()));
  for (const lab::PeerLibrary& peer : found.peers) {
    fmt::print("peers     {}: {}\n", peer.path, peer.reason.empty() ? "loaded" : peer.reason);
  }
  if (found.peers.empty()) fmt::print("peers     none: no rooftile_peers_*.so beside the program\n");
}

int run(Session& session, const std::string* json) {
  const Result<lab::DeviceReport> found = look(session);
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
      app.add_subcommand("device", "what is here: GPUs, limits, measured memory rates, libraries");
  auto json = std::make_shared<std::string>();
  CLI::Option* option = command->add_option("--json", *json, "write JSON to a file, or to stdout")
                            ->expected(0, 1)
                            ->type_name("[FILE|-]");
  command->footer("Examples:\n  rooftile device\n  rooftile device --json -");
  command->callback([&session, json, option] {
    if (option->count() > 0 && json->empty()) *json = "-";
    session.exit_code = run(session, option->count() > 0 ? json.get() : nullptr);
  });
}

}  // namespace rooftile::cli
