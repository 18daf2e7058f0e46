// What a rung's kernels take of a GPU: launch shape, registers, shared memory, spills, occupancy and what
// binds it, waves and tail, and what their machine code tells. No GPU is needed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/lab/inspect/device_compiler.h"
#include "rooftile/lab/inspect/gpu_arch.h"
#include "rooftile/lab/inspect/launch_plan.h"
#include "rooftile/lab/inspect/occupancy.h"
#include "rooftile/lab/inspect/sass_summary.h"

namespace rooftile::lab {

struct InspectedKernel {
  std::string name;  // "vectorized_kernel<Sum<float>>"; "a kernel" where the program has no symbols
  PlannedLaunch launch;
  std::optional<KernelResources> resources;  // none: not compiled
  Occupancy occupancy;                       // without resources: by threads and dynamic shared memory alone
  std::optional<Waves> waves;                // none: a block does not fit
  std::optional<SassSummary> code;           // none: not disassembled
};

struct Inspection {
  std::string operator_name;
  std::string rung;
  std::string wrong_on_purpose;  // the row's: what is wrong with the rung; empty: it is right
  Case the_case;
  bool other_case = false;  // in place of the default one, which the rung does not serve
  GpuArch arch;
  GpuModel gpu;
  std::string source;  // empty: not compiled
  std::string compiler;
  std::optional<int> assumed_registers;  // in place of the compiler's
  std::vector<InspectedKernel> kernels;
  std::string compiler_missing;      // why nothing was compiled; empty: it was
  std::string disassembler_missing;  // why there is no machine code to look at
};

struct InspectOptions {
  CaseRequest request;
  std::string arch;              // empty: that of the GPU
  std::string gpu;               // empty: the typical one of the architecture; both empty: an H200
  std::optional<int> registers;  // per thread, in place of the compiler's
  bool disassemble = true;
};

// The rung's launches on the case (launch_plan.h), each kernel compiled for the architecture. A compiler or a
// disassembler that is not here leaves its part out and is named in the result.
[[nodiscard]] Result<Inspection> inspect(const Registry& registry, const OperatorDescriptor& op,
                                         const std::string& rung, const InspectOptions& options);

// One architecture of all that there are.
struct ArchInspection {
  GpuArch arch;
  std::optional<Inspection> inspection;
  std::string reason;  // why there is none
};
// The same for every architecture on its typical GPU, without machine code; options.arch and options.gpu are
// not looked at. An error where no architecture serves the call.
[[nodiscard]] Result<std::vector<ArchInspection>> inspect_archs(const Registry& registry,
                                                                const OperatorDescriptor& op,
                                                                const std::string& rung,
                                                                const InspectOptions& options);

// For people, and as JSON (schema 1, docs/inspect.md).
[[nodiscard]] std::string inspection_table(const Inspection& inspection, int width, bool colour);
[[nodiscard]] std::string inspection_json(const Inspection& inspection, const std::string& command);
[[nodiscard]] std::string archs_table(const std::vector<ArchInspection>& archs, int width, bool colour);
[[nodiscard]] std::string archs_json(const std::vector<ArchInspection>& archs, const std::string& command);

}  // namespace rooftile::lab
