// The kernels of the matrix operations' tests: host functions that launch one warp, once. Pointers are memory
// that the stream's device can use.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

#if !defined(ROOFTILE_TARGET)
#define ROOFTILE_TARGET sim  // the tests themselves, which are host code, call the simulated kernels
#endif

namespace rooftile::ROOFTILE_TARGET::sim_tests {

enum class WmmaType { float16, bfloat16, tf32, int8, uint8 };
enum class WmmaSum { float16, float32, int32 };
struct WmmaShape {
  int m, n, k;
};

// d = a * b + c of one tile, and then 2 * d + 1 by the elements that each lane holds.
struct WmmaProduct {
  WmmaShape shape;
  WmmaType type;
  WmmaSum c, d;
  bool a_row_major, b_row_major, cd_row_major;
  bool through_shared;  // else the fragments go to global memory at once
  bool in_place;        // d is c's fragment
  bool saturate;        // of int32
  unsigned lda, ldb, ldc, ldd;
  // Of the matrices in memory, at most 4 KiB each.
  unsigned a_bytes, b_bytes, c_bytes, d_bytes;
};
Status run_wmma_product(StreamRef stream, const WmmaProduct& product, const void* g_a, const void* g_b,
                        const void* g_c, void* g_d);

// What every lane holds of a matrix whose rows (columns) lie `ldm` elements apart: 32 times `count` elements.
enum class WmmaUse { a, b, accumulator };
Status run_wmma_elements(StreamRef stream, WmmaShape shape, WmmaUse use, WmmaType type, bool row_major,
                         bool through_shared, unsigned ldm, const void* g_matrix, void* g_elements,
                         int* g_count);
// Of an accumulator, whose type is its own.
Status run_wmma_sums(StreamRef stream, WmmaShape shape, WmmaSum type, bool row_major, bool through_shared,
                     unsigned ldm, const void* g_matrix, void* g_elements, int* g_count);

Status run_to_tf32(StreamRef stream, int count, const float* g_in, float* g_out);

// Kernels that must fail.
enum class WmmaMisuse {
  missing_lane,
  exited_lane,
  other_collective,  // half of the warp shuffles
  other_call,        // half of the warp loads another matrix
  other_place,       // half of the warp makes the same call at another line
  other_pointer,
  other_stride,
  misaligned,
  wrong_stride,
  wrong_stride_of_floats,
};
Status run_wmma_misuse(StreamRef stream, WmmaMisuse misuse, void* g_matrix, float* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
