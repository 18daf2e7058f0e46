#include "rooftile/lab/ladder/record_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "rooftile/lab/base/format_bytes.h"
#include "rooftile/lab/case/problem.h"

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kEndMarker = "<!-- end generated -->";
constexpr std::string_view kNoRecord =
    "No record yet: `rooftile ladder {}` on a GPU, kept in `results/`, makes this table.\n";

// What a record lacks is empty: the keys that tables need are checked by `has_keys`.
std::string text_of(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_string() ? at->get<std::string>() : "";
}
double number_of(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_number() ? at->get<double>() : 0.0;
}
bool flag_of(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_boolean() && at->get<bool>();
}
const Json& object_of(const Json& json, const char* key) {
  static const Json empty = Json::object();
  const auto at = json.find(key);
  return at != json.end() && at->is_object() ? *at : empty;
}

RecordRow read_row(const Json& json) {
  RecordRow row;
  row.rung = text_of(json, "rung");
  row.kind = text_of(json, "kind");
  row.other_process = flag_of(json, "other_process");
  row.chosen = flag_of(json, "chosen");
  row.status = text_of(json, "status");
  row.reason = text_of(json, "reason");
  const Json& time = object_of(json, "time_us");
  row.median_us = number_of(time, "median");
  row.timed = row.median_us > 0.0;
  row.steady = text_of(time, "verdict") != "insufficient";
  row.gbps = number_of(json, "gbps");
  row.bound_fraction = number_of(json, "bound_fraction");
  row.peer = text_of(json, "peer");
  row.ratio = number_of(object_of(json, "ratio_to_peer"), "median");
  row.verdict = text_of(json, "verdict");
  for (const auto& [part, digest] : object_of(json, "sources").items()) {
    if (digest.is_string()) row.sources.push_back({part, digest.get<std::string>()});
  }
  return row;
}

