#include "rooftile/lab/ladder/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// What a record lacks is empty: the keys that tables need are checked by is_result().
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
  row.chosen = flag_of(json, "chosen");
  row.status = text_of(json, "status");
  row.reason = text_of(json, "reason");
  const Json& time = object_of(json, "time_us");
  row.median_us = number_of(time, "median");
  row.timed = row.median_us > 0.0;
  row.steady = text_of(time, "verdict") != "insufficient";
  row.gbps = number_of(json, "gbps");
  row.tflops = number_of(json, "tflops");
  row.bound_fraction = number_of(json, "bound_fraction");
  row.peer = text_of(json, "peer");
  row.ratio = number_of(object_of(json, "ratio_to_peer"), "median");
  row.verdict = text_of(json, "verdict");
  for (const auto& [part, digest] : object_of(json, "sources").items())
    row.sources.push_back({part, digest.is_string() ? digest.get<std::string>() : ""});
  return row;
}

RecordCase read_case(const Json& json) {
  RecordCase result;
  for (const auto& [key, value] : object_of(json, "shape").items()) {
    result.shape.emplace_back(key, value.is_number() ? value.get<std::int64_t>() : 0);
  }
  result.dtype = text_of(json, "dtype");
  for (const auto& [key, value] : object_of(json, "params").items()) {
    // As the command line has it: 3, where JSON writes 3.0.
    const bool is_real = value.is_number_float();
    result.params.emplace_back(key, value.is_string() ? value.get<std::string>()
                                    : is_real         ? to_string(ParamValue(value.get<double>()))
                                                      : value.dump());
  }
  result.fill = text_of(json, "fill");
  result.offset = static_cast<std::int64_t>(number_of(json, "offset"));
  return result;
}

bool is_result(const Json& json) {
  return json.is_object() && json.contains("case") && json["case"].is_object() && json.contains("rows") &&
         json["rows"].is_array();
}

Record read_result(const Json& file, const Json& result) {
  const Json& machine = object_of(result.contains("machine") ? result : file, "machine");
  const Json& the_case = result["case"];
  Record record;
  record.operator_name = text_of(file, "operator");
  record.the_case = read_case(the_case);
  record.mode = text_of(result, "mode");
  record.machine = text_of(machine, text_of(result, "device").starts_with("cuda") ? "gpu" : "cpu");
  record.commit = text_of(result, "commit");
  record.command = text_of(result, "command");
  record.read_bytes = number_of(the_case, "read_bytes");
  record.write_bytes = number_of(the_case, "write_bytes");
  record.flops = number_of(the_case, "flops");
  record.process_copy = number_of(object_of(result, "process_copy"), "median");
  if (const auto notes = result.find("notes"); notes != result.end() && notes->is_array()) {
    for (const Json& note : *notes) {
      if (note.is_string()) record.notes.push_back(note.get<std::string>());
    }
  }
  for (const Json& row : result["rows"]) {
    // In schema 1 peers of another process did not take turns.
    if (row.is_object() && !flag_of(row, "other_process")) record.rows.push_back(read_row(row));
  }
  return record;
}

// What only the simulator ran has no time to show.
bool has_times(const Record& record) {
  return std::any_of(record.rows.begin(), record.rows.end(),
                     [](const RecordRow& row) { return row.timed && row.is_ours(); });
}

// The records of one file; none where it is another command's.
Status read_file(const fs::path& file, const std::string& name, std::vector<Record>& records) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  const Json json = Json::parse(text.str(), nullptr, false);
  if (!json.is_object()) {
    return io_error(fmt::format("{} is not JSON: record it again, or remove it", name));
  }
  if (!json.contains("operator") || !json.contains("results")) return {};
  if ((number_of(json, "schema") != 1.0 && number_of(json, "schema") != 2.0) || !json["results"].is_array() ||
      !std::all_of(json["results"].begin(), json["results"].end(), is_result)) {
    return io_error(fmt::format("{} is not a ladder of schema 1 or 2: record it again, or remove it", name));
  }
  for (const Json& result : json["results"]) {
    Record record = read_result(json, result);
    record.path = name;
    record.gpu = file.parent_path().filename().string();
    if (has_times(record)) records.push_back(std::move(record));
  }
  return {};
}

}  // namespace

RecordCase record_case(const Case& c) {
  RecordCase result;
  result.shape.assign(c.shape.begin(), c.shape.end());
  result.dtype = to_string(c.dtype);
  for (const auto& [name, value] : c.params.values()) result.params.emplace_back(name, to_string(value));
  result.fill = to_string(c.fill);
  result.offset = c.offset;
  return result;
}

Result<std::vector<Record>> read_records(const std::string& root) {
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
    ROOFTILE_TRY(read_file(file, file.lexically_relative(root).string(), records));
  }
  return records;
}

void mark_stale(std::vector<Record>& records, const IsStale& is_stale) {
  for (Record& record : records) {
    for (RecordRow& row : record.rows) row.stale = is_stale(record, row);
  }
}

}  // namespace rooftile::lab
