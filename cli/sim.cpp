#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "rooftile/lab/base/terminal.h"
#include "rooftile/lab/simulate/simulation.h"

namespace rooftile::cli {
namespace {

struct SimCommand {
  std::string rung;  // OP/RUNG
  CaseOptions the_case;
  bool fast = false;
  std::string json;
};

Result<lab::Simulation> watch(Session& session, const SimCommand& call) {
  const std::size_t slash = call.rung.find('/');
  const std::string op_name = call.rung.substr(0, slash);
  ROOFTILE_TRY_ASSIGN(const OperatorDescriptor* op, session.registry.get(op_name));
  if (slash == std::string::npos || slash + 1 == call.rung.size()) {
    return invalid_argument(fmt::format("sim takes one rung, as in {}/{}: see rooftile list", op->name,
                                        op->rungs.empty() ? "RUNG" : op->rungs.back().id));
  }
  lab::SimulationOptions options;
  ROOFTILE_TRY_ASSIGN(options.request, parse_case_options(call.the_case));
  options.session.metrics = !call.fast;
  return lab::simulate(session.registry, *op, call.rung.substr(slash + 1), options);
}

int run(Session& session, const SimCommand& call) {
  const Result<lab::Simulation> simulation = watch(session, call);
  if (!simulation.ok()) return report(simulation.status());
  if (call.json != "-") {
    fmt::print("{}", lab::simulation_table(*simulation, lab::stdout_width(), lab::stdout_has_colour()));
  }
  if (!call.json.empty()) {
    const Status status = write_text(call.json, lab::simulation_json(*simulation, session.command_line));
    if (!status.ok()) return report(status);
  }
  if (simulation->failed()) return report(kCheckFailed, fmt::format("{} has mistakes; see above", call.rung));
  return kDone;
}

}  // namespace

void add_sim(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "sim", "what a rung's memory accesses cost, line by line, and its mistakes; no GPU needed");
  auto call = std::make_shared<SimCommand>();
  command->add_option("OP/RUNG", call->rung, "a rung of `rooftile list`")->required();
  add_case_options(*command, call->the_case);
  command->add_flag("--fast", call->fast, "look for mistakes alone, several times faster");
  command->add_option("--json", call->json, "write JSON to a file; - writes JSON alone to stdout")
      ->type_name("FILE|-");
  command->footer(
      "Examples:\n"
      "  rooftile sim reduce/interleaved_divergent\n"
      "  rooftile sim reduce/vectorized --shape n=2^16 --json -\n"
      "It counts access patterns and never predicts time.");
  command->callback([&session, call] { session.exit_code = run(session, *call); });
}

}  // namespace rooftile::cli
