#include "rooftile/lab/profile/sim_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;

struct Column {
  std::string_view counter;
  std::string_view header;
};
// The others (requests) follow from the same instructions; they are held to the same rule.
constexpr std::array kColumns = {Column{"global_load_sectors", "load sectors"},
                                 Column{"global_store_sectors", "store sectors"},
                                 Column{"global_atomic_sectors", "atomic sectors"},
                                 Column{"shared_load_wavefronts", "shared load wavefronts"},
                                 Column{"shared_store_wavefronts", "shared store wavefronts"},
                                 Column{"threads_per_instruction", "threads per instruction"}};

std::string full_name(const RecordedProfile& profile) {
  return fmt::format("{}/{}", profile.operator_name, profile.rung);
}

// What only one side counted is further off than any share says.
bool is_off(const Counter& counter) {
  const std::optional<double> deviation = counter.deviation();
  return counter.measured && counter.simulated && (!deviation || std::abs(*deviation) > kAgreement);
}

std::string value_text(double value) {
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}", value);
}

std::string deviation_text(const Counter& counter) {
  const std::optional<double> deviation = counter.deviation();
  return deviation ? fmt::format("{:+.1f} %", 100.0 * *deviation) : fmt::format("only simulated");
}

// "1024", or "1024 (simulated -1.0 %)"; bold where it needs an explanation.
std::string cell(const RecordedProfile& profile, std::string_view name) {
  for (const Counter& counter : profile.counters) {
    if (counter.name != name) continue;
    if (!counter.measured || !counter.simulated) return "n/a";
    if (counter.measured == counter.simulated) return value_text(*counter.measured);
    const std::string text = fmt::format("{} ({})", value_text(*counter.measured), deviation_text(counter));
    return is_off(counter) ? fmt::format("**{}**", text) : text;
  }
  return "";
}

struct Tally {
  int compared = 0;
  int equal = 0;
  int close = 0;  // not equal, within kAgreement
  int explained = 0;
  double largest = 0;   // deviation of those that are close
  double furthest = 0;  // deviation of those that are explained
  std::string furthest_name;
};

const Explanation* find_explanation(const std::vector<Explanation>& explanations, const std::string& rung,
                                    const std::string& counter) {
  const auto at = std::find_if(explanations.begin(), explanations.end(), [&](const Explanation& explanation) {
    return explanation.rung == rung && std::find(explanation.counters.begin(), explanation.counters.end(),
                                                 counter) != explanation.counters.end();
  });
  return at == explanations.end() ? nullptr : &*at;
}

Tally tally(const std::vector<RecordedProfile>& profiles, const std::vector<Explanation>& explanations,
            std::vector<std::string>& problems) {
  Tally sum;
  for (const RecordedProfile& profile : profiles) {
    for (const Counter& counter : profile.counters) {
      if (!counter.measured || !counter.simulated) continue;
      ++sum.compared;
      if (counter.measured == counter.simulated) {
        ++sum.equal;
      } else if (!is_off(counter)) {
        ++sum.close;
        sum.largest = std::max(sum.largest, std::abs(*counter.deviation()));
      } else if (find_explanation(explanations, full_name(profile), counter.name) != nullptr) {
        ++sum.explained;
        // What the GPU did not count at all has no share by which it is off.
        if (const auto by = counter.deviation(); by && std::abs(*by) > sum.furthest) {
          sum.furthest = std::abs(*by);
          sum.furthest_name = fmt::format("{} of {}", counter.name, full_name(profile));
        }
      } else {
        problems.push_back(fmt::format("{} {} is off by {}, and nobody explains it", full_name(profile),
                                       counter.name, deviation_text(counter)));
      }
    }
  }
  return sum;
}

void find_idle_explanations(const std::vector<RecordedProfile>& profiles,
                            const std::vector<Explanation>& explanations,
                            std::vector<std::string>& problems) {
  for (const Explanation& explanation : explanations) {
    for (const std::string& name : explanation.counters) {
      const bool needed = std::any_of(profiles.begin(), profiles.end(), [&](const RecordedProfile& profile) {
        return full_name(profile) == explanation.rung &&
               std::any_of(profile.counters.begin(), profile.counters.end(),
                           [&](const Counter& counter) { return counter.name == name && is_off(counter); });
      });
      if (!needed)
        problems.push_back(fmt::format("{} {} is explained, but agrees: drop it", explanation.rung, name));
    }
  }
}

std::string counter_rows(const std::vector<RecordedProfile>& profiles) {
  std::string text = "| rung |";
  std::string rule = "|---|";
  for (const Column& column : kColumns) {
    text += fmt::format(" {} |", column.header);
    rule += "--:|";
  }
  text += "\n" + rule + "\n";
  for (const RecordedProfile& profile : profiles) {
    text += fmt::format("| {} |", full_name(profile));
    for (const Column& column : kColumns) text += fmt::format(" {} |", cell(profile, column.counter));
    text += "\n";
  }
  return text;
}

