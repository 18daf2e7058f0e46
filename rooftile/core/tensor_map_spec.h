// What a tensor map (a TMA descriptor) says: a tensor in global memory, and the box of it that one copy moves
// between global and shared memory. For hosts and kernels: no CUDA names in here.
//
// Dimension 0 is the contiguous one. A tile lies in shared memory without gaps, dimension 0 fastest:
//
//   global memory, pitch = strides[1]          shared memory, pitch = box[0]
//   +-----------------------------+
//   |      box[0]                 |            +------------+
//   |    +--------+  box[1]       |    TMA     | row 0      |
//   |    |        |               |  ------->  | row 1      |   16-byte chunks of a row permuted by
//   |    +--------+               |            | ...        |   `swizzle` (see swizzled())
//   +-----------------------------+            +------------+
//
// Elements of the box outside the tensor are filled on the way in and not written on the way out; they count
// as bytes of the tile all the same. What an H200 does, and the manual does not say
// (tests/device/sm90a_tma_tests.h):
//   - A box starts at a multiple of 16 bytes in dimension 0, and for a store or a reduction not before the
//     tensor in any dimension; anything else is an illegal instruction.
//   - Loads fill from the first element outside. Stores and reductions write whole 16-byte chunks: where
//     extents[0] ends within one, the padding of the row up to the chunk's end is overwritten.
//   - NaN is the 16-bit pattern 0x7ff7, repeated.
//   - Rows shorter than the swizzle's span would lie a span apart, with gaps: such a map is refused.
// Source: PTX ISA, Tensors (tiled mode, swizzling modes); CUDA driver API, cuTensorMapEncodeTiled.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rooftile/core/dtype.h"
#include "rooftile/core/status.h"

namespace rooftile {

inline constexpr int kMaxTensorMapRank = 5;

// The value is the span in bytes within which 16-byte chunks change places.
enum class TileSwizzle : std::uint8_t { none = 0, bytes32 = 32, bytes64 = 64, bytes128 = 128 };

// What a miss in L2 brings along, in bytes.
enum class L2Promotion : std::uint8_t { none, bytes64, bytes128, bytes256 };

enum class OutOfBoundsFill : std::uint8_t { zeros, nan };  // nan: floats only

struct TensorMapSpec {
  void* data = nullptr;  // aligned to 16 bytes
  DType dtype = DType::f32;
  int rank = 0;
  std::array<std::int64_t, kMaxTensorMapRank> extents{};  // elements, at most 2^32 each
  // Elements; [0] is 1, the others multiples of 16 bytes.
  std::array<std::int64_t, kMaxTensorMapRank> strides{};
  std::array<int, kMaxTensorMapRank> box{};  // elements, at most 256 each; box[0] in 16-byte units
  // Every so-manieth element of the box is taken, in dimensions 1 and up: at most 8. The tile holds
  // ceil(box / element_stride) elements. For loads alone.
  std::array<int, kMaxTensorMapRank> element_strides{1, 1, 1, 1, 1};
  TileSwizzle swizzle = TileSwizzle::none;
  L2Promotion l2_promotion = L2Promotion::bytes128;
  OutOfBoundsFill fill = OutOfBoundsFill::zeros;
};

// An element of 16 bytes is two of u64: dimension 0 of the extents, the box and the coordinates counts
// halves. There is no signed type of 8 or 16 bits, and none of 8-bit floats: they travel as unsigned bits.
[[nodiscard]] Status check_tensor_map(const TensorMapSpec& spec);

// Bytes that one copy moves, and that its barrier has to expect. Precondition: the spec passes its check.
[[nodiscard]] std::size_t tile_bytes(const TensorMapSpec& spec);

// A tile's address in shared memory is a multiple of this: the swizzle's pattern repeats after so many bytes.
constexpr std::uint32_t tile_alignment(TileSwizzle swizzle) {
  return swizzle == TileSwizzle::none ? 128u : 8u * static_cast<std::uint32_t>(swizzle);
}

// Where the byte at `offset` of an unswizzled tile lies in the swizzled one;
// the inverse too. The chunk index within the span (address bits 4-6, 4-5 or
// 4) is XORed with the bits from 7 on, the number of the 128-byte line:
//
// clang-format off
//   at chunk   0 1 2 3 4 5 6 7    at chunk   0 1 2 3   4 5 6 7    at chunk   0 1   2 3   4 5   6 7
//   bytes128                      bytes64                         bytes32
//     line 0   0 1 2 3 4 5 6 7      line 0   0 1 2 3   4 5 6 7      line 0   0 1   2 3   4 5   6 7
//     line 1   1 0 3 2 5 4 7 6      line 1   1 0 3 2   5 4 7 6      line 1   1 0   3 2   5 4   7 6
//     line 2   2 3 0 1 6 7 4 5      line 2   2 3 0 1   6 7 4 5
//     ...                           line 3   3 2 1 0   7 6 5 4
//     line 7   7 6 5 4 3 2 1 0
// clang-format on
constexpr std::uint32_t swizzled(TileSwizzle swizzle, std::uint32_t offset) {
  const std::uint32_t chunk_bits =
      swizzle == TileSwizzle::none ? 0u : static_cast<std::uint32_t>(swizzle) - 16u;
  return offset ^ (offset >> 3 & chunk_bits);
}

}  // namespace rooftile
