// mma.sync of both depths and both types, one product per warp.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {

// Bits of the 16-bit floats: T is __half, or __nv_bfloat16. Depth 8 or 16.
struct MmaForm {
  bool bfloat;
  int depth;
};
inline constexpr MmaForm kMmaForms[] = {{false, 8}, {false, 16}, {true, 8}, {true, 16}};

// Registers as the instruction takes them: of lane l, a[l * depth / 4 + i], b[l * depth / 8 + i], c and d[l * 4 + i].
Status run_mma(StreamRef stream, MmaForm form, const std::uint32_t* g_a, const std::uint32_t* g_b,
               const float* g_c, float* g_d);

// sums = a * b + sums, `times` times in place, by each of two warps; d[warp][lane][i].
Status run_mma_chain(StreamRef stream, int times, const std::uint32_t* g_a, const std::uint32_t* g_b,
                     float* g_d);

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
