// Kernels that multiply: single products of every layout by one warpgroup, and a pipeline of tiles for two.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/core/tensor_map_spec.h"

namespace rooftile {
namespace testing_sm90a {

// How an operand lies in shared memory.
struct OperandLayout {
  bool mn_major = false;
  TileSwizzle swizzle = TileSwizzle::bytes128;
  std::uint32_t leading_bytes = 16;
  std::uint32_t stride_bytes = 1024;
};

struct WgmmaForm {
  bool bfloat = false;
  int n = 8;
  bool a_in_registers = false;
  bool accumulate = false;
  OperandLayout a, b;
};

inline constexpr std::uint32_t kWgmmaImageBytes = 32768;  // of an operand in shared memory
inline constexpr int kTilesRows = 128;
inline constexpr int kTilesColumns = 128;
inline constexpr int kTilesDepth = 64;

struct WgmmaKernels {
  // d = a * b (+ d): g_images are the two operands' shared memory, byte by byte; g_a the registers of a, four of each
  // thread; g_d the sums, n / 2 of each thread, before and after. Not every form is built: see has_form.
  Status (*product)(StreamRef, const WgmmaForm&, const std::byte* g_images, const std::uint32_t* g_a,
                    float* g_d);
  // out (blocks * 128 x 128, row by row) = a * b, halves, k in tiles of 64 through a ring of two stages that TMA fills by
  // boxes of 64 x 64; two warpgroups, of 64 rows each. a is M x K (mn_major: K x M), b is N x K (mn_major: K x N), row by
  // row.
  Status (*tiles)(StreamRef, bool a_mn_major, bool b_mn_major, const TensorMapSpec& a, const TensorMapSpec& b,
                  int blocks, int tiles, float* g_out);
  // The descriptor's bits of a tile at this shared address.
  std::uint64_t (*descriptor_bits)(std::uint32_t start, const OperandLayout&);
};

constexpr bool has_form(const WgmmaForm& form) {
  if (form.n % 8 != 0 || form.n < 8 || form.n > 256 || (form.a_in_registers && form.a.mn_major)) return false;
  const bool every_width = !form.bfloat && !form.a.mn_major && !form.b.mn_major;
  return every_width || form.n == 16 || form.n == 64 || form.n == 192;
}

}  // namespace testing_sm90a

namespace sim {
testing_sm90a::WgmmaKernels wgmma_test_kernels();
}
namespace cuda {
testing_sm90a::WgmmaKernels wgmma_test_kernels();
}
namespace checked {
testing_sm90a::WgmmaKernels wgmma_test_kernels();
}
}  // namespace rooftile