std::string deviation_rows(const std::vector<RecordedProfile>& profiles,
                           const std::vector<Explanation>& explanations) {
  std::string text = "| rung | counters, off by | why |\n|---|---|---|\n";
  for (const Explanation& explanation : explanations) {
    std::string counters;
    for (const RecordedProfile& profile : profiles) {
      if (full_name(profile) != explanation.rung) continue;
      for (const Counter& counter : profile.counters) {
        if (find_explanation({explanation}, explanation.rung, counter.name) == nullptr) continue;
        counters +=
            fmt::format("{}{} {}", counters.empty() ? "" : ", ", counter.name, deviation_text(counter));
      }
    }
    text += fmt::format("| {} | {} | {} |\n", explanation.rung, counters, explanation.reason);
  }
  return text;
}

// Which runs the numbers are from, each once, and which rungs were another source then.
std::string origins(const std::vector<RecordedProfile>& profiles, SourceTable present) {
  struct Origin {
    std::string text;
    std::vector<std::string> stale;
  };
  std::vector<Origin> origins;
  for (const RecordedProfile& profile : profiles) {
    const std::string text =
        fmt::format("- {} on {}: `{}`, commit {}", profile.operator_name, profile.measured.launch.gpu,
                    profile.command, profile.commit.substr(0, 12));
    auto at = std::find_if(origins.begin(), origins.end(),
                           [&text](const Origin& origin) { return origin.text == text; });
    if (at == origins.end()) at = origins.insert(at, {text, {}});
    if (!stale_parts(profile.sources, profile.operator_name, profile.rung, "", present).empty())
      at->stale.push_back(profile.rung);
  }
  std::string text;
  for (const Origin& origin : origins) {
    text += origin.text;
    if (!origin.stale.empty())
      text += fmt::format("; *stale, measured from other sources: {}*", fmt::join(origin.stale, ", "));
    text += "\n";
  }
  return text;
}

}  // namespace

Result<std::vector<Explanation>> parse_explanations(std::string_view text) {
  std::vector<Explanation> explanations;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    std::istringstream fields(line);
    Explanation explanation;
    std::string counters;
    std::getline(fields, explanation.rung, '\t');
    std::getline(fields, counters, '\t');
    std::getline(fields, explanation.reason);
    std::istringstream names(counters);
    for (std::string name; std::getline(names, name, ',');) explanation.counters.push_back(name);
    if (explanation.reason.empty()) {
      return invalid_argument(
          fmt::format("line {} of the explanations is not rung, counters, reason, divided by tabs", number));
    }
    explanations.push_back(std::move(explanation));
  }
  return explanations;
}

Result<std::vector<RecordedProfile>> read_profiles(const std::string& root) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(fs::path(root) / "results", error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() == ".json" && at->path().filename().string().starts_with("profile_"))
      files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  std::vector<RecordedProfile> profiles;
  for (const fs::path& file : files) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    Result<ProfileRecord> read = parse_profiles(text.str());
    if (!read.ok())
      return io_error(
          fmt::format("{}: {}", file.lexically_relative(root).string(), read.status().sentence()));
    for (RecordedProfile& profile : read->profiles) profiles.push_back(std::move(profile));
  }
  return profiles;
}

SimCalibration sim_calibration(const std::vector<RecordedProfile>& all,
                               const std::vector<Explanation>& explanations, SourceTable present) {
  SimCalibration result;
  std::vector<RecordedProfile> profiles;
  std::copy_if(all.begin(), all.end(), std::back_inserter(profiles),
               [](const RecordedProfile& profile) { return profile.same_case; });
  if (profiles.empty()) {
    result.markdown = "No record yet: `rooftile profile --simulated-case` on a GPU, kept in `results/`.\n";
    return result;
  }
  const Tally sum = tally(profiles, explanations, result.problems);
  find_idle_explanations(profiles, explanations, result.problems);
  result.markdown = fmt::format(
      "{} counters of {} rungs: {} are equal to the last digit, {} more differ by at most {:.1f} %, {} by "
      "more than {:.0f} %, each explained below{}.\n\n{}\n{}\n",
      sum.compared, profiles.size(), sum.equal, sum.close, 100.0 * sum.largest, sum.explained,
      100.0 * kAgreement,
      sum.explained == 0
          ? ""
          : fmt::format("; the furthest is {}, by {:.0f} %", sum.furthest_name, 100.0 * sum.furthest),
      origins(profiles, present), counter_rows(profiles));
  if (!explanations.empty()) result.markdown += deviation_rows(profiles, explanations);
  return result;
}

}  // namespace rooftile::lab
