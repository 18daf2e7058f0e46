// The machine that a record was made on.
#pragma once

#include <string>

#include "rooftile/core/device.h"

namespace rooftile::lab {

struct Machine {
  std::string cpu;
  int cpu_threads = 0;
  std::string memory;  // "23.4 GiB"
  std::string os;
  std::string gpu;         // "none", or the GPU's name
  std::string gpu_reason;  // why no GPU is usable; empty where one is
  std::string driver;      // of the display driver and the CUDA version that it serves
  std::string cuda_runtime;
  int multiprocessors = 0;  // of the GPU
  std::string last_level_cache;
  std::string compiler;
  std::string flags;
  std::string cuda_compiler;
};
[[nodiscard]] Machine describe_machine(Device device);

}  // namespace rooftile::lab
