#include "rooftile/ops/gemv/gemv_plan.h"

#include <bit>
#include <cstdint>

#include "rooftile/core/operator.h"

namespace rooftile::gemv_plan {
namespace {

std::int64_t power_of_two(std::int64_t least) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(larger(least, 1))));
}

bool has_batch(const ConstTensorView& a) { return a.rank() == 3; }

std::int64_t last_stride(const ConstTensorView& vector) {
  return vector.shape[vector.rank() - 1] == 1 ? 1 : vector.strides[vector.rank() - 1];
}
std::int64_t batch_stride(const ConstTensorView& view, const ConstTensorView& a) {
  return has_batch(a) && a.shape[0] > 1 ? view.strides[0] : 0;
}

bool at_vectors(const void* data, std::int64_t step, std::int64_t element) {
  return reinterpret_cast<std::uintptr_t>(data) % kVectorBytes == 0 && step * element % kVectorBytes == 0;
}

}  // namespace

Geometry layout_of(const ConstTensorView& a, bool transpose) {
  const int row_axis = a.rank() - 2;
  Geometry g{.transposed = transpose,
             .batches = has_batch(a) ? a.shape[0] : 1,
             .rows = a.shape[row_axis],
             .columns = a.shape[row_axis + 1],
             .pitch = a.strides[row_axis]};
  std::int64_t step = a.strides[row_axis + 1];
  if (g.rows == 1) g.pitch = larger(g.columns, 1);
  if (g.columns == 1) step = 1;
  // Column-major; or a column whose elements lie side by side, which is a row.
  if (step != 1 || (g.columns == 1 && g.rows > 1 && g.pitch == 1)) {
    g.transposed = !transpose;
    g.rows = a.shape[row_axis + 1];
    g.columns = a.shape[row_axis];
    g.pitch = g.rows == 1 ? larger(g.columns, 1) : step;
  }
  return g;
}

LayoutFault fault_of(const ConstTensorView& a, const Geometry& layout) {
  if (a.numel() == 0) return LayoutFault::none;
  const int row_axis = a.rank() - 2;
  const bool unit_rows = a.shape[row_axis + 1] == 1 || a.strides[row_axis + 1] == 1;
  const bool unit_columns = a.shape[row_axis] == 1 || a.strides[row_axis] == 1;
  if (!unit_rows && !unit_columns) return LayoutFault::no_unit_stride;
  return layout.pitch < layout.columns ? LayoutFault::leading_dimension : LayoutFault::none;
}

Geometry geometry(const GemvArgs& args) {
  Geometry g = layout_of(args.a, args.transpose);
  g.a_batch = batch_stride(args.a, args.a);
  g.x_batch = batch_stride(args.x, args.a);
  g.y_batch = batch_stride(args.y, args.a);
  g.x_step = last_stride(args.x);
  g.y_step = last_stride(args.y);
  if (!is_absent(args.c)) {
    g.c_batch = batch_stride(args.c, args.a);
    g.c_step = last_stride(args.c);
  }
  if (args.alpha == 0) (g.transposed ? g.rows : g.columns) = 0;
  return g;
}

bool has_aligned_rows(const GemvArgs& args) {
  const Geometry g = geometry(args);
  return at_vectors(args.a.data, g.rows == 1 ? 0 : g.pitch, element_bytes(args)) &&
         at_vectors(args.a.data, g.a_batch, element_bytes(args));
}

bool is_aligned(const GemvArgs& args) {
  return has_aligned_rows(args) && at_vectors(args.x.data, geometry(args).x_batch, element_bytes(args));
}

bool has_whole_vectors(const GemvArgs& args) {
  return is_aligned(args) && geometry(args).columns * element_bytes(args) % kVectorBytes == 0;
}

Cut cut_outputs(const GemvArgs& args, std::int64_t outputs_per_block) {
  const Geometry g = geometry(args);
  return {.shape = g,
          .blocks = ceil_div(g.batches * g.outputs(), outputs_per_block),
          .aligned = is_aligned(args)};
}

// As many lanes as a row has vectors; one that begins off its alignment may have one more.
Cut cut_several(const GemvArgs& args) {
  const Geometry g = geometry(args);
  const bool aligned = is_aligned(args);
  const std::int64_t vectors = vectors_of(g.columns, args) + (aligned ? 0 : 1);
  const std::int64_t lanes = smaller(power_of_two(vectors), kWarp);
  Cut cut = cut_outputs(args, std::int64_t{kSeveralBlock} / lanes * several_rows(aligned));
  cut.lanes = static_cast<int>(lanes);
  return cut;
}

namespace {

// At a time a thread's loads of all threads: what hangs over at a row's end is asked for in vain, up to a fiftieth of it.
bool covers(const RowBlock& block, std::int64_t vectors) {
  const std::int64_t pass = std::int64_t{block.threads} * block.loads;
  return 50 * pass * ceil_div(vectors, pass) <= 51 * vectors;
}
const RowBlock& row_block_of(std::int64_t vectors) {
  const bool is_long = vectors * kVectorBytes >= kLongRowBytes;
  const RowBlock& best = is_long ? kLongRows : kWideRows;
  return covers(best, vectors) ? best : kOtherRows;
}
std::int64_t row_vectors(const Geometry& shape, const GemvArgs& args) {
  return larger(1, shape.columns * element_bytes(args) / kVectorBytes);
}

}  // namespace

