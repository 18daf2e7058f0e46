#include "cli/output_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "rooftile/core/npy.h"
#include "rooftile/lab/base/write_file.h"

namespace rooftile::cli {
namespace {

namespace fs = std::filesystem;

// A file on its way to its place.
struct Temporary {
  std::string path;
  std::string target;
};

Status write_beside(const TensorFile& file, const Temporary& temporary) {
  struct stat before {};
  const bool exists = ::stat(temporary.target.c_str(), &before) == 0;
  // A file would take the place of a device such as /dev/null.
  if (exists && !S_ISREG(before.st_mode))
    return io_error(
        fmt::format("{}: it is there and not a regular file: give the path of a .npy file", file.path));
  if (Status status = write_npy(temporary.path, file.tensor->view()); !status.ok()) {
    std::string rule(status.rule());
    if (rule.starts_with(temporary.path)) rule.replace(0, temporary.path.size(), file.path);
    return Status::error(status.code(), rule);
  }
  if (exists) (void)::chmod(temporary.path.c_str(), before.st_mode & 07777);
  return {};
}

}  // namespace

std::string target_of(const std::string& path) {
  fs::path target = path;
  std::error_code error;
  for (int links = 0; links < 40 && fs::is_symlink(target, error); ++links) {
    const fs::path next = fs::read_symlink(target, error);
    if (error) break;
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target.string();
}

std::string place_of(const std::string& path) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(fs::absolute(target_of(path), error), error);
  return error ? target_of(path) : place.string();
}

std::string why_not_writable(const std::string& path) {
  const std::string target = target_of(path);
  struct stat there {};
  const bool exists = ::stat(target.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) return fmt::format("'{}' is a folder: name a file in it", path);
  if (exists && ::access(target.c_str(), W_OK) != 0)
    return fmt::format("'{}' cannot be written: {}", path, std::strerror(errno));
  if (exists && !S_ISREG(there.st_mode)) return {};
  const fs::path parent = fs::path(target).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fmt::format("'{}' cannot be made: its folder: {}", path, std::strerror(errno));
  return {};
}

Status write_tensors(const std::vector<TensorFile>& files) {
  const lab::SignalsHeld held;
  std::vector<Temporary> written;
  Status status;
  for (const TensorFile& file : files) {
    const std::string target = target_of(file.path);
    const Temporary temporary = {fmt::format("{}.{}.new", target, ::getpid()), target};
    status = write_beside(file, temporary);
    if (!status.ok()) break;
    written.push_back(temporary);
  }
  for (const Temporary& temporary : written) {
    if (status.ok() && std::rename(temporary.path.c_str(), temporary.target.c_str()) != 0)
      status = io_error(fmt::format("cannot write '{}': {}", temporary.target, std::strerror(errno)));
    if (!status.ok()) (void)::unlink(temporary.path.c_str());
  }
  return status;
}

}  // namespace rooftile::cli
