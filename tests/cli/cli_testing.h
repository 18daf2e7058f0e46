// The built program as a subprocess, with a folder of its own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace rooftile::cli_testing {

namespace fs = std::filesystem;

struct Outcome {
  int code = -1;  // 128 + the signal where it died of one
  std::string out;
  std::string err;
};

inline std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// A program that CMake built; the environment may name another one.
inline const char* program() {
  const char* path = std::getenv("ROOFTILE_CLI_PATH");
  return path != nullptr ? path : ROOFTILE_CLI_PATH;
}

// Of `rooftile sim`: builds with sanitizers have no instrumented kernels.
inline bool lacks_instrumented_kernels(const Outcome& outcome) {
  return outcome.code == 3 && outcome.err.find("no instrumented kernels") != std::string::npos;
}

class CliTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "rooftile_cli_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    // What the program keeps between runs stays among the files of this test.
    ASSERT_EQ(setenv("XDG_CACHE_HOME", path("cache").c_str(), 1), 0);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  Outcome run(std::vector<std::string> args) const { return run_into(path("stdout.txt"), std::move(args)); }
  Outcome run_into(const std::string& out, std::vector<std::string> args) const {
    const std::string err = path("stderr.txt");
    std::vector<char*> argv = {const_cast<char*>("rooftile")};
    for (std::string& arg : args) argv.push_back(arg.data());
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
      dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
      execv(program(), argv.data());
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            fs::is_regular_file(out) ? read_file(out) : "", read_file(err)};
  }

  // One line on stderr, nothing on stdout, and the words that help.
  void expect_error(int code, const std::string& words, const std::vector<std::string>& args) const {
    std::string call;
    for (const std::string& arg : args) call += " " + arg;
    const Outcome outcome = run(args);
    EXPECT_EQ(outcome.code, code) << call << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << call;
    EXPECT_EQ(outcome.err.find("rooftile: "), 0u) << call << "\n" << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << call << "\n" << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << call << "\n"
                                                          << outcome.err << "\nlacks: " << words;
  }

  fs::path folder_;
};

}  // namespace rooftile::cli_testing