Cut cut_whole_rows(const GemvArgs& args) {
  Cut cut = cut_outputs(args, 1);
  const RowBlock& block = row_block_of(row_vectors(cut.shape, args));
  cut.lanes = block.threads;
  cut.rows = block.rows;
  cut.tiles = ceil_div(cut.shape.rows, block.rows);
  cut.blocks = cut.tiles * cut.shape.batches;
  return cut;
}

bool suits_whole_rows(const GemvArgs& args, const DeviceProperties& device) {
  const Cut cut = cut_whole_rows(args);
  const std::int64_t vectors = row_vectors(cut.shape, args);
  if (vectors < kLeastRowVectors || vectors * kVectorBytes > kCachedBytes) return false;
  const RowBlock& block = row_block_of(vectors);
  const std::int64_t rounds = ceil_div(vectors, std::int64_t{block.threads} * block.loads);
  return rounds <= kFewRounds || cut.blocks >= std::int64_t{2} * device.multiprocessors;
}

namespace {

// Groups of rows share what is loaded of x, where there are so many rows and their vectors lie alike. While they do not fill
// the device, several blocks share a group; each has at least a vector for every thread.
Cut cut_split(const Geometry& g, bool aligned, const GemvArgs& args, const DeviceProperties& device) {
  Cut cut{.shape = g, .aligned = aligned};
  cut.rows = aligned && g.rows >= kSplitRows ? kSplitRows : 1;
  cut.tiles = ceil_div(g.rows, cut.rows);
  const std::int64_t groups = larger(1, cut.tiles * g.batches);
  const std::int64_t vectors = larger(1, vectors_of(g.columns, args));
  const std::int64_t resident = std::int64_t{device.multiprocessors} * kSplitBlocks;
  const std::int64_t loads = split_loads(cut.rows);
  // Few rows: a tile of one load per row and thread to a block, until the device is full.
  const std::int64_t most =
      ceil_div(vectors, std::int64_t{kSplitBlock} * (groups * 4 < resident ? 1 : loads));
  const std::int64_t least = ceil_div(vectors, kSplitBlock * kLongestChain);
  cut.parts = larger(clamped(resident / groups, 1, most), least);
  cut.part = ceil_div(ceil_div(vectors, cut.parts), kLineVectors) * kLineVectors;
  cut.parts = ceil_div(vectors, cut.part);
  cut.blocks = groups * cut.parts;
  return cut;
}

}  // namespace

Cut cut_split(const GemvArgs& args, const DeviceProperties& device) {
  return cut_split(geometry(args), is_aligned(args), args, device);
}

WorkspaceSpec split_workspace(const GemvArgs& args, const DeviceProperties& device) {
  const Geometry g = geometry(args);
  WorkspaceSpec spec;
  for (const bool aligned : {false, true}) {
    const Cut cut = cut_split(g, aligned, args, device);
    if (cut.parts == 1) continue;
    const auto rows = static_cast<std::size_t>(g.batches * g.rows);
    const std::size_t bytes = rows * static_cast<std::size_t>(cut.parts) * sum_bytes(args);
    if (bytes > spec.bytes) spec.bytes = bytes;
    spec.zeroed_bytes = rows * sizeof(std::uint32_t);
  }
  return spec;
}

// Threads along the rows have so many of them each that all loads are taken, as far as there are so many; the others stand side by side.
Cut cut_columns(const GemvArgs& args, const DeviceProperties& device) {
  Cut cut = cut_outputs(args, 1);
  const Geometry& g = cut.shape;
  cut.aligned = has_aligned_rows(args);
  const std::int64_t vectors = larger(1, vectors_of(g.columns, args));
  const std::int64_t loads = column_loads(size_of(args.a.dtype), cut.aligned);
  const std::int64_t useful = clamped(power_of_two(ceil_div(g.rows, loads)), 1, kColumnBlock);
  cut.lanes = static_cast<int>(smaller(power_of_two(vectors), larger(kColumnThreads, kColumnBlock / useful)));
  cut.tiles = ceil_div(vectors, cut.lanes);
  const std::int64_t row_threads = kColumnBlock / cut.lanes;
  const std::int64_t tiles = larger(1, cut.tiles * g.batches);
  const std::int64_t resident = std::int64_t{device.multiprocessors} * kColumnBlocks;
  // Tiles that fill more than half of the device are cut in two: a second round of blocks, not idle multiprocessors.
  const std::int64_t wanted = tiles < resident ? larger(2, resident / tiles) : 1;
  const std::int64_t most = larger(1, g.rows / (row_threads * loads));
  const std::int64_t least = larger(1, ceil_div(g.rows, row_threads * kLongestChain));
  cut.parts = larger(smaller(wanted, most), least);
  cut.part = larger(1, ceil_div(g.rows, cut.parts));
  // Whole rounds of loads: fewer are waited for one after the other.
  const std::int64_t round = row_threads * loads;
  if (cut.part > round) cut.part = ceil_div(cut.part, round) * round;
  cut.parts = larger(1, ceil_div(g.rows, cut.part));
  cut.blocks = tiles * cut.parts;
  return cut;
}

}  // namespace rooftile::gemv_plan
