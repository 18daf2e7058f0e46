#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "rooftile/lab/base/build_info.h"
#include "rooftile/lab/base/write_file.h"
#include "rooftile/lab/ladder/record_table.h"
#include "rooftile/lab/profile/ncu_figures.h"
#include "rooftile/lab/profile/sim_calibration.h"

namespace rooftile::cli {
namespace {

namespace fs = std::filesystem;

struct TableCommand {
  std::vector<std::string> operators;
  std::string root = ".";
  bool check = false;
};

// A file that is generated, or the part of it between its markers.
struct Target {
  std::string path;    // from the root
  std::string marker;  // its name; empty: the whole file, which is not there where `generated` is empty
  std::string generated;
  std::vector<std::string> problems{};  // what its records show to be wrong
};

constexpr const char* kCalibration = "docs/calibration.md";
constexpr const char* kExplanations = "docs/calibration_explained.tsv";

// The simulated SM against the profiles of a GPU.
Result<Target> calibration_target(const TableCommand& call,
                                  const std::vector<lab::RecordedProfile>& profiles) {
  ROOFTILE_TRY_ASSIGN(const std::string text, read_text((fs::path(call.root) / kExplanations).string()));
  ROOFTILE_TRY_ASSIGN(const std::vector<lab::Explanation> explanations, lab::parse_explanations(text));
  lab::SimCalibration calibration = lab::sim_calibration(profiles, explanations);
  return Target{kCalibration, "calibration", std::move(calibration.markdown),
                std::move(calibration.problems)};
}

bool is_lesson(const std::string& root, const std::string& operator_name) {
  return fs::is_directory(fs::path(root) / "rooftile" / "lessons" / operator_name);
}

Result<std::vector<const OperatorDescriptor*>> named_operators(const Session& session,
                                                               const TableCommand& call) {
  std::vector<const OperatorDescriptor*> operators;
  for (const std::string& name : call.operators) {
    ROOFTILE_TRY_ASSIGN(const OperatorDescriptor* op, session.registry.get(name));
    operators.push_back(op);
  }
  return operators.empty() ? session.registry.operators() : operators;
}

// An operator of the tree that this program does not have; empty: none.
std::string missing_operator(const Session& session, const std::string& root) {
  std::vector<std::string> missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(root) / "rooftile" / "ops")) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && session.registry.find(name) == nullptr) missing.push_back(name);
  }
  return missing.empty() ? "" : *std::min_element(missing.begin(), missing.end());
}

lab::OperatorRecords records_of(const Session& session, const std::vector<lab::Record>& records,
                                const OperatorDescriptor& op) {
  const OperatorCases* cases = session.registry.cases(op.name);
  return lab::choose_records(records, op.name,
                             cases == nullptr ? lab::RecordCase{} : lab::record_case(cases->default_case));
}

Result<std::vector<Target>> targets(const Session& session, const TableCommand& call) {
  if (!fs::is_directory(fs::path(call.root) / "rooftile" / "ops")) {
    return invalid_argument(
        fmt::format("{} is not the root of the tree: there is no rooftile/ops; name it by --root DIR",
                    call.root == "." ? "this directory" : call.root));
  }
  ROOFTILE_TRY_ASSIGN(const std::vector<const OperatorDescriptor*> operators, named_operators(session, call));
  ROOFTILE_TRY_ASSIGN(std::vector<lab::Record> records, lab::read_records(call.root));
  lab::mark_stale(records, [](const lab::Record& record, const lab::RecordRow& row) {
    return !lab::stale_parts(row.sources, record.operator_name, row.rung, row.peer).empty();
  });

  ROOFTILE_TRY_ASSIGN(const std::vector<lab::RecordedProfile> profiles, lab::read_profiles(call.root));

  std::vector<Target> all;
  for (const OperatorDescriptor* op : operators) {
    const lab::OperatorRecords of = records_of(session, records, *op);
    const std::string folder =
        fmt::format("rooftile/{}/{}", is_lesson(call.root, op->name) ? "lessons" : "ops", op->name);
    all.push_back(
        {folder + "/README.md", op->name, lab::operator_tables(of) + lab::ncu_figures(profiles, op->name)});
    all.push_back({folder + "/climb.svg", "", lab::climb_svg(of)});
    all.push_back({folder + "/whole_climb.svg", "", lab::whole_climb_svg(of)});
  }
  std::vector<lab::OperatorRecords> library;
  for (const OperatorDescriptor* op : session.registry.operators()) {
    if (!is_lesson(call.root, op->name)) library.push_back(records_of(session, records, *op));
  }
  // What is of all operators stands where its marker does.
  const Result<std::string> readme = read_text((fs::path(call.root) / "README.md").string());
  const bool wanted = readme.ok() && readme->find("<!-- generated: summary -->") != std::string::npos;
  const std::string missing = missing_operator(session, call.root);
  if (wanted && !missing.empty()) {
    fmt::print(
        stderr,
        "README.md is left as it is: its table is of all operators, and this program was built without {}\n",
        missing);
  } else if (wanted) {
    all.push_back({"README.md", "summary", lab::summary_table(library)});
  }
  if (fs::exists(fs::path(call.root) / kCalibration)) {
    ROOFTILE_TRY_ASSIGN(Target target, calibration_target(call, profiles));
    all.push_back(std::move(target));
  }
  return all;
}

