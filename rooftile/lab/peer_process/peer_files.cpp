#include "rooftile/lab/peer_process/peer_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;

constexpr double kRoomToSpare = 2.0;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

bool has_room(const fs::path& folder, double bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  return !error && static_cast<double>(space.available) > kRoomToSpare * bytes;
}

Status failed(std::string_view what, const std::string& name) {
  return io_error(fmt::format("cannot {} the file {} for the peer's process: {}", what, name,
                              errno == 0 ? "it has another size" : std::strerror(errno)));
}

}  // namespace

Result<PeerFiles> PeerFiles::create(double bytes) {
  const char* const chosen = std::getenv("TMPDIR");
  fs::path parent = "/dev/shm";
  if (!has_room(parent, bytes)) parent = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  std::string folder = (parent / "rooftile_peer_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    return io_error(fmt::format("cannot make a folder in {}: {}; $TMPDIR names another", parent.string(),
                                std::strerror(errno)));
  return PeerFiles(std::move(folder));
}

PeerFiles::~PeerFiles() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Status PeerFiles::write(const std::string& name, const void* data, std::size_t bytes) const {
  errno = 0;
  File file(std::fopen((fs::path(folder_) / name).c_str(), "wb"));
  if (!file || std::fwrite(data, 1, bytes, file.get()) != bytes || std::fclose(file.release()) != 0)
    return failed("write", name);
  return {};
}

Status PeerFiles::take(const std::string& name, void* data, std::size_t bytes) const {
  errno = 0;
  const File file(std::fopen((fs::path(folder_) / name).c_str(), "rb"));
  if (!file || std::fread(data, 1, bytes, file.get()) != bytes || std::fgetc(file.get()) != EOF)
    return failed("read", name);
  remove(name);
  return {};
}

void PeerFiles::remove(const std::string& name) const {
  std::error_code ignored;
  fs::remove(fs::path(folder_) / name, ignored);
}

}  // namespace rooftile::lab
