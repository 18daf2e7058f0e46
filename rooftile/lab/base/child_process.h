// A program that is asked and answers, a line each: with a time limit, and never this program's end.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/core/status.h"

namespace rooftile::lab {

class ChildProcess {
 public:
  // Starts argv[0], a path, in a process group of its own. Its stdin ends when this program does.
  static Result<ChildProcess> start(const std::vector<std::string>& argv);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  // Closes its stdin; what has not ended after a short while is ended.
  ~ChildProcess();

  // Its next line after this one was written to it, both without their ends. Where it dies, or says nothing within the
  // limit, it is ended: that is the answer from then on.
  [[nodiscard]] Result<std::string> ask(std::string_view line, double limit_s);
  // Ends it, and this is why.
  Status give_up(std::string_view why);

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  ChildProcess() = default;
  [[nodiscard]] Status write(std::string_view line, double limit_s);
  [[nodiscard]] Result<std::string> read_line(double limit_s);
  // How it ended, and the last line that it wrote to stderr.
  [[nodiscard]] std::string last_words();
  void end();

  pid_t id_ = -1;
  int socket_ = -1;  // its stdin and its stdout
  std::unique_ptr<std::FILE, CloseFile> stderr_;
  std::string unread_;
  int exit_status_ = 0;
  Status broken_;
};

}  // namespace rooftile::lab
