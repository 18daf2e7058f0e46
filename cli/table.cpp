#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "rooftile/lab/base/write_file.h"
#include "rooftile/lab/ladder/record_table.h"
#include "rooftile/lab/profile/sim_calibration.h"

namespace rooftile::cli {
namespace {

namespace fs = std::filesystem;

struct TableCommand {
  std::vector<std::string> operators;
  std::string root = ".";
  bool check = false;
};

// A README with a section that is generated.
struct Section {
  std::string name;  // of the marker
  std::string path;  // from the root
  std::string generated;
  std::vector<std::string> problems{};  // what its records show to be wrong
};

constexpr const char* kCalibration = "docs/calibration.md";
constexpr const char* kExplanations = "docs/calibration_explained.tsv";

Result<std::string> read_readme(const fs::path& path, const std::string& name) {
  Result<std::string> text = read_text(path.string());
  if (!text.ok())
    return io_error(fmt::format("cannot read {}: it should hold '<!-- generated: ... -->'", name));
  return text;
}

// The simulated SM against the profiles of a GPU.
Result<Section> calibration_section(const TableCommand& call) {
  ROOFTILE_TRY_ASSIGN(const std::vector<lab::RecordedProfile> profiles, lab::read_profiles(call.root));
  ROOFTILE_TRY_ASSIGN(const std::string text, read_text((fs::path(call.root) / kExplanations).string()));
  ROOFTILE_TRY_ASSIGN(const std::vector<lab::Explanation> explanations, lab::parse_explanations(text));
  lab::SimCalibration calibration = lab::sim_calibration(profiles, explanations);
  return Section{"calibration", kCalibration, std::move(calibration.markdown),
                 std::move(calibration.problems)};
}

// From the root of the tree, as in tables and messages.
std::string readme_of(const std::string& root, const std::string& operator_name) {
  const std::string lesson = fmt::format("rooftile/lessons/{}", operator_name);
  const bool is_lesson = fs::is_directory(fs::path(root) / lesson);
  return (is_lesson ? lesson : fmt::format("rooftile/ops/{}", operator_name)) + "/README.md";
}

Result<std::vector<Section>> sections(const Session& session, const TableCommand& call) {
  if (!fs::is_directory(fs::path(call.root) / "rooftile" / "ops")) {
    return invalid_argument(
        fmt::format("{} is not the root of the tree: there is no rooftile/ops; name it by --root DIR",
                    call.root == "." ? "this directory" : call.root));
  }
  std::vector<const OperatorDescriptor*> operators;
  for (const std::string& name : call.operators) {
    ROOFTILE_TRY_ASSIGN(const OperatorDescriptor* op, session.registry.get(name));
    operators.push_back(op);
  }
  if (operators.empty()) operators = session.registry.operators();
  ROOFTILE_TRY_ASSIGN(const std::vector<lab::Record> records, lab::read_records(call.root));

  std::vector<Section> all;
  for (const OperatorDescriptor* op : operators) {
    all.push_back({op->name, readme_of(call.root, op->name), lab::operator_tables(records, op->name)});
  }
  // What is of all operators stands where its marker does.
  std::vector<std::string> names;
  for (const OperatorDescriptor* op : session.registry.operators()) names.push_back(op->name);
  const Result<std::string> readme = read_readme(fs::path(call.root) / "README.md", "README.md");
  if (readme.ok() && readme->find("<!-- generated: summary -->") != std::string::npos) {
    all.push_back({"summary", "README.md", lab::summary_table(records, names)});
  }
  if (fs::exists(fs::path(call.root) / kCalibration)) {
    ROOFTILE_TRY_ASSIGN(Section section, calibration_section(call));
    all.push_back(std::move(section));
  }
  return all;
}

int run(const Session& session, const TableCommand& call) {
  const Result<std::vector<Section>> all = sections(session, call);
  if (!all.ok()) return report(all.status());
  std::vector<std::string> outdated;
  std::vector<std::string> problems;
  for (const Section& section : *all) {
    problems.insert(problems.end(), section.problems.begin(), section.problems.end());
    const fs::path path = fs::path(call.root) / section.path;
    const Result<std::string> before = read_readme(path, section.path);
    if (!before.ok()) return report(before.status());
    const Result<std::string> after = lab::replace_generated(*before, section.name, section.generated);
    if (!after.ok()) return report(kWrongCall, fmt::format("{}: {}", section.path, after.status().rule()));
    if (*after == *before) continue;
    outdated.push_back(section.path);
    if (call.check) continue;
    if (const Status status = lab::write_file(path.string(), *after); !status.ok()) return report(status);
    fmt::print("{}\n", section.path);
  }
  if (call.check && !outdated.empty()) {
    return report(kCheckFailed,
                  fmt::format("{}: the generated tables differ from the records: run `rooftile table`",
                              fmt::join(outdated, ", ")));
  }
  if (!problems.empty()) return report(kCheckFailed, fmt::format("{}", fmt::join(problems, "; ")));
  return kDone;
}

}  // namespace

void add_table(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("table", "write the tables of the READMEs from the records in results/");
  auto call = std::make_shared<TableCommand>();
  command->add_option("OP", call->operators, "operators of `rooftile list`; default: all");
  command->add_option("--root", call->root, "the root of the tree (default: the current directory)")
      ->type_name("DIR");
  command->add_flag("--check", call->check, "write nothing; exit code 1 where a README differs");
  command->footer(
      "Prints the files that it wrote. Rows that were measured from other sources are named as stale.\n"
      "Examples:\n"
      "  rooftile table\n"
      "  rooftile table reduce --root ~/rooftile\n"
      "  rooftile table --check");
  command->callback([&session, call] { session.exit_code = run(session, *call); });
}

}  // namespace rooftile::cli
