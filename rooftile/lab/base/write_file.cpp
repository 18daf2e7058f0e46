#include "rooftile/lab/base/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace rooftile::lab {
namespace {

Status failure(const std::string& path, const char* what, int error) {
  return io_error("cannot " + std::string(what) + " '" + path + "': " + std::strerror(error));
}

Status write_all(int file, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure(path, "write", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(file) != 0 && errno != EINVAL) return failure(path, "write", errno);
  return {};
}

}  // namespace

SignalsHeld::SignalsHeld() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, signal);
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}
SignalsHeld::~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

Status write_file(const std::string& path, std::string_view text) {
  const SignalsHeld held;
  // A device or a pipe (/dev/stdout, /dev/null) cannot be replaced: it is written in place.
  struct stat existing {};
  if (::stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode)) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return failure(path, "write", errno);
    Status status = write_all(file, path, text);
    ::close(file);
    return status;
  }
  std::string temporary = path + ".XXXXXX";
  const int file = ::mkstemp(temporary.data());
  if (file < 0) return failure(path, "write", errno);
  ::fchmod(file, 0644);
  Status status = write_all(file, path, text);
  if (::close(file) != 0 && status.ok()) status = failure(path, "write", errno);
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0)
    status = failure(path, "write", errno);
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

}  // namespace rooftile::lab
