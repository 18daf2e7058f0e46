// One name for a kernel that nvcc and g++ have compiled from the same source.
#pragma once

#include <string>

namespace rooftile::lab {

// The demangled symbol without what tells the targets apart: namespaces cuda, sim and simt, the anonymous
// ones, and the simulator's stand-ins for CUDA's own types. Equal for the two builds of one kernel.
// "reduce_rungs::vectorized_kernel<reduce_rungs::Sum<float>>(float const*, long, int, float*)"
[[nodiscard]] std::string portable_kernel_name(const std::string& symbol);

// That without parameters and namespaces: "vectorized_kernel<Sum<float>>".
[[nodiscard]] std::string short_kernel_name(const std::string& portable_name);

}  // namespace rooftile::lab
