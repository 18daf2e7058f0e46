#include "rooftile/lab/ladder/ladder_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "rooftile/lab/base/record_layout.h"

namespace rooftile::lab {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace rooftile::lab
