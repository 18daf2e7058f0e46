#include "rooftile/lab/profile/ncu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "rooftile/lab/base/subprocess.h"
#include "rooftile/lab/profile/profile_metrics.h"

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> command_of(const NcuOptions& options) {
  std::vector<std::string> words = {options.ncu, "--csv", "--page", "raw", "--print-units", "base"};
  // A pass per group of counters, each with cold caches; the clocks belong to whoever shares the machine.
  for (const char* word : {"--replay-mode", "kernel", "--cache-control", "all", "--clock-control", "none"})
    words.emplace_back(word);
  for (const char* word : {"--profile-from-start", "off", "--metrics"}) words.emplace_back(word);
  words.push_back(wanted_metrics());
  words.insert(words.end(), options.application.begin(), options.application.end());
  return words;
}

// The first line that has `mark` in front, without it; empty where there is none.
std::string line_after(const std::string& text, std::string_view mark) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(mark))
      return line.substr(std::min(line.find_first_not_of(' ', mark.size()), line.size()));
  }
  return "";
}

StatusCode code_of_exit(int code) {
  switch (code) {
    case 2:
      return StatusCode::invalid_argument;
    case 3:
      return StatusCode::unavailable;
    default:
      return StatusCode::check_failed;
  }
}

Status explain_failure(const NcuOptions& options, const ProcessResult& process) {
  if (process.timed_out) {
    return unavailable(fmt::format(
        "ncu did not end within {:g} s: give a smaller --shape or a longer --timeout", options.timeout_s));
  }
  const std::string own = line_after(process.err, "rooftile: ");
  if (!own.empty()) return Status::error(code_of_exit(process.exit_code), own);
  const std::string output = process.out + process.err;
  if (output.find("ERR_NVGPUCTRPERM") != std::string::npos) {
    return unavailable(
        "the driver shows performance counters to administrators alone (ERR_NVGPUCTRPERM): "
        "run this as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0");
  }
  const std::string error = line_after(output, "==ERROR==");
  if (!error.empty()) return unavailable(fmt::format("ncu cannot profile here: {}", error));
  return unavailable(
      fmt::format("ncu ended with code {} and without a word: {}", process.exit_code, options.ncu));
}

}  // namespace

Result<std::string> find_ncu() {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable)) folders.push_back(std::string(home) + "/bin");
  }
  folders.emplace_back("/usr/local/cuda/bin");
  std::vector<std::string> versions;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/opt/nvidia/nsight-compute", error))
    versions.push_back(entry.path().string());
  std::sort(versions.rbegin(), versions.rend());  // the newest first
  folders.insert(folders.end(), versions.begin(), versions.end());
  std::string found = find_program("ncu", folders);
  if (!found.empty()) return found;
  return unavailable(
      "Nsight Compute's ncu is neither in $PATH nor in a CUDA toolkit: install the toolkit's package "
      "nsight-compute, or name it by --ncu PATH");
}

Result<NcuRun> run_ncu(const NcuOptions& options) {
  ROOFTILE_TRY_ASSIGN(ProcessResult process, run_process(command_of(options), options.timeout_s));
  if (process.timed_out || process.exit_code != 0) return explain_failure(options, process);
  if (process.out.find("No kernels were profiled") != std::string::npos) {
    return unsupported("the launch ran no kernel: give a --shape that is not empty");
  }
  Result<std::vector<NcuKernel>> kernels = parse_ncu_csv(process.out);
  if (!kernels.ok()) return explain_failure(options, process);
  if (kernels->empty()) return explain_failure(options, process);
  for (NcuKernel& kernel : *kernels) keep_wanted_metrics(kernel);
  return NcuRun{std::move(*kernels), std::move(process.out)};
}

}  // namespace rooftile::lab
