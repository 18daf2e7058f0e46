#include "rooftile/lab/base/subprocess.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>

#include "rooftile/lab/base/spawn.h"

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kGrace{2};  // between asking a process to end and ending it

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
// Without a name: gone when it is closed.
using TemporaryFile = std::unique_ptr<std::FILE, CloseFile>;

std::string content_of(std::FILE* file) {
  std::string text;
  std::rewind(file);
  char part[1 << 14];
  for (std::size_t count = 0; (count = std::fread(part, 1, sizeof(part), file)) > 0;)
    text.append(part, count);
  return text;
}

// The signals that end this program, and that of a child's end, wait to be looked at: none is lost between a
// look at the child and the sleep.
class WatchedSignals {
 public:
  WatchedSignals() {
    sigemptyset(&watched_);
    sigaddset(&watched_, SIGCHLD);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction present {};
      // What is ignored (nohup) stays ignored, here and by the child.
      if (sigaction(signal, nullptr, &present) == 0 && present.sa_handler != SIG_IGN)
        sigaddset(&watched_, signal);
    }
    sigprocmask(SIG_BLOCK, &watched_, &before_);
  }
  WatchedSignals(const WatchedSignals&) = delete;
  WatchedSignals& operator=(const WatchedSignals&) = delete;
  ~WatchedSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

  [[nodiscard]] const sigset_t& before() const { return before_; }

  // Sleeps until a signal or the deadline; the signal, where it asks this program to end.
  [[nodiscard]] std::optional<int> sleep_until(Clock::time_point deadline) const {
    const auto left = std::max(deadline - Clock::now(), Clock::duration::zero());
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
    const timespec span{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    const int signal = sigtimedwait(&watched_, nullptr, &span);
    return signal > 0 && signal != SIGCHLD ? std::optional(signal) : std::nullopt;
  }

 private:
  sigset_t watched_{};
  sigset_t before_{};
};

// In a process group of its own, so that it can be ended with all that it starts.
int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

Result<ProcessResult> run_process(const std::vector<std::string>& argv, double timeout_s) {
  const TemporaryFile out(std::tmpfile());
  const TemporaryFile err(std::tmpfile());
  if (!out || !err) return io_error(fmt::format("cannot make a temporary file: {}", std::strerror(errno)));
  ProcessResult result;
  std::optional<int> told_to_end;
  {
    const WatchedSignals signals;
    ROOFTILE_TRY_ASSIGN(const pid_t child,
                        spawn(argv, {-1, fileno(out.get()), fileno(err.get())}, &signals.before()));
    auto deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s));
    int status = 0;
    for (bool asked = false; waitpid(child, &status, WNOHANG) == 0;) {
      const std::optional<int> signal = signals.sleep_until(deadline);
      if (signal) told_to_end = signal;
      const bool late = Clock::now() >= deadline;
      if (!signal && !late) continue;
      result.timed_out = result.timed_out || (late && !told_to_end);
      kill(-child, asked ? SIGKILL : SIGTERM);
      asked = true;
      deadline = Clock::now() + kGrace;
    }
    kill(-child, SIGKILL);  // what it may have left behind
    result.exit_code = exit_code_of(status);
  }
  if (told_to_end) std::raise(*told_to_end);
  result.out = content_of(out.get());
  result.err = content_of(err.get());
  return result;
}

std::string find_program(const std::string& name, const std::vector<std::string>& folders) {
  std::vector<std::string> places;
  const char* path = std::getenv("PATH");
  std::istringstream list(path == nullptr ? "" : path);
  for (std::string folder; std::getline(list, folder, ':');) places.push_back(folder.empty() ? "." : folder);
  places.insert(places.end(), folders.begin(), folders.end());
  for (const std::string& folder : places) {
    const fs::path file = fs::path(folder) / name;
    std::error_code error;
    if (fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0) return file.string();
  }
  return "";
}

Result<std::string> own_path() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) return io_error(fmt::format("cannot tell where this program is: {}", error.message()));
  return path.string();
}

}  // namespace rooftile::lab
