#include "rooftile/lab/inspect/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "rooftile/lab/case/candidate.h"
#include "rooftile/lab/inspect/cuda_tools.h"
#include "rooftile/lab/inspect/kernel_name.h"

namespace rooftile::lab {
namespace {

struct Target {
  GpuArch arch;
  GpuModel gpu;
};

Result<Target> target_of(const InspectOptions& options) {
  Target target;
  if (options.gpu.empty()) {
    ROOFTILE_TRY_ASSIGN(target.arch, parse_arch(options.arch.empty() ? "sm_90a" : options.arch));
    target.gpu = typical_gpu(target.arch);
    return target;
  }
  ROOFTILE_TRY_ASSIGN(target.gpu, find_gpu(options.gpu));
  ROOFTILE_TRY_ASSIGN(target.arch, arch_of(target.gpu));
  if (options.arch.empty()) return target;
  ROOFTILE_TRY_ASSIGN(const GpuArch wanted, parse_arch(options.arch));
  if (wanted.sm != target.arch.sm) {
    return invalid_argument(fmt::format("--gpu {} is {}, and not {}: leave one of the two out", options.gpu,
                                        target.arch.name, wanted.name));
  }
  target.arch = wanted;
  return target;
}

// What the row asks for beyond the compute capability, which the launch plan looks at.
Status check_arch(const RungRow& rung, const GpuArch& arch) {
  if (!rung.arch.exact || arch.name == fmt::format("sm_{}a", rung.arch.minimum)) return {};
  return unsupported(fmt::format("{}: its instructions are those of sm_{}a alone, not of {}", rung.id,
                                 rung.arch.minimum, arch.name));
}

const KernelResources* find_kernel(const CompiledRung& compiled, const std::string& name) {
  // A stripped program does not know which kernel it launches.
  if (name.empty()) return compiled.kernels.size() == 1 ? &compiled.kernels.front() : nullptr;
  const auto found = std::find_if(
      compiled.kernels.begin(), compiled.kernels.end(),
      [&](const KernelResources& kernel) { return portable_kernel_name(kernel.symbol) == name; });
  return found == compiled.kernels.end() ? nullptr : &*found;
}

void occupy(InspectedKernel& kernel, const Inspection& inspection) {
  const PlannedLaunch& launch = kernel.launch;
  BlockNeeds needs;
  needs.threads = launch.block_threads();
  needs.shared_bytes = static_cast<std::int64_t>(launch.shape.dynamic_shared_bytes);
  if (kernel.resources) {
    needs.registers = kernel.resources->registers;
    needs.shared_bytes += kernel.resources->shared_bytes;
    needs.barriers = kernel.resources->barriers;
  }
  if (inspection.assumed_registers) needs.registers = inspection.assumed_registers;
  kernel.occupancy = occupancy_of(*inspection.arch.sm, needs);
  if (kernel.occupancy.blocks > 0) {
    kernel.waves = waves_of(launch.blocks(), kernel.occupancy.blocks, inspection.gpu.multiprocessors,
                            launch.cluster_blocks());
  }
}

// The code of the kernels that are launched, by symbol.
Result<std::map<std::string, SassSummary>> disassemble(const CompiledRung& compiled,
                                                       const std::vector<InspectedKernel>& kernels) {
  const std::string tool = find_cuda_tool("nvdisasm");
  if (tool.empty()) {
    return unavailable(
        "nvdisasm is not here: install the CUDA toolkit's "
        "(or PyPI's nvidia-cuda-nvdisasm) and put it on PATH");
  }
  ROOFTILE_TRY_ASSIGN(const ProcessResult result, run_cuda_tool(tool, {"-c", "-gi", compiled.cubin}));
  if (result.exit_code != 0) {
    return unavailable(fmt::format("nvdisasm fails on {} (is it older than nvcc?): {}", compiled.cubin,
                                   result.err.substr(0, result.err.find('\n'))));
  }
  std::map<std::string, SassSummary> code;
  for (const SassFunction& function : parse_sass(result.out, compiled.root)) {
    const bool launched = std::any_of(kernels.begin(), kernels.end(), [&](const InspectedKernel& kernel) {
      return kernel.resources && kernel.resources->symbol == function.symbol;
    });
    if (launched) code[function.symbol] = summarize(function);
  }
  return code;
}

// Fills in what a compiler and a disassembler know, or why they do not.
Status look_into(const CompiledRung& compiled, bool with_code, Inspection& inspection) {
  inspection.source = compiled.source;
  inspection.compiler = compiled.compiler;
  for (InspectedKernel& kernel : inspection.kernels) {
    const KernelResources* resources = find_kernel(compiled, kernel.launch.kernel);
    if (resources == nullptr) {
      return unavailable(kernel.launch.kernel.empty()
                             ? "this program was stripped: it does not know which kernel it launches"
                             : fmt::format("{} has no kernel {}: is it newer than this program?",
                                           compiled.source, kernel.launch.kernel));
    }
    kernel.resources = *resources;
  }
  if (!with_code) return {};
  Result<std::map<std::string, SassSummary>> code = disassemble(compiled, inspection.kernels);
  if (!code.ok()) {
    inspection.disassembler_missing = code.status().sentence();
    return {};
  }
  for (InspectedKernel& kernel : inspection.kernels) {
    if (const auto found = code->find(kernel.resources->symbol); found != code->end())
      kernel.code = found->second;
  }
  return {};
}

}  // namespace

Result<Inspection> inspect(const Registry& registry, const OperatorDescriptor& op, const std::string& rung,
                           const InspectOptions& options) {
  ROOFTILE_TRY(check_rung_names(op, {}, {rung}));
  const RungRow& row = *op.find_rung(rung);
  ROOFTILE_TRY_ASSIGN(const Target target, target_of(options));
  if (Status status = check_arch(row, target.arch); !status.ok()) return status.with_operator(op.name);
  ROOFTILE_TRY_ASSIGN(LaunchPlan plan, plan_launches(registry, op, row, options.request, target.gpu));

  Inspection inspection;
  inspection.operator_name = op.name;
  inspection.rung = rung;
  inspection.wrong_on_purpose = row.wrong_on_purpose;
  inspection.the_case = std::move(plan.the_case);
  inspection.other_case = plan.other_case;
  inspection.arch = target.arch;
  inspection.gpu = target.gpu;
  inspection.assumed_registers = options.registers;
  for (PlannedLaunch& launch : plan.launches) {
    InspectedKernel kernel;
    kernel.name = launch.kernel.empty() ? "a kernel" : short_kernel_name(launch.kernel);
    kernel.launch = std::move(launch);
    inspection.kernels.push_back(std::move(kernel));
  }
  const Result<CompiledRung> compiled = compile_rung(op.name, rung, target.arch);
  const Status looked =
      compiled.ok() ? look_into(*compiled, options.disassemble, inspection) : compiled.status();
  if (!looked.ok()) inspection.compiler_missing = looked.sentence();
  for (InspectedKernel& kernel : inspection.kernels) occupy(kernel, inspection);
  return inspection;
}

Result<std::vector<ArchInspection>> inspect_archs(const Registry& registry, const OperatorDescriptor& op,
                                                  const std::string& rung, const InspectOptions& options) {
  std::vector<ArchInspection> archs;
  Status first_problem;
  bool any = false;
  for (const SmLimits& sm : sm_limits()) {
    InspectOptions one = options;
    one.gpu = typical_gpu({"", &sm}).id;
    one.arch.clear();
    one.disassemble = false;
    ROOFTILE_TRY_ASSIGN(const GpuModel gpu, find_gpu(one.gpu));
    ROOFTILE_TRY_ASSIGN(const GpuArch arch, arch_of(gpu));
    Result<Inspection> found = inspect(registry, op, rung, one);
    if (found.ok()) {
      any = true;
      archs.push_back({arch, std::move(*found), ""});
      continue;
    }
    if (found.status().code() != StatusCode::unsupported) return found.status();
    archs.push_back({arch, std::nullopt, found.status().rule()});
    if (first_problem.ok()) first_problem = found.status();
  }
  if (!any) return first_problem;
  return archs;
}

}  // namespace rooftile::lab
