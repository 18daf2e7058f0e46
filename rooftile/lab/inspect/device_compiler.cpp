#include "rooftile/lab/inspect/device_compiler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sstream>

#include "rooftile/lab/base/cache_folder.h"
#include "rooftile/lab/inspect/compiled_cache.h"
#include "rooftile/lab/inspect/cuda_tools.h"

namespace rooftile::lab {
namespace {

namespace fs = std::filesystem;

// The tree that this program was built from or, on another machine, the one in which it is called.
Result<fs::path> source_root() {
  std::error_code error;  // of a folder that is gone or may not be read: then it is not this one
  for (const fs::path& root : {fs::path(ROOFTILE_SOURCE_DIR), fs::current_path(error)}) {
    if (!root.empty() && fs::is_directory(root / "rooftile" / "ops", error)) return root;
  }
  return unavailable("the kernels' sources are not here: neither in " ROOFTILE_SOURCE_DIR
                     " nor in the current folder, from which rooftile/ops would be found");
}

// rooftile/ops/OP/rungs/rNNN_RUNG.cu, .sm80.cu or .sm90a.cu; lessons have a folder of their own
Result<fs::path> rung_source(const fs::path& root, const std::string& op, const std::string& rung) {
  const bool is_lesson = fs::is_directory(root / "rooftile" / "lessons" / op);
  const fs::path folder = fs::path("rooftile") / (is_lesson ? "lessons" : "ops") / op / "rungs";
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(root / folder, error)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".cu") continue;
    const std::size_t underscore = name.find('_');
    if (underscore == std::string::npos) continue;
    const std::string mechanism = name.substr(underscore + 1);
    if (mechanism.substr(0, mechanism.find('.')) == rung) return folder / name;
  }
  return unavailable(fmt::format("{} has no source of the rung {}", (root / folder).string(), rung));
}

// "nvcc 13.0.88"
Result<std::string> version_of(const std::string& nvcc) {
  ROOFTILE_TRY_ASSIGN(const ProcessResult answer, run_cuda_tool(nvcc, {"--version"}));
  const std::size_t at = answer.out.find(", V");
  if (answer.exit_code != 0 || at == std::string::npos)
    return unavailable(nvcc + " --version does not answer as nvcc does");
  return "nvcc " + answer.out.substr(at + 3, answer.out.find_first_of(" \n", at + 3) - at - 3);
}

std::vector<std::string> compile_flags(const GpuArch& arch) {
  std::vector<std::string> flags;
  std::istringstream words(ROOFTILE_KERNEL_FLAGS);
  for (std::string word; words >> word;) flags.push_back(word);
  const std::string number = arch.name.substr(3);
  flags.push_back(fmt::format("-gencode=arch=compute_{},code=sm_{}", number, number));
  for (const char* flag : {"-DROOFTILE_WITH_CUDA", "-cubin", "-Xptxas=-v"}) flags.emplace_back(flag);
  return flags;
}

// The line that says what was wrong, out of all that nvcc says.
std::string first_error(const ProcessResult& result) {
  std::istringstream lines(result.err);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos) return line;
  }
  return fmt::format("exit code {}", result.exit_code);
}

}  // namespace

Result<CompiledRung> compile_rung(const std::string& operator_name, const std::string& rung,
                                  const GpuArch& arch) {
  const std::string nvcc = find_cuda_tool("nvcc");
  if (nvcc.empty()) {
    return unavailable(
        "nvcc is not here (looked in CUDA_HOME, CUDA_PATH, PATH and /usr/local/cuda): "
        "install a CUDA toolkit of version 12 or newer");
  }
  ROOFTILE_TRY_ASSIGN(const fs::path root, source_root());
  ROOFTILE_TRY_ASSIGN(const fs::path source, rung_source(root, operator_name, rung));
  const fs::path folder = cache_folder();
  if (folder.empty())
    return unavailable("nowhere to compile to: neither XDG_CACHE_HOME nor HOME names a folder");

  CompiledRung compiled;
  compiled.root = root.string();
  compiled.source = source.string();
  ROOFTILE_TRY_ASSIGN(compiled.compiler, version_of(nvcc));
  // Trees side by side keep theirs apart.
  const CompiledCache cache(folder / "kernels",
                            fmt::format("{}-{}-{}-{:016x}", operator_name, rung, arch.name,
                                        std::hash<std::string>()(root.string())));
  compiled.cubin = cache.cubin().string();
  std::vector<std::string> args = compile_flags(arch);
  args.push_back("-I" + root.string());
  args.push_back("-DROOFTILE_RUNG=" + rung);
  std::string recipe = fmt::format("{} {}", compiled.compiler, fmt::join(args, " "));
  for (const char* variable : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"}) {
    if (const char* flags = std::getenv(variable); flags != nullptr)
      recipe += fmt::format(" {}={}", variable, flags);
  }
  if (const auto report = cache.find(recipe)) {
    compiled.kernels = parse_ptxas_report(*report);
    return compiled;
  }

  std::error_code error;
  fs::create_directories(folder / "kernels", error);
  if (error)
    return unavailable(fmt::format("cannot create {}: {}", (folder / "kernels").string(), error.message()));
  const std::string cubin = fmt::format("{}.{}", compiled.cubin, ::getpid());
  const std::string rule = cubin + ".d";
  args.insert(args.end(), {"-MD", "-MF", rule, "-o", cubin, (root / source).string()});
  ROOFTILE_TRY_ASSIGN(const ProcessResult result, run_cuda_tool(nvcc, args));
  const Status kept = result.exit_code == 0
                          ? cache.keep(recipe, cubin, rule, result.err)
                          : unavailable(fmt::format("{} does not compile {} for {}: {}", compiled.compiler,
                                                    compiled.source, arch.name, first_error(result)));
  fs::remove(cubin, error);
  fs::remove(rule, error);
  ROOFTILE_TRY(kept);
  compiled.kernels = parse_ptxas_report(result.err);
  return compiled;
}

}  // namespace rooftile::lab
