// A rung's own source compiled for one architecture: what its kernels need, and their machine code.
#pragma once

#include <string>
#include <vector>

#include "rooftile/core/status.h"
#include "rooftile/lab/inspect/gpu_arch.h"
#include "rooftile/lab/inspect/ptxas_report.h"

namespace rooftile::lab {

struct CompiledRung {
  std::string root;      // of the source tree
  std::string source;    // from there
  std::string compiler;  // "nvcc 13.0.88"
  std::string cubin;     // path of the machine code
  std::vector<KernelResources> kernels;
};

// By nvcc, with the flags of this project's own builds. The result is kept in the user's cache folder and
// taken from there as long as compiler, flags and every file that was included are the same. `unavailable`
// where nvcc, the sources or that folder are missing, or where nvcc fails: its first error.
[[nodiscard]] Result<CompiledRung> compile_rung(const std::string& operator_name, const std::string& rung,
                                                const GpuArch& arch);

}  // namespace rooftile::lab
