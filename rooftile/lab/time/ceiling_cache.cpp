// The ceilings of this machine between runs of the program.
#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "rooftile/lab/base/cache_folder.h"
#include "rooftile/lab/base/machine.h"
#include "rooftile/lab/base/write_file.h"
#include "rooftile/lab/time/ceilings.h"

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Raised when a ceiling is added or measured in another way: older caches are then measured again.
constexpr int kCacheVersion = 3;

// "NVIDIA H200" as "nvidia-h200".
std::string file_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) != 0 || (c == '.' && !word.empty())) {
      word += static_cast<char>(std::tolower(u));
    } else if (!word.empty() && word.back() != '-') {
      word += '-';
    }
  }
  while (!word.empty() && word.back() == '-') word.pop_back();
  return word.empty() ? "unknown" : word;
}

bool is_amount(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_number() && std::isfinite(at->get<double>()) && at->get<double>() >= 0.0;
}

bool is_ceiling(const Json& json) {
  if (!json.is_object()) return false;
  for (const char* key : {"name", "unit", "reason"}) {
    if (!json.contains(key) || !json[key].is_string()) return false;
  }
  if (!is_amount(json, "value") || !is_amount(json, "work") || !is_amount(json, "datasheet")) return false;
  return (json["value"].get<double>() > 0.0) == json["reason"].get<std::string>().empty();
}

std::string driver_of(Device device, const DeviceProperties& properties) {
  if (device.kind == DeviceKind::cuda) return describe_machine(device).driver;
  return fmt::format("{} threads", properties.multiprocessors);
}

}  // namespace

std::string ceilings_path(std::string_view device_name, std::string_view driver) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return "";
  return (folder / fmt::format("ceilings-{}-{}.json", file_word(device_name), file_word(driver))).string();
}

std::string ceilings_text(std::string_view device_name, std::string_view driver,
                          const std::vector<Ceiling>& ceilings) {
  Json list = Json::array();
  for (const Ceiling& c : ceilings) {
    list.push_back({{"name", c.name},
                    {"unit", c.unit},
                    {"value", c.value},
                    {"work", c.work},
                    {"datasheet", c.datasheet},
                    {"reason", c.reason}});
  }
  const Json json = {
      {"version", kCacheVersion}, {"device", device_name}, {"driver", driver}, {"ceilings", list}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::vector<Ceiling>> parse_ceilings(std::string_view text, std::string_view device_name,
                                            std::string_view driver) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("version") || json["version"] != kCacheVersion ||
      !json.contains("device") || json["device"] != std::string(device_name) || !json.contains("driver") ||
      json["driver"] != std::string(driver) || !json.contains("ceilings") || !json["ceilings"].is_array() ||
      json["ceilings"].empty()) {
    return io_error("the cached ceilings are not of this device, driver and version");
  }
  std::vector<Ceiling> ceilings;
  for (const Json& c : json["ceilings"]) {
    if (!is_ceiling(c)) return io_error("the cached ceilings are damaged");
    ceilings.push_back({c["name"], c["unit"], c["value"], c["work"], c["datasheet"], c["reason"]});
  }
  return ceilings;
}

Result<CachedCeilings> cached_ceilings(Device device, bool remeasure) {
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  const std::string driver = driver_of(device, *properties);
  CachedCeilings result;
  result.path = ceilings_path(properties->name, driver);
  if (!remeasure && !result.path.empty()) {
    std::ostringstream text;
    text << std::ifstream(result.path, std::ios::binary).rdbuf();
    // Whatever is wrong with the file: it is measured again and written anew.
    if (Result<std::vector<Ceiling>> known = parse_ceilings(text.str(), properties->name, driver);
        known.ok()) {
      result.ceilings = std::move(*known);
      return result;
    }
  }
  ROOFTILE_TRY_ASSIGN(result.ceilings, measure_ceilings(device));
  result.measured = true;
  if (result.path.empty()) {
    result.problem = "not kept: neither XDG_CACHE_HOME nor HOME names a folder";
    return result;
  }
  std::error_code error;
  fs::create_directories(fs::path(result.path).parent_path(), error);
  const Status written =
      error ? io_error(fmt::format("cannot create the folder of '{}': {}", result.path, error.message()))
            : write_file(result.path, ceilings_text(properties->name, driver, result.ceilings));
  if (!written.ok()) result.problem = "not kept: " + written.sentence();
  return result;
}

}  // namespace rooftile::lab