// What the file holds now, and what it should; both empty: it is not there, and should not be.
struct Contents {
  std::string before;
  std::string after;
};

Result<Contents> contents(const fs::path& file, const Target& target) {
  if (target.marker.empty() && !fs::exists(file)) return Contents{"", target.generated};
  Result<std::string> before = read_text(file.string());
  if (!before.ok()) {
    return io_error(
        fmt::format("cannot read {}: it should hold '<!-- generated: {} -->'", target.path, target.marker));
  }
  if (target.marker.empty()) return Contents{*std::move(before), target.generated};
  Result<std::string> after = lab::replace_generated(*before, target.marker, target.generated);
  if (!after.ok()) return invalid_argument(fmt::format("{}: {}", target.path, after.status().rule()));
  return Contents{*std::move(before), *std::move(after)};
}

Status write_or_remove(const fs::path& file, const std::string& text) {
  if (!text.empty()) return lab::write_file(file.string(), text);
  std::error_code error;
  fs::remove(file, error);
  return error ? io_error(fmt::format("cannot remove {}: {}", file.string(), error.message())) : Status();
}

int run(const Session& session, const TableCommand& call) {
  const Result<std::vector<Target>> all = targets(session, call);
  if (!all.ok()) return report(all.status());
  std::vector<std::string> outdated;
  std::vector<std::string> problems;
  for (const Target& target : *all) {
    problems.insert(problems.end(), target.problems.begin(), target.problems.end());
    const fs::path file = fs::path(call.root) / target.path;
    const Result<Contents> text = contents(file, target);
    if (!text.ok()) return report(text.status());
    if (text->after == text->before) continue;
    outdated.push_back(target.path);
    if (call.check) continue;
    if (const Status status = write_or_remove(file, text->after); !status.ok()) return report(status);
    fmt::print("{}\n", target.path);
  }
  if (call.check && !outdated.empty()) {
    return report(kCheckFailed, fmt::format("{}: not what the records in results/ give: run `rooftile table`",
                                            fmt::join(outdated, ", ")));
  }
  if (!problems.empty()) return report(kCheckFailed, fmt::format("{}", fmt::join(problems, "; ")));
  return kDone;
}

}  // namespace

void add_table(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "table", "write the tables and drawings of the READMEs from the records in results/");
  auto call = std::make_shared<TableCommand>();
  command->add_option("OP", call->operators, "operators of `rooftile list`; default: all");
  command->add_option("--root", call->root, "the root of the tree (default: the current directory)")
      ->type_name("DIR");
  command->add_flag("--check", call->check, "write nothing; exit code 1 where a file differs");
  command->footer(
      "Prints the files that it wrote: READMEs, and climb.svg and whole_climb.svg beside those of the operators. A row that was\n"
      "made from other sources than those that stand here is marked.\n"
      "Examples:\n"
      "  rooftile table\n"
      "  rooftile table reduce --root ~/rooftile\n"
      "  rooftile table --check");
  command->callback([&session, call] { session.exit_code = run(session, *call); });
}

}  // namespace rooftile::cli
