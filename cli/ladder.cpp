#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "rooftile/lab/base/terminal.h"
#include "rooftile/lab/ladder/json_report.h"
#include "rooftile/lab/ladder/ladder_merge.h"
#include "rooftile/lab/ladder/ladder_table.h"

namespace rooftile::cli {
namespace {

struct LadderCommand {
  std::string op;
  CaseOptions the_case;
  std::vector<std::string> rungs;
  std::string device;
  std::vector<std::string> modes;
  double budget_s = 5.0;
  std::string json;
  bool append = false;
  bool torch = false;
  bool torch_compile = false;
};

bool anything_ran(const lab::LadderReport& ladder) {
  return std::any_of(ladder.results.begin(), ladder.results.end(), [](const lab::LadderResult& result) {
    return std::any_of(result.rows.begin(), result.rows.end(), [](const lab::LadderRow& row) {
      return row.kind != "bound" &&
             (row.status == lab::RowStatus::ok || row.status == lab::RowStatus::failed);
    });
  });
}

Result<lab::LadderReport> climb(Session& session, const LadderCommand& call) {
  ROOFTILE_TRY_ASSIGN(const OperatorDescriptor* op, session.registry.get(call.op));
  lab::LadderOptions options;
  ROOFTILE_TRY_ASSIGN(options.request, parse_case_options(call.the_case));
  options.rungs = parse_rungs(call.rungs, op->name);
  if (!call.device.empty()) {
    ROOFTILE_TRY_ASSIGN(const Device device, usable_device(call.device));
    options.devices = {device};
  }
  if (!call.modes.empty()) options.modes.clear();
  for (const std::string& name : call.modes) {
    ROOFTILE_TRY_ASSIGN(const lab::TimeMode mode, lab::parse_time_mode(name));
    if (std::find(options.modes.begin(), options.modes.end(), mode) == options.modes.end())
      options.modes.push_back(mode);
  }
  if (!(call.budget_s > 0.0 && call.budget_s <= 3600.0)) {
    return invalid_argument("--budget must be above 0 and at most 3600 seconds");
  }
  options.timing.budget_s = call.budget_s;
  if (call.torch || call.torch_compile) options.torch = lab::PeerProgram{.compile = call.torch_compile};
  session.peers();
  lab::Progress progress;
  options.on_step = [&progress](std::string_view text) { progress.show(text); };
  options.timing.on_round = [&](int round, int rounds) {
    progress.show(fmt::format("{}: measuring, round {} of at most {}", op->name, round + 1, rounds));
  };
  Result<lab::LadderReport> ladder = lab::run_ladder(session.registry, *op, options);
  if (!ladder.ok()) return ladder;
  for (lab::LadderResult& result : ladder->results) {
    if (result.device.kind == DeviceKind::sim) continue;
    for (const lab::PeerLibrary& library : session.peers()) {
      if (!library.reason.empty() && library.host == (result.device.kind == DeviceKind::cpu))
        result.notes.push_back(fmt::format("no peers of {}: {}", library.file, library.reason));
    }
  }
  return ladder;
}

Result<std::string> read_record(const std::string& path, const std::string& op) {
  ROOFTILE_TRY_ASSIGN(std::string text, read_text(path));
  if (const Status status = lab::check_ladder_record(text, op); !status.ok()) {
    return io_error(fmt::format("{}: {}", path, status.sentence()));
  }
  return text;
}

// The record that a call adds to, read before anything is measured; empty: none.
Result<std::string> read_kept(const LadderCommand& call) {
  if (call.append && (call.json.empty() || call.json == "-")) {
    return invalid_argument("--append adds to a record: name it by --json FILE");
  }
  if (call.append && std::filesystem::exists(call.json)) return read_record(call.json, call.op);
  return std::string();
}

Status write_record(const Session& session, const LadderCommand& call, const std::string& kept,
                    const lab::LadderReport& ladder) {
  std::string text = lab::ladder_json(ladder, session.command_line);
  if (!kept.empty()) {
    ROOFTILE_TRY_ASSIGN(text, lab::merge_ladders(kept, text));
  }
  return write_text(call.json, text);
}

int run(Session& session, const LadderCommand& call) {
  const Result<std::string> kept = read_kept(call);
  if (!kept.ok()) return report(kept.status());
  const Result<lab::LadderReport> ladder = climb(session, call);
  if (!ladder.ok()) return report(ladder.status());
  if (call.json != "-")
    fmt::print("{}", lab::ladder_table(*ladder, lab::stdout_width(), lab::stdout_has_colour()));
  if (!call.json.empty()) {
    if (const Status status = write_record(session, call, *kept, *ladder); !status.ok())
      return report(status);
  }
  if (ladder->failed()) return report(kCheckFailed, fmt::format("{}: a rung failed its check", call.op));
  if (!anything_ran(*ladder)) {
    return report(kNotPossible,
                  fmt::format("{}: no rung serves this case here; see the reasons above", call.op));
  }
  return kDone;
}

}  // namespace

void add_ladder(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("ladder", "verify, then measure all rungs and peers of an operator");
  auto call = std::make_shared<LadderCommand>();
  command->add_option("OP", call->op, "an operator of `rooftile list`")->required();
  add_case_options(*command, call->the_case);
  command->add_option("--rungs,--rung", call->rungs, "only these, divided by commas")
      ->allow_extra_args(false)
      ->type_name("RUNG,...");
  command
      ->add_option("--device", call->device,
                   "cuda:N, cpu or sim; default: the GPU, or cpu (timed) and sim (verified)")
      ->type_name("DEVICE");
  command
      ->add_option(
          "--mode", call->modes,
          "stream-cold (default: caches flushed before each launch by writing), stream-cold-clean (by writing, then "
          "reading), stream-hot (the same launch ran just before), graph-cold or graph-hot (replayed from a CUDA "
          "graph), sustained (launches back to back); several divided by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("MODE,...");
  command->add_option("--budget", call->budget_s, "seconds to measure for (default 5)")->type_name("SECONDS");
  command->add_option("--json", call->json, "write JSON to a file; - writes JSON alone to stdout")
      ->type_name("FILE|-");
  command->add_flag("--append", call->append, "keep the other cases that the file of --json holds");
  command->add_flag(
      "--torch", call->torch,
      "torch as a peer: in a process of its own (python3, or $ROOFTILE_PYTHON), in turns with our rungs");
  command->add_flag("--torch-compile", call->torch_compile,
                    "that, and what torch.compile makes of the same call");
  command->footer(
      "Examples:\n"
      "  rooftile ladder reduce\n"
      "  rooftile ladder reduce --shape n=2^24 --dtype i32 --arg op=max\n"
      "  rooftile ladder reduce --shape n=2^16 --mode graph-cold --device cuda:0\n"
      "  rooftile ladder reduce --device cpu --json ladder.json\n"
      "  rooftile ladder reduce --torch --arg op=max\n"
      "  rooftile ladder reduce --rungs warp_shuffle,single_pass --device sim");
  command->callback([&session, call] { session.exit_code = run(session, *call); });
}

}  // namespace rooftile::cli
