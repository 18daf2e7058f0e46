#include "rooftile/lab/ladder/ladder_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "rooftile/core/device.h"
#include "rooftile/lab/base/record_layout.h"
#include "rooftile/lab/time/statistics.h"

namespace rooftile::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kBootstrapSeed = 1;

Status not_a_record(std::string_view why) {
  return io_error(fmt::format("not a ladder of schema 1 or 2: {}", why));
}

bool is_result(const Json& json) {
  return json.is_object() && json.contains("case") && json["case"].is_object() && json.contains("rows") &&
         json["rows"].is_array();
}

Result<Json> parse_ladder(std::string_view text, std::string_view operator_name) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return not_a_record("no JSON object");
  const Json schema = json.value("schema", Json());
  if ((schema != 1 && schema != 2) || !json.contains("results") || !json["results"].is_array() ||
      !std::all_of(json["results"].begin(), json["results"].end(), is_result)) {
    return not_a_record("schema, results, or the case or rows of one are missing");
  }
  if (json.value("operator", Json()) != operator_name) {
    return not_a_record(fmt::format("its operator is not {}", operator_name));
  }
  return json;
}

// What must agree for two results to be of one thing.
std::string identity(const Json& result) {
  Json key = Json::array();
  for (const char* name : {"shape", "dtype", "params", "fill", "offset", "seed"}) {
    key.push_back(result["case"].value(name, Json()));
  }
  for (const char* name : {"device", "mode"}) key.push_back(result.value(name, Json()));
  return key.dump();
}

bool same_case(const Json& json, const Case& c) {
  Json shape = Json::object();
  for (const auto& [key, extent] : c.shape) shape[key] = extent;
  Json params = Json::object();
  for (const auto& [name, value] : c.params.values()) {
    params[name] = std::visit([](const auto& v) { return Json(v); }, plain_value(value));
  }
  // Plain JSON compares objects whatever the order of their keys.
  const auto equal = [](const Json& x, const Json& y) { return nlohmann::json(x) == nlohmann::json(y); };
  return equal(json.value("shape", Json()), shape) && json.value("dtype", Json()) == to_string(c.dtype) &&
         equal(json.value("params", Json::object()), params);
}

Result<RowTime> read_time(const Json& json, TimeMode mode) {
  if (!json.is_object() || !json.contains("samples") || !json["samples"].is_array()) {
    return not_a_record("a peer's time_us holds no samples");
  }
  RowTime time;
  time.mode = mode;
  for (const Json& sample : json["samples"]) {
    if (!sample.is_number()) return not_a_record("a sample is no number");
    time.samples_us.push_back(sample.get<double>());
  }
  time.summary = summarize(time.samples_us);
  time.steady = !too_wide(time.samples_us, kBootstrapSeed);
  if (!(time.summary.median > 0.0)) return not_a_record("a peer's time is not above 0");
  return time;
}

Result<LadderRow> read_peer(const Json& json, TimeMode mode) {
  LadderRow row;
  const auto text = [&json](const char* key) {
    const Json value = json.value(key, Json());
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  row.rung = text("rung");
  row.kind = "peer";
  row.reason = text("reason");
  row.other_process = true;
  const Json sources = json.value("sources", Json());
  if (sources.is_object() && sources.value("peer", Json()).is_string()) row.other_source = sources["peer"];
  row.verified = json.value("verified", Json()) == true;
  if (row.rung.empty()) return not_a_record("a peer has no name");
  if (json.value("time_us", Json()).is_null()) {
    row.status = RowStatus::skipped;
    return row;
  }
  if (!row.verified) return not_a_record(fmt::format("{} has a time, but was not verified", row.rung));
  ROOFTILE_TRY_ASSIGN(row.time, read_time(json["time_us"], mode));
  if (!row.time->steady) row.verdict = Verdict::insufficient;
  return row;
}

void rate(LadderRow& row, const LadderResult& result) {
  if (!row.time) return;
  const double median_us = row.time->summary.median;
  row.gbps = (result.read_bytes + result.write_bytes) / median_us * 1e-3;
  row.tflops = result.flops / median_us * 1e-6;
  for (const LadderRow& bound : result.rows) {
    if (bound.kind == "bound" && bound.time) row.bound_fraction = bound.time->summary.median / median_us;
  }
}

// Empty where it is not known.
std::string gpu_name(Device device) {
  const Result<const DeviceProperties*> properties = device_properties(device);
  return properties.ok() ? (*properties)->name : std::string();
}

}  // namespace

Status check_ladder_record(std::string_view text, std::string_view operator_name) {
  return parse_ladder(text, operator_name).status();
}

Result<std::string> merge_ladders(std::string_view kept, std::string_view fresh) {
  Json merged = Json::parse(fresh, nullptr, false);
  if (!merged.is_object()) return internal_error("the new ladder is no JSON");
  ROOFTILE_TRY_ASSIGN(Json old, parse_ladder(kept, merged["operator"].get<std::string>()));
  Json added = std::move(merged["results"]);
  Json results = std::move(old["results"]);
  for (Json& result : results) {
    if (!result.contains("machine") && old["machine"] != merged["machine"])
      result["machine"] = old["machine"];
    // Where the record is older than results that say so themselves.
    if (!result.contains("commit") && old.contains("commit")) result["commit"] = old["commit"];
  }
  for (Json& result : added) {
    const auto at = std::find_if(results.begin(), results.end(), [&result](const Json& other) {
      return identity(other) == identity(result);
    });
    if (at == results.end())
      results.push_back(std::move(result));
    else
      *at = std::move(result);
  }
  merged["results"] = std::move(results);
  return record_layout(merged.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Result<int> add_peer_rows(LadderReport& report, std::string_view text) {
  ROOFTILE_TRY_ASSIGN(const Json json, parse_ladder(text, report.operator_name));
  int added = 0;
  for (LadderResult& result : report.results) {
    if (result.device.kind != DeviceKind::cuda) continue;
    const std::string gpu = gpu_name(result.device);
    for (const Json& other : json["results"]) {
      if (!same_case(other["case"], result.the_case) ||
          other.value("mode", Json()) != to_string(result.mode)) {
        continue;
      }
      if (other.contains("gpu") && !gpu.empty() && other["gpu"] != gpu) continue;  // another machine's time
      for (const Json& row : other["rows"]) {
        if (!row.is_object() || row.value("kind", Json()) != "peer") continue;
        ROOFTILE_TRY_ASSIGN(LadderRow peer, read_peer(row, result.mode));
        rate(peer, result);
        result.rows.push_back(std::move(peer));
        ++added;
      }
    }
  }
  return added;
}

}  // namespace rooftile::lab
