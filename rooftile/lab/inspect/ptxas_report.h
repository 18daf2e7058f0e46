// What ptxas says of the kernels that it compiles (nvcc -Xptxas -v).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rooftile::lab {

struct KernelResources {
  std::string symbol;
  int registers = 0;     // per thread
  int stack_bytes = 0;   // per thread: of local arrays, spills and calls
  int spill_stores = 0;  // bytes, counted per instruction in the code
  int spill_loads = 0;
  int shared_bytes = 0;  // static
  int barriers = 0;
};

// Kernels alone, in ptxas's order; device functions that were not inlined count for who calls them.
[[nodiscard]] std::vector<KernelResources> parse_ptxas_report(std::string_view text);

}  // namespace rooftile::lab
