// The commands of `rooftile`, and what they share.
//
// Exit codes: 0 done; 1 a check failed; 2 the call or its input is wrong; 3 not possible on this machine.
// Every error is one line on stderr that starts with "rooftile: ".
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/lab/case/peers.h"
#include "rooftile/lab/ladder/ladder.h"

namespace rooftile::cli {

inline constexpr int kDone = 0;
inline constexpr int kCheckFailed = 1;
inline constexpr int kWrongCall = 2;
inline constexpr int kNotPossible = 3;

// Prints the line and returns the code that belongs to the status.
int report(const Status& status);
int report(int code, const std::string& line);

// What a run of the program knows.
struct Session {
  std::string command_line;  // as typed, for records
  Registry registry;
  int exit_code = kDone;  // of the command that ran

  // Finds the vendors' libraries at the first call; only commands that compare or list them ask.
  const std::vector<lab::PeerLibrary>& peers();

 private:
  std::optional<std::vector<lab::PeerLibrary>> peers_;
};

void add_list(CLI::App& app, Session& session);
void add_show(CLI::App& app, Session& session);
void add_ladder(CLI::App& app, Session& session);
void add_run(CLI::App& app, Session& session);
void add_inspect(CLI::App& app, Session& session);
void add_sim(CLI::App& app, Session& session);
void add_profile(CLI::App& app, Session& session);
void add_verify(CLI::App& app, Session& session);
void add_device(CLI::App& app, Session& session);
void add_verdicts(CLI::App& app, Session& session);
void add_table(CLI::App& app, Session& session);

// Options that name a case, as typed.
struct CaseOptions {
  std::vector<std::string> shape;
  std::string dtype;
  std::vector<std::string> args;
  std::string fill;
  std::string offset;
  std::string seed;
  bool in_place = false;
};
void add_case_options(CLI::App& command, CaseOptions& options);
[[nodiscard]] Result<lab::CaseRequest> parse_case_options(const CaseOptions& options);

using NameValues = std::vector<std::pair<std::string, std::string>>;
// "k=v" texts; with `split`, several in one text, divided by commas.
[[nodiscard]] Result<NameValues> parse_assignments(const std::vector<std::string>& texts, bool split,
                                                   const std::string& option, const std::string& example);

// A device that is here; StatusCode::unavailable with the reason where it is not.
[[nodiscard]] Result<Device> usable_device(const std::string& text);

// Rung names divided by commas; an "OP/" in front is dropped.
[[nodiscard]] std::vector<std::string> parse_rungs(const std::vector<std::string>& texts,
                                                   const std::string& op);

[[nodiscard]] Result<std::string> read_text(const std::string& path);

// Text to a file, or to stdout for "-".
[[nodiscard]] Status write_text(const std::string& path, const std::string& text);

}  // namespace rooftile::cli
