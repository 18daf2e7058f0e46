// How rows are cut for registers: which threads have a row's vectors of 16 bytes, and which blocks of a cluster.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "rooftile/core/device.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/row_ring_plan.h"
#include "rooftile/core/rows.h"
#include "rooftile/core/view.h"

namespace rooftile {

inline constexpr std::int64_t kRowVectorBytes = 16;

// Threads of a row, and vectors that each has.
struct RowShape {
  int threads = 0;
  int vectors = 0;
  [[nodiscard]] constexpr std::int64_t capacity() const { return std::int64_t{threads} * vectors; }
};

// Rows of two tensors of one dtype that lie to 16 bytes alike, without gaps between elements.
inline bool lie_alike(const ConstTensorView& a, const RowPitch& a_rows, const ConstTensorView& b,
                      const RowPitch& b_rows) {
  if (a_rows.step != 1 || b_rows.step != 1) return false;
  const auto size = static_cast<std::int64_t>(size_of(a.dtype));
  const auto apart = reinterpret_cast<std::uintptr_t>(a.data) - reinterpret_cast<std::uintptr_t>(b.data);
  return apart % kRowVectorBytes == 0 && (a_rows.pitch - b_rows.pitch) * size % kRowVectorBytes == 0 &&
         (a_rows.outer_pitch - b_rows.outer_pitch) * size % kRowVectorBytes == 0;
}

// Vectors of 16 bytes that cover the longest-lying of these rows of `length` elements.
inline std::int64_t covering_vectors(const ConstTensorView& view, const RowPitch& rows, std::int64_t length) {
  const auto size = static_cast<std::int64_t>(size_of(view.dtype));
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(view.data) % kRowVectorBytes == 0 &&
                          rows.pitch * size % kRowVectorBytes == 0 &&
                          rows.outer_pitch * size % kRowVectorBytes == 0;
  return ceil_div(length * size + (is_aligned ? 0 : kRowVectorBytes - size), kRowVectorBytes);
}

// The first of `shapes`, which rise, with room for so many vectors; -1: none has it.
template <std::size_t kCount>
int shape_for(const std::array<RowShape, kCount>& shapes, std::int64_t vectors) {
  const auto* found = std::find_if(shapes.begin(), shapes.end(),
                                   [&](const RowShape& shape) { return shape.capacity() >= vectors; });
  return found == shapes.end() ? -1 : static_cast<int>(found - shapes.begin());
}

// Rows that pass through L2 (device/sm80/passing_rows.h): as many as the last ones are that take the marks back. L2 has room for twice as
// many; up to 21 MiB are on their way at once, in their order. 0: none is marked, since L2 has room for a good part of them all.
inline std::int64_t passing_window(std::int64_t rows, std::int64_t row_bytes) {
  constexpr std::int64_t kLeastBytes = std::int64_t{64} << 20;
  constexpr std::int64_t kWindowBytes = std::int64_t{8} << 20;
  return rows * row_bytes < kLeastBytes ? 0 : ceil_div(kWindowBytes, row_bytes);
}

// A cluster for each row: the shape of its blocks' parts, and how many blocks, a power of two from 2 on; 0: none has room.
struct ClusterCut {
  int shape = 0;
  int blocks = 0;
  int part = 0;  // vectors of each block
};

// The first of `shapes` with room in a cluster. Of few rows each gets as many multiprocessors as there are.
template <std::size_t kCount>
ClusterCut cluster_for(const std::array<RowShape, kCount>& shapes, std::int64_t rows, std::int64_t vectors,
                       const DeviceProperties& device) {
  for (std::size_t shape = 0; shape < kCount; ++shape) {
    for (int blocks = 2; blocks <= kMostClusterBlocks; blocks *= 2) {
      if (shapes[shape].capacity() * blocks < vectors) continue;
      while (blocks < kMostClusterBlocks && rows * blocks * 2 <= device.multiprocessors) blocks *= 2;
      return {static_cast<int>(shape), blocks, static_cast<int>(ceil_div(vectors, blocks))};
    }
  }
  return {};
}

}  // namespace rooftile
