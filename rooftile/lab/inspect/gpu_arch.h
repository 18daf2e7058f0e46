// What an SM of each architecture holds, and the GPUs that have a name here.
//
// Sources: the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", and the
// toolkit's cuda_occupancy.h, against which the occupancy that follows from them is tested; SM counts are
// those of the products, from NVIDIA's data sheets.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rooftile/core/device.h"
#include "rooftile/core/status.h"

namespace rooftile::lab {

// Alike on all of them.
inline constexpr int kWarpThreads = 32;
inline constexpr int kMaxThreadsPerBlock = 1024;
inline constexpr int kRegistersPerSm = 65536;
inline constexpr int kRegisterGrain = 256;  // registers of a warp are rounded up to this
inline constexpr int kRegisterPartitions = 4;
inline constexpr int kMaxRegistersPerThread = 255;

struct SmLimits {
  int compute_capability = 0;  // 10 * major + minor
  int warps = 0;
  int blocks = 0;
  int barriers = 0;           // hardware barriers of all blocks; 0: none are counted
  int shared_kib = 0;         // of all blocks
  int reserved_kib = 0;       // what the driver takes of it for each block
  int shared_grain = 0;       // bytes; a block's shared memory is rounded up to this
  int largest_block_kib = 0;  // what one block may use, when it asks for it
};
[[nodiscard]] std::span<const SmLimits> sm_limits();  // oldest first

// An architecture as nvcc names it.
struct GpuArch {
  std::string name;  // "sm_90a"
  const SmLimits* sm = nullptr;
};
// "sm_90a" or "90a"; an error names those that are known.
[[nodiscard]] Result<GpuArch> parse_arch(std::string_view text);

struct GpuModel {
  std::string_view id;    // "rtx-4090"
  std::string_view name;  // "RTX 4090"
  int compute_capability = 0;
  int multiprocessors = 0;
};
[[nodiscard]] std::span<const GpuModel> gpu_models();
// By its id, in any case and with blanks or without dashes; an error names those that are known.
[[nodiscard]] Result<GpuModel> find_gpu(std::string_view name);
// The GPU that stands for an architecture.
[[nodiscard]] const GpuModel& typical_gpu(const GpuArch& arch);
// What to compile for where only the GPU is named: 9.0 with the suffix that TMA and wgmma need.
[[nodiscard]] Result<GpuArch> arch_of(const GpuModel& gpu);

// The GPU as a launcher of the simulated SM sees it, so that its grid is that of the real one.
[[nodiscard]] Result<DeviceProperties> simulated_properties(const GpuModel& gpu);

}  // namespace rooftile::lab