std::string case_name(const Json& json) {
  std::string name;
  const auto add = [&name](const std::string& part) { name += (name.empty() ? "" : ", ") + part; };
  for (const auto& [key, value] : object_of(json, "shape").items()) add(key + "=" + value.dump());
  add(text_of(json, "dtype"));
  for (const auto& [key, value] : object_of(json, "params").items()) {
    add(key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return name;
}

bool is_result(const Json& json) {
  return json.is_object() && json.contains("case") && json["case"].is_object() && json.contains("rows") &&
         json["rows"].is_array();
}

// The records of one file; none where it is another command's.
Status read_file(const fs::path& file, const std::string& name, SourceTable present,
                 std::vector<Record>& records) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  const Json json = Json::parse(text.str(), nullptr, false);
  if (!json.is_object()) {
    return io_error(fmt::format("{} is not JSON: record it again, or remove it", name));
  }
  if (!json.contains("operator") || !json.contains("results")) return {};
  if (number_of(json, "schema") != 1.0 || !json["results"].is_array() ||
      !std::all_of(json["results"].begin(), json["results"].end(), is_result)) {
    return io_error(fmt::format("{} is not a ladder of schema 1: record it again, or remove it", name));
  }
  for (const Json& result : json["results"]) {
    const Json& machine = object_of(result.contains("machine") ? result : json, "machine");
    Record record;
    record.path = name;
    record.gpu = file.parent_path().filename().string();
    record.operator_name = text_of(json, "operator");
    record.case_name = case_name(result["case"]);
    record.commit = text_of(result, "commit");
    record.command = text_of(result, "command");
    record.read_bytes = number_of(result["case"], "read_bytes");
    record.write_bytes = number_of(result["case"], "write_bytes");
    for (const Json& row : result["rows"]) {
      if (row.is_object()) record.rows.push_back(read_row(row));
    }
    for (RecordRow& row : record.rows)
      row.stale = stale_parts(row.sources, record.operator_name, row.rung, row.peer, present);
    record.mode = text_of(result, "mode");
    record.machine = text_of(machine, text_of(result, "device").starts_with("cuda") ? "gpu" : "cpu");
    // What only the simulator ran has no time to show.
    const bool timed =
        std::any_of(record.rows.begin(), record.rows.end(), [](const RecordRow& row) { return row.timed; });
    if (timed) records.push_back(std::move(record));
  }
  return {};
}

std::string time_text(double us) {
  return us < 1e3 ? fmt::format("{:.2f} us", us) : fmt::format("{:.3f} ms", us * 1e-3);
}

// A table cell must not end its cell or its line.
std::string cell(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::string safe;
  for (const char c : text) safe += c == '|' ? std::string("\\|") : std::string(1, c);
  return safe;
}

bool stale(const Record& record) {
  return std::any_of(record.rows.begin(), record.rows.end(),
                     [](const RecordRow& row) { return !row.stale.empty(); });
}

// "naive (kernel), tma (kernel, plan)"
std::string stale_rows(const Record& record) {
  std::string text;
  for (const RecordRow& row : record.rows) {
    if (row.stale.empty()) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", row.rung, fmt::join(row.stale, ", "));
  }
  return text;
}

std::string peer_of(const Record& record) {
  for (const RecordRow& row : record.rows) {
    if (!row.peer.empty()) return row.peer;
  }
  return "";
}

std::string row_line(const RecordRow& row, bool has_peer) {
  const std::string name = row.chosen          ? fmt::format("**{}**", cell(row.rung))
                           : row.other_process ? cell(row.rung) + " (other process)"
                                               : cell(row.rung);
  std::string line = fmt::format("| {} | {}{} | {:.{}f} | {} |", name, time_text(row.median_us),
                                 row.steady ? "" : " (insufficient)", row.gbps, row.gbps < 100.0 ? 2 : 0,
                                 row.bound_fraction > 0 ? fmt::format("{:.3f}", row.bound_fraction) : "");
  if (has_peer) {
    line += row.ratio > 0 ? fmt::format(" {:.3f} {} |", row.ratio, row.verdict) : std::string("  |");
  }
  return line + "\n";
}

// "a, b (skipped: why); c (failed: why)": rows of the same reason together, in the order of the first.
std::string absent_rows(const Record& record) {
  std::vector<std::pair<std::string, std::string>> reasons;  // reason, the rungs that have it
  for (const RecordRow& row : record.rows) {
    if (row.timed) continue;
    const std::string reason =
        fmt::format("{}: {}", row.status, row.reason.empty() ? "no reason recorded" : row.reason);
    const auto same = [&reason](const auto& known) { return known.first == reason; };
    const auto at = std::find_if(reasons.begin(), reasons.end(), same);
    if (at == reasons.end())
      reasons.emplace_back(reason, row.rung);
    else
      at->second += ", " + row.rung;
  }
  std::string text;
  for (const auto& [reason, rungs] : reasons)
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", rungs, reason);
  return text;
}

std::string record_table(const Record& record) {
  std::string text =
      fmt::format("**{}** on {}: {}, {} read, {} written; `{}`, commit {}\n\n", cell(record.case_name),
                  cell(record.machine), record.mode, format_bytes(record.read_bytes),
                  format_bytes(record.write_bytes), record.command, record.commit.substr(0, 12));
  if (stale(record)) {
    text += fmt::format("*Stale, measured from other sources than those that stand here: {}.*\n\n",
                        stale_rows(record));
  }
  const std::string peer = peer_of(record);
  text += fmt::format("| rung | time | GB/s | of bound |{}\n|---|--:|--:|--:|{}\n",
                      peer.empty() ? "" : fmt::format(" vs {} |", cell(peer)), peer.empty() ? "" : "--:|");
  for (const RecordRow& row : record.rows) {
    if (row.timed) text += row_line(row, !peer.empty());
  }
  const std::string absent = absent_rows(record);
  if (!absent.empty()) text += fmt::format("\nWithout a time: {}.\n", absent);
  return text;
}

// Records of the operator in the order of the tables. Of two records of one case in one mode on one machine
// the one of the present sources counts, then the later path.
std::vector<const Record*> choose_records(const std::vector<Record>& records,
                                          std::string_view operator_name) {
  std::vector<const Record*> chosen;
  for (const Record& record : records) {
    if (record.operator_name != operator_name) continue;
    const auto at = std::find_if(chosen.begin(), chosen.end(), [&record](const Record* other) {
      return other->gpu == record.gpu && other->machine == record.machine &&
             other->case_name == record.case_name && other->mode == record.mode;
    });
    if (at == chosen.end()) {
      chosen.push_back(&record);
    } else if (!stale(record) || stale(**at)) {
      *at = &record;
    }
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const Record* x, const Record* y) {
    if (x->gpu != y->gpu) return x->gpu < y->gpu;
    return x->read_bytes + x->write_bytes > y->read_bytes + y->write_bytes;
  });
  return chosen;
}

}  // namespace

