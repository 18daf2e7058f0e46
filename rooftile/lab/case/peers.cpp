#include "rooftile/lab/case/peers.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "rooftile/core/device.h"

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHostPrefix = "rooftile_host_peers_";
constexpr std::string_view kPrefix = "rooftile_peers_";

std::vector<std::string> plugin_paths() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  std::vector<std::string> paths;
  for (fs::directory_iterator it(program.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if ((name.starts_with(kPrefix) || name.starts_with(kHostPrefix)) && name.ends_with(".so"))
      paths.push_back(it->path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The loader's message names the plugin by its whole path.
std::string without_folder(std::string message, const fs::path& path) {
  const std::string folder = path.parent_path().string() + "/";
  for (std::size_t at = 0; (at = message.find(folder, at)) != std::string::npos;) {
    message.erase(at, folder.size());
  }
  return message;
}

std::string load(const std::string& path, Registry& registry) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return why != nullptr ? without_folder(why, fs::path(path)) : "dlopen failed";
  }
  using Entry = void (*)(Registry*);
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "rooftile_register_peers"));
  if (entry == nullptr) return "has no function rooftile_register_peers";
  entry(&registry);
  return "";
}

}  // namespace

std::vector<PeerLibrary> load_peers(Registry& registry) {
  const Status gpu = cuda_availability();
  std::vector<PeerLibrary> libraries;
  for (const std::string& path : plugin_paths()) {
    const std::string name = fs::path(path).filename().string();
    const bool host = name.starts_with(kHostPrefix);
    libraries.push_back({name, host, host || gpu.ok() ? load(path, registry) : gpu.sentence()});
  }
  return libraries;
}

}  // namespace rooftile::lab
