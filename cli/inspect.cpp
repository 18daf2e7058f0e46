#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "rooftile/lab/base/terminal.h"
#include "rooftile/lab/inspect/inspection.h"

namespace rooftile::cli {
namespace {

struct InspectCommand {
  std::string rung;  // OP/RUNG
  CaseOptions the_case;
  std::string arch;
  std::string gpu;
  std::string registers;
  std::string json;
};

constexpr const char* kEveryArch = "all";

struct Found {
  std::string table;
  std::string json;
  std::string compiler_missing;
};

Result<lab::InspectOptions> options_of(const InspectCommand& call) {
  lab::InspectOptions options;
  ROOFTILE_TRY_ASSIGN(options.request, parse_case_options(call.the_case));
  options.arch = call.arch;
  options.gpu = call.gpu;
  if (call.arch == kEveryArch && !call.gpu.empty())
    return invalid_argument("--gpu names one architecture: leave it out with --arch all");
  if (call.registers.empty()) return options;
  const Result<std::int64_t> count = parse_count(call.registers);
  if (!count.ok() || *count < 1 || *count > lab::kMaxRegistersPerThread) {
    return invalid_argument(fmt::format("--registers '{}' is not a number from 1 to {}", call.registers,
                                        lab::kMaxRegistersPerThread));
  }
  options.registers = static_cast<int>(*count);
  return options;
}

Result<Found> look(Session& session, const InspectCommand& call) {
  const std::size_t slash = call.rung.find('/');
  ROOFTILE_TRY_ASSIGN(const OperatorDescriptor* op, session.registry.get(call.rung.substr(0, slash)));
  if (slash == std::string::npos || slash + 1 == call.rung.size()) {
    return invalid_argument(fmt::format("inspect takes one rung, as in {}/{}: see rooftile list", op->name,
                                        op->rungs.empty() ? "RUNG" : op->rungs.back().id));
  }
  const std::string rung = call.rung.substr(slash + 1);
  ROOFTILE_TRY_ASSIGN(const lab::InspectOptions options, options_of(call));
  const int width = lab::stdout_width();
  const bool colour = lab::stdout_has_colour();
  lab::Progress progress;
  progress.show("compiling " + call.rung);
  if (call.arch == kEveryArch) {
    ROOFTILE_TRY_ASSIGN(const std::vector<lab::ArchInspection> archs,
                        lab::inspect_archs(session.registry, *op, rung, options));
    // A compiler does not know every architecture; that it knows none is worth a word.
    std::string missing;
    bool compiled = false;
    for (const lab::ArchInspection& arch : archs) {
      if (!arch.inspection) continue;
      if (missing.empty()) missing = arch.inspection->compiler_missing;
      compiled = compiled || arch.inspection->compiler_missing.empty();
    }
    if (compiled) missing.clear();
    return Found{lab::archs_table(archs, width, colour), lab::archs_json(archs, session.command_line),
                 missing};
  }
  ROOFTILE_TRY_ASSIGN(const lab::Inspection found, lab::inspect(session.registry, *op, rung, options));
  return Found{lab::inspection_table(found, width, colour), lab::inspection_json(found, session.command_line),
               found.compiler_missing};
}

int run(Session& session, const InspectCommand& call) {
  const Result<Found> found = look(session, call);
  if (!found.ok()) return report(found.status());
  if (call.json != "-") fmt::print("{}", found->table);
  if (!call.json.empty()) {
    const Status status = write_text(call.json, found->json);
    if (!status.ok()) return report(status);
  }
  if (found->compiler_missing.empty()) return kDone;
  // What the caller gave stands in for the compiler's word.
  const int code = call.registers.empty() ? kNotPossible : kDone;
  return report(
      code, fmt::format("registers, spills and static shared memory are not known: {}{}",
                        found->compiler_missing, code == kDone ? "" : "; or give --registers to count with"));
}

}  // namespace

void add_inspect(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "inspect",
      "what a rung's kernels take of a GPU: registers, occupancy, waves, machine code; no GPU needed");
  auto call = std::make_shared<InspectCommand>();
  command->add_option("OP/RUNG", call->rung, "a rung of `rooftile list`")->required();
  command
      ->add_option("--arch", call->arch,
                   "architecture to compile for; sm_90a, or that of --gpu; all: side by side")
      ->type_name("sm_NN|all");
  command->add_option("--gpu", call->gpu, "GPU whose SMs the grid fills: h200, a100, rtx-4090 ...")
      ->type_name("NAME");
  add_case_options(*command, call->the_case);
  command->add_option("--registers", call->registers, "per thread, in place of what the compiler says")
      ->type_name("COUNT");
  command->add_option("--json", call->json, "write JSON to a file; - writes JSON alone to stdout")
      ->type_name("FILE|-");
  command->footer(
      "Examples:\n"
      "  rooftile inspect reduce/vectorized\n"
      "  rooftile inspect transpose/swizzled --gpu rtx-4090 --shape m=4096,n=4096\n"
      "  rooftile inspect reduce/single_pass --arch sm_80 --registers 64 --json -\n"
      "  rooftile inspect transpose/swizzled --arch all\n"
      "It compiles the rung's source by nvcc, and disassembles it where nvdisasm is on PATH; results of the\n"
      "compiler are kept in the user's cache folder. Without nvcc the launch and what it alone decides are\n"
      "shown.");
  command->callback([&session, call] { session.exit_code = run(session, *call); });
}

}  // namespace rooftile::cli
