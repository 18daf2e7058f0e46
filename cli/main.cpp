#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string_view>

#include "cli/commands.h"
#include "cli/output_files.h"
#include "rooftile/lab/base/build_info.h"

namespace rooftile::cli {
namespace {

std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_./,=:^+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// What was asked for, as one would type it; where its record goes is left out.
std::string command_line(int argc, char** argv) {
  std::string line = "rooftile";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--append" || word.starts_with("--json=")) continue;
    if (word == "--json") {
      ++i;
    } else {
      line += " " + quoted(argv[i]);
    }
  }
  return line;
}

// What a wrong word was likely meant to be: ": did you mean 'ladder'?", or empty.
std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string near = nearest_name(word, candidates);
  return near.empty() ? "" : fmt::format(": did you mean '{}'?", near);
}

const CLI::App* find_command(const CLI::App& app, const std::string& name, std::vector<std::string>& names) {
  const CLI::App* found = nullptr;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
    if (command->get_name() == name) found = command;
  }
  return found;
}

// The parser's complaint as one line that names what was meant.
std::string explain(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::vector<std::string> names;
  if (argc < 2) {
    find_command(app, "", names);
    return fmt::format("no command: choose one of {}, or see rooftile --help", fmt::join(names, ", "));
  }
  const CLI::App* command = find_command(app, argv[1], names);
  if (command == nullptr && argv[1][0] != '-') {
    const std::string meant = suggestion(argv[1], names);
    return fmt::format("unknown command '{}'{}", argv[1],
                       meant.empty() ? fmt::format(": choose one of {}", fmt::join(names, ", ")) : meant);
  }
  std::vector<std::string> options;
  if (command != nullptr) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    }
    for (int i = 2; i < argc; ++i) {
      const std::string word = std::string(argv[i]).substr(0, std::string_view(argv[i]).find('='));
      if (!word.starts_with("--") || std::find(options.begin(), options.end(), word) != options.end())
        continue;
      const std::string meant = suggestion(word, options);
      return fmt::format("unknown option '{}'{}", word,
                         meant.empty() ? fmt::format(": see rooftile {} --help", argv[1]) : meant);
    }
  }
  if (command == nullptr && argv[1][0] == '-')
    return fmt::format("unknown option '{}': see rooftile --help", argv[1]);
  return fmt::format("{}; see rooftile {}--help", error.what(),
                     command != nullptr ? fmt::format("{} ", argv[1]) : "");
}

// What holds for every option with a value: it is not empty, and a file that the command writes can be written.
void check_values(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_expected_min() > 0) {
        option->check([](const std::string& value) {
          return std::string(value.empty() ? "it is empty: leave it out, or give a value" : "");
        });
      }
      if (option->check_lname("json")) {
        option->check([](const std::string& path) {
          return path.empty() || path == "-" ? std::string() : why_not_writable(path);
        });
      }
    }
  }
}

int run(int argc, char** argv) {
  Session session;
  session.command_line = command_line(argc, argv);
  register_all_operators(session.registry);
  register_all_lessons(session.registry);
  register_all_cases(session.registry);

  CLI::App app{"GPU operators as ladders: verified, measured, explained", "rooftile"};
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("rooftile {}{}", lab::build_info().commit,
                                                lab::build_info().dirty ? "-dirty" : ""));
  app.footer(
      "Start with:\n"
      "  rooftile list\n"
      "  rooftile ladder reduce\n"
      "`rooftile COMMAND --help` shows a command's options with examples.\n"
      "Exit codes: 0 done, 1 a check failed, 2 the call or its input is wrong,\n"
      "3 not possible on this machine.");
  add_list(app, session);
  add_show(app, session);
  add_ladder(app, session);
  add_run(app, session);
  add_verify(app, session);
  add_sim(app, session);
  add_inspect(app, session);
  add_profile(app, session);
  add_device(app, session);
  add_verdicts(app, session);
  add_table(app, session);
  check_values(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help and --version arrive as errors whose code is 0.
    if (error.get_exit_code() == 0) return app.exit(error);
    return report(kWrongCall, explain(app, error, argc, argv));
  }
  return session.exit_code;
}

}  // namespace
}  // namespace rooftile::cli

namespace {

// What was printed is there, or the call has failed.
int with_output(int code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return code;
  const int lost = rooftile::cli::report(rooftile::cli::kWrongCall, "cannot write to stdout");
  return code == rooftile::cli::kDone ? lost : code;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of its write
  try {
    return with_output(rooftile::cli::run(argc, argv));
  } catch (const std::bad_alloc&) {
    return rooftile::cli::report(rooftile::cli::kNotPossible, "out of memory: choose a smaller --shape");
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0)  // fmt::print throws
      return rooftile::cli::report(rooftile::cli::kWrongCall, "cannot write to stdout");
    return rooftile::cli::report(rooftile::cli::kCheckFailed, std::string("internal error: ") + error.what());
  } catch (...) {
    return rooftile::cli::report(rooftile::cli::kCheckFailed, "internal error");
  }
}
