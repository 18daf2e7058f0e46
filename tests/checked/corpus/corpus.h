// Kernels in the manner of other people's CUDA: right ones, of which nothing may be reported, and wrong ones, whose
// mistake must be found at the line that says `// BUG name`. Lines that say `// SAME VALUE name` are remarked upon.
#pragma once

#include <span>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

#if !defined(ROOFTILE_TARGET)
#define ROOFTILE_TARGET checked  // the tests themselves, which are host code, call the checked kernels
#endif

namespace rooftile::ROOFTILE_TARGET::corpus {

inline constexpr int kElements = 4096;  // of every kernel's input and output

struct Kernel {
  const char* name;
  // Launches it on kElements values each.
  Status (*run)(StreamRef stream, const float* g_in, float* g_out);
  // What the output must be; null where it is not looked at.
  void (*expected)(const float* in, float* out) = nullptr;
  // The kind of finding, as to_string(FindingKind) says it; null: the kernel is right.
  const char* finding = nullptr;
  // Sectors of global memory that the launch loads and stores; 0: not looked at.
  unsigned long long sectors = 0;
  // How far each value may be off, as a part of what is expected, or of 1 where that is less; 0: they are equal.
  float tolerance = 0.0f;
};

// One list for each file of kernels.
std::span<const Kernel> memory_kernels();
std::span<const Kernel> ending_kernels();
std::span<const Kernel> member_kernels();
std::span<const Kernel> store_kernels();
std::span<const Kernel> warp_kernels();
std::span<const Kernel> reduction_kernels();
std::span<const Kernel> ticket_kernels();
std::span<const Kernel> softmax_kernels();
std::span<const Kernel> norm_kernels();
std::span<const Kernel> attention_kernels();
std::span<const Kernel> matrix_kernels();
std::span<const Kernel> pipeline_kernels();
std::span<const Kernel> handshake_kernels();
std::span<const Kernel> stencil_kernels();
std::span<const Kernel> texture_kernels();
std::span<const Kernel> scan_kernels();
std::span<const Kernel> order_kernels();
std::span<const Kernel> layer_kernels();
std::span<const Kernel> body_kernels();

}  // namespace rooftile::ROOFTILE_TARGET::corpus
