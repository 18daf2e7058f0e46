// A call as matrices of items, in bytes: what supports(), choose(), the launchers and the CPU rungs share.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "rooftile/core/rung.h"
#include "rooftile/core/view.h"
#include "rooftile/ops/transpose/transpose.h"

namespace rooftile::transpose_plan {

inline constexpr int kVectorBytes = 16;
inline constexpr int kMaxBatchRank = kMaxRank - 2;
// few_rows and few_columns take a matrix whose short side has so many bytes at most.
inline constexpr int kMostShortBytes = 64;
// whole_matrices takes matrices of so many bytes at most.
inline constexpr int kMostWholeBytes = 8192;
// whole_columns takes matrices of bytes whose columns have so many.
inline constexpr int kLeastColumnBytes = kVectorBytes;
inline constexpr int kMostColumnBytes = 720;

// The leading dimensions, those that lie one behind the other merged. Strides are in bytes.
struct Batch {
  int rank = 0;
  std::int64_t count = 1;
  std::array<std::int64_t, kMaxBatchRank> extents{};
  std::array<std::int64_t, kMaxBatchRank> in_strides{};
  std::array<std::int64_t, kMaxBatchRank> out_strides{};
};

// out[j][i] = in[i][j] for i < m, j < n in every matrix of the batch. An item is what moves as one. All
// strides are in bytes; those of an extent of 1 are set as if there were no gaps.
struct Geometry {
  int item_bytes = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t in_row = 0;      // from in[i][j] to in[i + 1][j]
  std::int64_t in_column = 0;   // to in[i][j + 1]
  std::int64_t out_row = 0;     // from out[j][i] to out[j + 1][i]
  std::int64_t out_column = 0;  // to out[j][i + 1]
  Batch batch;
  int in_alignment = 1;  // bytes, at most 16: of the pointer and of every step but the one within a row
  int out_alignment = 1;
  bool in_place = false;

  [[nodiscard]] std::int64_t items() const { return m * n * batch.count; }
  // Rows without gaps between their items, and items aligned to their size.
  [[nodiscard]] bool has_rows() const {
    return in_column == item_bytes && out_column == item_bytes && in_alignment >= item_bytes &&
           out_alignment >= item_bytes;
  }
  // Rows that 16-byte accesses cover exactly.
  [[nodiscard]] bool has_vector_rows() const {
    return has_rows() && in_alignment == kVectorBytes && out_alignment == kVectorBytes &&
           m * item_bytes % kVectorBytes == 0 && n * item_bytes % kVectorBytes == 0;
  }
  // What the tile copies of the hardware ask for: aligned rows, 16 bytes or more apart, of at most two
  // dimensions and a batch.
  [[nodiscard]] bool has_tensor_map() const;
  // All matrices in one piece, on both sides.
  [[nodiscard]] bool is_one_piece() const {
    const std::int64_t matrix = m * n * item_bytes;
    return in_without_gaps() && out_without_gaps() && batch.rank <= 1 &&
           (batch.rank == 0 || (batch.in_strides[0] == matrix && batch.out_strides[0] == matrix));
  }
  [[nodiscard]] bool in_without_gaps() const { return has_rows() && in_row == n * item_bytes; }
  [[nodiscard]] bool out_without_gaps() const { return has_rows() && out_row == m * item_bytes; }
};

// Precondition: the call has passed transpose's checks.
[[nodiscard]] Geometry geometry(const TransposeArgs& args);

// Calls body.operator()<kItemBytes>().
template <class Body>
[[nodiscard]] Status dispatch_item(int item_bytes, Body&& body) {
  switch (item_bytes) {
    case 1:
      return body.template operator()<1>();
    case 2:
      return body.template operator()<2>();
    case 4:
      return body.template operator()<4>();
    case 8:
      return body.template operator()<8>();
    default:
      return body.template operator()<16>();
  }
}

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace rooftile::transpose_plan