Result<std::vector<Record>> read_records(const std::string& root, SourceTable present) {
  std::vector<fs::path> files;
  std::error_code error;
  const fs::path results = fs::path(root) / "results";
  for (fs::recursive_directory_iterator at(results, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".json") files.push_back(at->path());
  }
  if (error && fs::exists(results)) {
    return io_error(fmt::format("cannot read {}: {}", results.string(), error.message()));
  }
  std::sort(files.begin(), files.end());
  std::vector<Record> records;
  for (const fs::path& file : files) {
    ROOFTILE_TRY(read_file(file, file.lexically_relative(root).string(), present, records));
  }
  return records;
}

std::string operator_tables(const std::vector<Record>& records, std::string_view operator_name) {
  std::string text;
  for (const Record* record : choose_records(records, operator_name)) {
    text += (text.empty() ? "" : "\n") + record_table(*record);
  }
  if (text.empty()) return fmt::format(fmt::runtime(kNoRecord), operator_name);
  return "The rung in bold is the one that the library chooses; of bound: share of the streaming rate of the "
         "same "
         "bytes\nin the same run; above 1 against the peer is faster than it.\n\n" +
         text;
}

std::string summary_table(const std::vector<Record>& records, const std::vector<std::string>& operators) {
  std::string text;
  for (const std::string& op : operators) {
    for (const Record* record : choose_records(records, op)) {
      const auto row = std::find_if(record->rows.begin(), record->rows.end(),
                                    [](const RecordRow& r) { return r.chosen && r.timed; });
      if (row == record->rows.end()) continue;
      text += fmt::format(
          "| [{0}](rooftile/ops/{0}/README.md){1} | {2} | {3}, {4} | {5} | {6}{7} | {8} | {9} |\n", op,
          stale(*record) ? " (stale)" : "", cell(record->case_name), cell(record->machine), record->mode,
          cell(row->rung), time_text(row->median_us), row->steady ? "" : " (insufficient)",
          row->bound_fraction > 0 ? fmt::format("{:.3f}", row->bound_fraction) : "",
          row->ratio > 0 ? fmt::format("{:.3f} {} ({})", row->ratio, row->verdict, cell(row->peer)) : "");
    }
  }
  if (text.empty()) return "No record yet.\n";
  return "| operator | case | machine, mode | rung | time | of bound | vs peer "
         "|\n|---|---|---|---|--:|--:|--:|\n" +
         text;
}

Result<std::string> replace_generated(std::string_view text, std::string_view name,
                                      std::string_view generated) {
  const std::string marker = fmt::format("<!-- generated: {} -->\n", name);
  const std::size_t start = text.find(marker);
  if (start == std::string_view::npos) {
    return invalid_argument(fmt::format(
        "there is no line '<!-- generated: {} -->': add it, and '{}' after it", name, kEndMarker));
  }
  const std::size_t first = start + marker.size();
  if (text.find(marker, first) != std::string_view::npos) {
    return invalid_argument(fmt::format("'<!-- generated: {} -->' stands twice: keep one", name));
  }
  const std::size_t last = text.find(kEndMarker, first);
  if (last == std::string_view::npos ||
      text.substr(first, last - first).find("<!-- generated:") != std::string_view::npos) {
    return invalid_argument(
        fmt::format("'<!-- generated: {} -->' has no '{}' after it: add it", name, kEndMarker));
  }
  return fmt::format("{}{}{}", text.substr(0, first), generated, text.substr(last));
}

}  // namespace rooftile::lab
