#include "rooftile/lab/base/child_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>

#include "rooftile/lab/base/spawn.h"

namespace rooftile::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kGrace{2};        // for a process whose stdin has ended
constexpr std::chrono::seconds kLongestEnd{10};  // for one that was killed: a driver may hold it for good
constexpr std::chrono::milliseconds kLook{5};
constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr std::size_t kLongestWords = 300;

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// Whether the socket is ready before the deadline.
bool wait_for(int socket, short events, Clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{socket, events, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::clamp<long>(left + 1, 0, 1'000'000)));
    if (ready > 0) return true;
    if (ready == 0 && Clock::now() >= deadline) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// "/usr/lib/libx.so: no" as "libx.so: no": where a file stands is nobody's business in a record.
std::string without_folders(const std::string& text) {
  std::string kept;
  std::size_t word = 0;  // where the path that is being read starts in `kept`
  for (const char c : text) {
    if (c == '/') {
      kept.resize(word);
    } else {
      kept += c;
      if (std::strchr(" \t'\":=(,", c) != nullptr) word = kept.size();
    }
  }
  return kept;
}

std::string last_line(std::FILE* file) {
  std::array<char, 4096> end{};
  std::fseek(file, 0, SEEK_END);
  const long size = std::ftell(file);
  std::fseek(file, std::max(size - static_cast<long>(end.size()), 0L), SEEK_SET);
  std::string text(end.data(), std::fread(end.data(), 1, end.size(), file));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return without_folders(text.substr(text.rfind('\n') + 1)).substr(0, kLongestWords);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& argv) {
  ChildProcess child;
  child.stderr_.reset(std::tmpfile());
  if (!child.stderr_) return io_error(fmt::format("cannot make a temporary file: {}", std::strerror(errno)));
  std::array<int, 2> ends{};
  // A socket, not a pipe: writing to one whose other end is gone can be done without a signal.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return io_error(fmt::format("cannot make a socket: {}", std::strerror(errno)));
  child.socket_ = ends[0];
  const Result<pid_t> id = spawn(argv, {ends[1], ends[1], fileno(child.stderr_.get())});
  close(ends[1]);
  if (!id.ok()) return id.status();
  child.id_ = *id;
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : id_(std::exchange(other.id_, -1)),
      socket_(std::exchange(other.socket_, -1)),
      stderr_(std::move(other.stderr_)),
      unread_(std::move(other.unread_)),
      exit_status_(other.exit_status_),
      broken_(std::move(other.broken_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(socket_, other.socket_);
  std::swap(stderr_, other.stderr_);
  std::swap(unread_, other.unread_);
  std::swap(exit_status_, other.exit_status_);
  std::swap(broken_, other.broken_);
  return *this;
}

ChildProcess::~ChildProcess() { end(); }

void ChildProcess::end() {
  if (socket_ >= 0) close(std::exchange(socket_, -1));
  if (id_ < 0) return;
  const auto deadline = Clock::now() + kGrace;
  while (waitpid(id_, &exit_status_, WNOHANG) == 0) {
    if (Clock::now() >= deadline) kill(-id_, SIGKILL);
    if (Clock::now() >= deadline + kLongestEnd) break;
    const timespec pause{0, std::chrono::nanoseconds(kLook).count()};
    nanosleep(&pause, nullptr);
  }
  kill(-id_, SIGKILL);  // what it may have left behind
  id_ = -1;
}

std::string ChildProcess::last_words() {
  end();
  const std::string how = WIFSIGNALED(exit_status_) ? fmt::format("signal {}", WTERMSIG(exit_status_))
                                                    : fmt::format("exit code {}", WEXITSTATUS(exit_status_));
  const std::string words = last_line(stderr_.get());
  return words.empty() ? how : fmt::format("{}: {}", how, words);
}

Status ChildProcess::give_up(std::string_view why) {
  if (id_ >= 0) kill(-id_, SIGKILL);
  end();
  if (broken_.ok()) broken_ = unavailable(std::string(why));
  return broken_;
}

Result<std::string> ChildProcess::ask(std::string_view line, double limit_s) {
  if (!broken_.ok()) return broken_;
  ROOFTILE_TRY(write(line, limit_s));
  return read_line(limit_s);
}

Status ChildProcess::write(std::string_view line, double limit_s) {
  const std::string text = std::string(line) + "\n";
  const auto deadline = after(limit_s);
  for (std::size_t at = 0; at < text.size();) {
    if (!wait_for(socket_, POLLOUT, deadline))
      return give_up(fmt::format("the process read nothing for {:g} s", limit_s));
    const ssize_t count = send(socket_, text.data() + at, text.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      at += static_cast<std::size_t>(count);
    } else if (errno != EINTR && errno != EAGAIN) {
      return broken_ = unavailable(fmt::format("the process died ({})", last_words()));
    }
  }
  return {};
}

Result<std::string> ChildProcess::read_line(double limit_s) {
  const auto deadline = after(limit_s);
  std::array<char, 4096> part{};
  while (true) {
    if (const std::size_t end_of_line = unread_.find('\n'); end_of_line != std::string::npos) {
      std::string line = unread_.substr(0, end_of_line);
      unread_.erase(0, end_of_line + 1);
      return line;
    }
    if (unread_.size() > kLongestLine) return give_up("the process answered a line that does not end");
    if (!wait_for(socket_, POLLIN, deadline))
      return give_up(fmt::format("the process did not answer within {:g} s", limit_s));
    const ssize_t count = recv(socket_, part.data(), part.size(), 0);
    if (count > 0) {
      unread_.append(part.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return broken_ = unavailable(fmt::format("the process died ({})", last_words()));
    }
  }
}

}  // namespace rooftile::lab
