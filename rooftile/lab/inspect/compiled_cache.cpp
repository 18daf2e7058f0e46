#include "rooftile/lab/inspect/compiled_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include "rooftile/lab/base/write_file.h"

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Raised when the manifest changes: older entries are then made again.
constexpr int kManifestVersion = 1;

std::optional<std::string> read_file(const fs::path& path) {
  std::ostringstream text;
  std::ifstream file(path, std::ios::binary);
  text << file.rdbuf();
  if (!file) return std::nullopt;
  return text.str();
}

// FNV-1a, 64 bits: tells a changed file from an unchanged one, and guards against nobody.
std::string digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

// The files behind the colon of make's rule; a \ goes on
// in the next line, and stands before a blank in a name.
std::vector<std::string> prerequisites(const std::string& rule) {
  std::vector<std::string> files;
  std::string name;
  const auto end_name = [&] {
    if (!name.empty()) files.push_back(std::move(name));
    name.clear();
  };
  const std::size_t colon = rule.find(": ");
  for (std::size_t i = colon == std::string::npos ? rule.size() : colon + 1; i < rule.size(); ++i) {
    const bool escaped = rule[i] == '\\' && i + 1 < rule.size();
    if (escaped && rule[i + 1] == ' ') {
      name += rule[++i];
    } else if (rule[i] == ' ' || rule[i] == '\n' || escaped) {
      end_name();
    } else {
      name += rule[i];
    }
  }
  end_name();
  return files;
}

bool is_same(const Json& file) {
  const std::optional<std::string> text = read_file(file.at("path").get<std::string>());
  return text && file.at("digest") == digest(*text);
}

}  // namespace

CompiledCache::CompiledCache(const fs::path& folder, const std::string& name)
    : cubin_(folder / (name + ".cubin")), manifest_(folder / (name + ".json")) {}

std::optional<std::string> CompiledCache::find(const std::string& recipe) const {
  const std::optional<std::string> text = read_file(manifest_);
  if (!text) return std::nullopt;
  try {
    const Json manifest = Json::parse(*text);
    if (manifest.at("version") != kManifestVersion || manifest.at("recipe") != recipe) return std::nullopt;
    const std::optional<std::string> cubin = read_file(cubin_);
    if (!cubin || manifest.at("cubin") != digest(*cubin)) return std::nullopt;
    const Json& files = manifest.at("files");
    if (!std::all_of(files.begin(), files.end(), is_same)) return std::nullopt;
    return manifest.at("report").get<std::string>();
  } catch (const Json::exception&) {
    return std::nullopt;  // damaged: made again
  }
}

Status CompiledCache::keep(const std::string& recipe, const std::string& cubin_file,
                           const std::string& rule_file, const std::string& report) const {
  const std::optional<std::string> cubin = read_file(cubin_file);
  const std::optional<std::string> rule = read_file(rule_file);
  if (!cubin || !rule) return io_error(fmt::format("the compiler has not written {}", cubin_file));
  Json files = Json::array();
  for (const std::string& path : prerequisites(*rule)) {
    // One that cannot be read now matches nothing later: the entry is not used.
    const std::optional<std::string> text = read_file(path);
    files.push_back({{"path", path}, {"digest", text ? digest(*text) : ""}});
  }
  std::error_code error;
  fs::rename(cubin_file, cubin_, error);
  if (error) return io_error(fmt::format("cannot write {}: {}", cubin_.string(), error.message()));
  const Json manifest = {{"version", kManifestVersion},
                         {"recipe", recipe},
                         {"cubin", digest(*cubin)},
                         {"files", files},
                         {"report", report}};
  return write_file(manifest_.string(), manifest.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace rooftile::lab
