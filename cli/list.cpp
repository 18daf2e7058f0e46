#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "rooftile/lab/base/terminal.h"
#include "rooftile/lab/base/text_table.h"
#include "rooftile/lab/ladder/json_report.h"

namespace rooftile::cli {
namespace {

lab::Cell mark(bool available) {
  return {available ? "yes" : "-", available ? lab::Colour::green : lab::Colour::none};
}

std::string operator_text(const OperatorDescriptor& op, const std::vector<const PeerRow*>& peers,
                          bool colour) {
  lab::TextTable table;
  for (const char* header : {"  rung", "cuda", "sim", "cpu", "idea"}) table.add_column(header);
  std::vector<std::string> reasons;
  for (const RungRow& rung : op.rungs) {
    const lab::Availability here = lab::availability(rung);
    table.add_row({{"  " + rung.id}, mark(here.cuda), mark(here.sim), mark(here.cpu), {rung.idea}});
    if (!here.reason.empty() && std::find(reasons.begin(), reasons.end(), here.reason) == reasons.end()) {
      reasons.push_back(here.reason);
    }
  }
  for (const PeerRow* peer : peers)
    table.add_row({{"  " + peer->id}, mark(true), mark(false), mark(false), {"peer: " + peer->version}});
  std::string text = lab::paint(op.name, lab::Colour::bold, colour) + ": " + op.summary + "\n" +
                     table.render(lab::stdout_width(), colour);
  for (const std::string& reason : reasons) text += "  not available: " + reason + "\n";
  return text;
}

int run(Session& session, const std::string* json) {
  const std::vector<lab::PeerLibrary>& peers = session.peers();
  if (json != nullptr) {
    const Status status = write_text(*json, lab::list_json(session.registry));
    if (!status.ok()) return report(status);
    if (*json == "-") return kDone;
  }
  const bool colour = lab::stdout_has_colour();
  for (const OperatorDescriptor* op : session.registry.operators()) {
    fmt::print("{}\n", operator_text(*op, session.registry.peers(op->name), colour));
  }
  for (const lab::PeerLibrary& peer : peers) {
    if (!peer.reason.empty()) fmt::print("peer library {} is not loaded: {}\n", peer.file, peer.reason);
  }
  return kDone;
}

}  // namespace

void add_list(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("list", "operators, their rungs, and what is available here");
  auto json = std::make_shared<std::string>();
  CLI::Option* option = command->add_option("--json", *json, "write JSON to a file, or to stdout")
                            ->expected(0, 1)
                            ->type_name("[FILE|-]");
  command->footer("Examples:\n  rooftile list\n  rooftile list --json -");
  command->callback([&session, json, option] {
    if (option->count() > 0 && json->empty()) *json = "-";
    session.exit_code = run(session, option->count() > 0 ? json.get() : nullptr);
  });
}

}  // namespace rooftile::cli
