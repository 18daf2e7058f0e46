#include "rooftile/ops/transpose/transpose_plan.h"

#include <utility>

namespace rooftile::transpose_plan {
namespace {

// The largest power of two up to 16 that divides both.
int common_alignment(int alignment, std::int64_t bytes) {
  while (bytes % alignment != 0) alignment /= 2;
  return alignment;
}

void add_leading(Batch& batch, std::int64_t extent, std::int64_t in_stride, std::int64_t out_stride) {
  batch.count *= extent;
  if (extent == 1) return;
  if (batch.rank > 0) {
    const auto last = static_cast<std::size_t>(batch.rank - 1);
    if (batch.in_strides[last] == in_stride * extent && batch.out_strides[last] == out_stride * extent) {
      batch.extents[last] *= extent;
      batch.in_strides[last] = in_stride;
      batch.out_strides[last] = out_stride;
      return;
    }
  }
  const auto at = static_cast<std::size_t>(batch.rank++);
  batch.extents[at] = extent;
  batch.in_strides[at] = in_stride;
  batch.out_strides[at] = out_stride;
}

}  // namespace

bool Geometry::has_tensor_map() const {
  constexpr std::int64_t kMostItems = std::int64_t{1}
                                      << 30;  // coordinates of 31 bits, 16-byte items count double
  constexpr std::int64_t kMostStride = std::int64_t{1} << 40;
  const auto fits = [&](std::int64_t stride) { return stride > 0 && stride < kMostStride; };
  if (!has_rows() || in_alignment != kVectorBytes || out_alignment != kVectorBytes || batch.rank > 1)
    return false;
  if (m >= kMostItems || n >= kMostItems || batch.count >= kMostItems || !fits(in_row) || !fits(out_row))
    return false;
  // A store writes whole 16-byte chunks: the padding behind a row of out may be somebody else's.
  if (m * item_bytes % kVectorBytes != 0) return false;
  return batch.rank == 0 || (fits(batch.in_strides[0]) && fits(batch.out_strides[0]));
}

Geometry geometry(const TransposeArgs& args) {
  const auto unit = static_cast<std::int64_t>(size_of(args.in.dtype));
  const int matrix = args.in.rank() - (args.packed ? 3 : 2);  // the dimension of the rows
  Geometry g;
  g.item_bytes = static_cast<int>(args.packed ? unit * args.in.shape[matrix + 2] : unit);
  g.m = args.in.shape[matrix];
  g.n = args.in.shape[matrix + 1];
  g.in_row = args.in.strides[matrix] * unit;
  g.in_column = args.in.strides[matrix + 1] * unit;
  g.out_row = args.out.strides[matrix] * unit;
  g.out_column = args.out.strides[matrix + 1] * unit;
  g.in_place = args.in.data == args.out.data;
  if (g.m == 1) {
    g.in_row = g.n * g.item_bytes;
    g.out_column = g.item_bytes;
  }
  if (g.n == 1) {
    g.in_column = g.item_bytes;
    g.out_row = g.m * g.item_bytes;
  }
  // Both stored by columns: the same work with m and n, rows and columns in each other's place.
  if (g.in_row == g.item_bytes && g.out_row == g.item_bytes &&
      (g.in_column != g.item_bytes || g.out_column != g.item_bytes)) {
    std::swap(g.m, g.n);
    std::swap(g.in_row, g.in_column);
    std::swap(g.out_row, g.out_column);
  }
  for (int d = 0; d < matrix; ++d) {
    add_leading(g.batch, args.in.shape[d], args.in.strides[d] * unit, args.out.strides[d] * unit);
  }

  const auto address = [](const void* data) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) % kVectorBytes);
  };
  g.in_alignment = common_alignment(common_alignment(kVectorBytes, address(args.in.data)), g.in_row);
  g.out_alignment = common_alignment(common_alignment(kVectorBytes, address(args.out.data)), g.out_row);
  for (std::size_t d = 0; d < static_cast<std::size_t>(g.batch.rank); ++d) {
    g.in_alignment = common_alignment(g.in_alignment, g.batch.in_strides[d]);
    g.out_alignment = common_alignment(g.out_alignment, g.batch.out_strides[d]);
  }
  return g;
}

}  // namespace rooftile::transpose_plan
