// Where wgmma finds an operand in shared memory: a descriptor of 64 bits.
//
// An operand is a matrix of M or N by K, and K is 16 elements of 16 bits for one wgmma. It is made of cores of 8 x 16
// bytes: eight rows (K-major) or eight columns of k (MN-major), 16 bytes of each, one behind the other in lines of the
// swizzle's span. Two distances tell where the cores lie.
//
// K-major: k runs along memory (a of M x K row by row; b of N x K, the transposed of K x N, row by row).
//   swizzle    a line is                  stride_bytes              leading_bytes
//   none       one core, 8 x 16 bytes     8 rows on                 8 elements of k on
//   32..128    a row of 16..64 elements   8 rows on: 8 lines        not used
//   The next 16 of k: advanced(32) within a line; without a swizzle two leading_bytes.
//
// MN-major: m or n runs along memory (a stored by columns, b of K x N row by row).
//   swizzle    a line is                              stride_bytes               leading_bytes
//   none       8 elements of m or n                   8 of m or n on             8 of k on
//   32..128    16..64 elements of m or n, of one k    8 of k on: 8 lines         a span of m or n on: the next box
//   The next 16 of k: two stride_bytes (without a swizzle two leading_bytes).
//
// A swizzle changes places of 16-byte chunks by address bits, as TMA does it (core/tensor_map_spec.h), so that a box that
// TMA has loaded with the same swizzle is an operand as it lies:
//
//   k_major_descriptor(s_box, TileSwizzle::bytes128)              box {64 of k, rows}
//   mn_major_descriptor(s_box, TileSwizzle::bytes128, box_bytes)  boxes {64 of m or n, rows of k}, one behind the other
//
//   bits  0-13  start address / 16          49-51  base offset: 0, the swizzle's pattern starts at a multiple of 8 spans
//        16-29  leading_bytes / 16          62-63  swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
//        32-45  stride_bytes / 16
//
// All distances are multiples of 16 bytes and less than 2^18. Tiles start at multiples of tile_alignment(swizzle), without
// a swizzle of 16 bytes; on the simulated SM any other start ends the launch.
//
// Source: PTX ISA, Asynchronous Warpgroup Level Matrix Instructions: Shared Memory Matrix Layout, Strides, Matrix
// Descriptor Format; CUTLASS, mma_sm90_desc.hpp and mma_traits_sm90_gmma.hpp (the canonical layouts), read for the
// meaning of the two distances.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/tensor_map_spec.h"
#include "rooftile/device/caller.h"
#include "rooftile/device/shared_address.h"
#include "rooftile/device/target.h"

#if defined(ROOFTILE_SIM)
#include "rooftile/sim/matrix_operand.h"
#endif

namespace rooftile::ROOFTILE_TARGET {

// What runs along memory.
enum class MatrixMajor { k, mn };

struct MatrixDescriptorFields {
  std::uint32_t start;  // in shared memory
  std::uint32_t leading_bytes;
  std::uint32_t stride_bytes;
  TileSwizzle swizzle;
};

__host__ __device__ __forceinline__ constexpr std::uint64_t matrix_descriptor_bits(
    const MatrixDescriptorFields& fields) {
  const auto field = [](std::uint32_t bytes) { return std::uint64_t{(bytes & 0x3ffffu) >> 4}; };
  const std::uint64_t swizzle = fields.swizzle == TileSwizzle::none       ? 0
                                : fields.swizzle == TileSwizzle::bytes128 ? 1
                                : fields.swizzle == TileSwizzle::bytes64  ? 2
                                                                          : 3;
  return field(fields.start) | field(fields.leading_bytes) << 16 | field(fields.stride_bytes) << 32 |
         swizzle << 62;
}

// The inverse.
__host__ __device__ __forceinline__ constexpr MatrixDescriptorFields matrix_descriptor_fields(
    std::uint64_t bits) {
  const auto bytes = [bits](int shift) { return (static_cast<std::uint32_t>(bits >> shift) & 0x3fffu) << 4; };
  constexpr TileSwizzle kSwizzles[] = {TileSwizzle::none, TileSwizzle::bytes128, TileSwizzle::bytes64,
                                       TileSwizzle::bytes32};
  return {bytes(0), bytes(16), bytes(32), kSwizzles[bits >> 62]};
}

template <MatrixMajor kMajor>
struct MatrixDescriptor {
  std::uint64_t bits;
#if defined(ROOFTILE_SIM)
  const std::byte* s_start;  // where `bits` says, of which the host's address has more
#endif
  // Of what lies so many bytes further on: a multiple of 16.
  [[nodiscard]] __device__ __forceinline__ MatrixDescriptor advanced(std::uint32_t bytes) const {
    MatrixDescriptor further = *this;
    further.bits += bytes >> 4;
#if defined(ROOFTILE_SIM)
    further.s_start += bytes;
#endif
    return further;
  }
};

template <MatrixMajor kMajor>
__device__ __forceinline__ MatrixDescriptor<kMajor> make_matrix_descriptor(
    const void* s_tile, TileSwizzle swizzle, std::uint32_t leading_bytes,
    std::uint32_t stride_bytes ROOFTILE_AND_CALLER) {
#if defined(ROOFTILE_SIM)
  simt::detail::check_operand_start(s_tile, swizzle, leading_bytes, stride_bytes, where);
  const auto start = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(s_tile));
  return {matrix_descriptor_bits({start, leading_bytes, stride_bytes, swizzle}),
          static_cast<const std::byte*>(s_tile)};
#else
  return {matrix_descriptor_bits({shared_address(s_tile), leading_bytes, stride_bytes, swizzle})};
#endif
}

// Rows of a swizzle's span (32 bytes or more) one behind the other.
__device__ __forceinline__ MatrixDescriptor<MatrixMajor::k> k_major_descriptor(
    const void* s_tile, TileSwizzle swizzle ROOFTILE_AND_CALLER) {
  return make_matrix_descriptor<MatrixMajor::k>(s_tile, swizzle, 16,
                                                8 * static_cast<std::uint32_t>(swizzle) ROOFTILE_AND_HERE);
}

// Boxes of a span of m or n (32 bytes or more) by k, `box_bytes` from one to the next.
__device__ __forceinline__ MatrixDescriptor<MatrixMajor::mn> mn_major_descriptor(
    const void* s_tile, TileSwizzle swizzle, std::uint32_t box_bytes ROOFTILE_AND_CALLER) {
  return make_matrix_descriptor<MatrixMajor::mn>(s_tile, swizzle, box_bytes,
                                                 8 * static_cast<std::uint32_t>(swizzle) ROOFTILE_AND_HERE);
}

}  // namespace rooftile::ROOFTILE_TARGET
