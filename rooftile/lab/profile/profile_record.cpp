#include "rooftile/lab/profile/profile_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "rooftile/lab/base/build_info.h"
#include "rooftile/lab/base/record_layout.h"

namespace rooftile::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

std::string commit_text() {
  return fmt::format("{}{}", build_info().commit, build_info().dirty ? "-dirty" : "");
}

Json known(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

// What decides counters: not how times are taken.
Json sources_json(const Profile& profile) {
  Json json = Json::object();
  for (const char* part : {"kernel", "plan", "flags"})
    json[part] = find_digest(present_sources(), profile.operator_name, profile.rung, part);
  return json;
}

bool is_compared(const std::string& metric) {
  return ("," + counter_metrics() + ",").find("," + metric + ",") != std::string::npos;
}

Json measured_json(const Profile& profile, const std::string& command, bool compared_only) {
  if (!profile.measured.json.empty()) return Json::parse(profile.measured.json);
  Json json = {{"command", command},
               {"commit", commit_text()},
               {"sources", sources_json(profile)},
               {"launch", Json::parse(launch_json(profile.measured.launch))}};
  Json kernels = Json::array();
  for (const NcuKernel& kernel : profile.measured.kernels) {
    Json metrics = Json::object();
    for (const auto& [name, value] : kernel.metrics) {
      if (!compared_only || is_compared(name)) metrics[name] = value;
    }
    kernels.push_back({{"name", kernel.name},
                       {"grid", kernel.grid},
                       {"block", kernel.block},
                       {"metrics", std::move(metrics)}});
  }
  json["kernels"] = std::move(kernels);
  return json;
}

Json simulated_json(const Profile& profile) {
  if (!profile.simulation)
    return {{"case", nullptr}, {"same_case", false}, {"reason", profile.no_simulation}};
  return {{"case", case_id(profile.simulation->the_case)},
          {"same_case", profile.same_case},
          {"commit", commit_text()},
          {"reason", ""}};
}

NcuKernel read_kernel(const Json& json) {
  NcuKernel kernel;
  kernel.name = json.at("name").get<std::string>();
  kernel.grid = json.at("grid").get<std::string>();
  kernel.block = json.at("block").get<std::string>();
  for (const auto& [name, value] : json.at("metrics").items()) kernel.metrics[name] = value.get<double>();
  return kernel;
}

std::optional<double> read_value(const Json& json) {
  return json.is_number() ? std::optional(json.get<double>()) : std::nullopt;
}

Result<RecordedProfile> read_profile(const Json& json) {
  RecordedProfile profile;
  profile.operator_name = json.at("operator").get<std::string>();
  profile.rung = json.at("rung").get<std::string>();
  const Json& measured = json.at("measured");
  ROOFTILE_TRY_ASSIGN(profile.measured.launch, parse_launch(measured.at("launch").dump()));
  for (const Json& kernel : measured.at("kernels")) profile.measured.kernels.push_back(read_kernel(kernel));
  profile.measured.json = measured.dump();
  profile.command = measured.at("command").get<std::string>();
  profile.commit = measured.at("commit").get<std::string>();
  const Json sources = measured.value("sources", Json::object());
  for (const auto& [part, digest] : sources.items())
    profile.sources.push_back({part, digest.get<std::string>()});
  const Json& simulated = json.at("simulated");
  if (simulated.at("case").is_string()) profile.simulated_case = simulated.at("case").get<std::string>();
  profile.same_case = simulated.at("same_case").get<bool>();
  for (const Json& counter : json.at("counters")) {
    profile.counters.push_back({counter.at("name").get<std::string>(), read_value(counter.at("measured")),
                                read_value(counter.at("simulated"))});
  }
  return profile;
}

Json profile_json(const Profile& profile, const std::string& command, bool compared_only) {
  Json counters = Json::array();
  for (const Counter& counter : profile.counters) {
    counters.push_back({{"name", counter.name},
                        {"measured", known(counter.measured)},
                        {"simulated", known(counter.simulated)},
                        {"deviation", profile.same_case ? known(counter.deviation()) : Json(nullptr)}});
  }
  return {{"operator", profile.operator_name},
          {"rung", profile.rung},
          {"measured", measured_json(profile, command, compared_only)},
          {"simulated", simulated_json(profile)},
          {"counters", std::move(counters)}};
}

}  // namespace

std::string profiles_json(const std::vector<Profile>& profiles, const std::vector<SkippedProfile>& skipped,
                          const std::string& command, bool compared_only) {
  Json list = Json::array();
  for (const Profile& profile : profiles) list.push_back(profile_json(profile, command, compared_only));
  Json left_out = Json::array();
  for (const SkippedProfile& skip : skipped)
    left_out.push_back({{"operator", skip.operator_name}, {"rung", skip.rung}, {"reason", skip.reason}});
  const Json json = {{"schema", kSchema},
                     {"command", command},
                     {"commit", commit_text()},
                     {"profiles", std::move(list)},
                     {"skipped", std::move(left_out)}};
  return record_layout(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Result<ProfileRecord> parse_profiles(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("schema", Json()) != kSchema) {
    return io_error("not a record of profiles, schema 1");
  }
  ProfileRecord record;
  try {
    for (const Json& entry : json.at("profiles")) {
      ROOFTILE_TRY_ASSIGN(RecordedProfile profile, read_profile(entry));
      record.profiles.push_back(std::move(profile));
    }
    for (const Json& skip : json.at("skipped")) {
      record.skipped.push_back({skip.at("operator").get<std::string>(), skip.at("rung").get<std::string>(),
                                skip.at("reason").get<std::string>()});
    }
  } catch (const Json::exception& error) {
    return io_error(fmt::format("not a record of profiles, schema 1: {}", error.what()));
  }
  return record;
}

}  // namespace rooftile::lab
