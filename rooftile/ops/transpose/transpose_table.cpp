#include "rooftile/ops/transpose/transpose_table.h"

#include <cstdlib>
#include <utility>

#include "rooftile/ops/transpose/rungs.h"
#include "rooftile/ops/transpose/transpose_plan.h"

namespace rooftile {
namespace {

using transpose_plan::Geometry;
using transpose_plan::geometry;

constexpr const char* kNotInPlace = "not in place: see tile_pairs";
constexpr const char* kNeedsRows =
    "needs rows without gaps and items aligned to their size: see strided_items";

std::string_view supports_rows(const TransposeArgs& args, const DeviceProperties&) {
  const Geometry g = geometry(args);
  if (g.in_place) return kNotInPlace;
  return g.has_rows() ? "" : kNeedsRows;
}

// The lesson rungs are compiled for one size of items: the lesson is the access pattern.
std::string_view supports_lesson(const TransposeArgs& args, const DeviceProperties& device) {
  if (geometry(args).item_bytes != 4) return "a lesson rung: serves items of 4 bytes only";
  return supports_rows(args, device);
}

std::string_view supports_vector_rows(const TransposeArgs& args, const DeviceProperties& device) {
  std::string_view reason = supports_rows(args, device);
  if (reason.empty() && !geometry(args).has_vector_rows()) {
    reason = "needs rows that 16-byte accesses cover exactly: see element_tiles";
  }
  return reason;
}

std::string_view supports_vector_lesson(const TransposeArgs& args, const DeviceProperties& device) {
  const std::string_view reason = supports_lesson(args, device);
  return reason.empty() ? supports_vector_rows(args, device) : reason;
}

std::string_view supports_tensor_maps(const TransposeArgs& args, const DeviceProperties& device) {
  std::string_view reason = supports_rows(args, device);
  if (reason.empty() && !geometry(args).has_tensor_map()) {
    reason = "needs rows aligned to 16 bytes and one leading dimension at most: see element_tiles";
  }
  return reason;
}

std::string_view supports_shifted(const TransposeArgs& args, const DeviceProperties& device) {
  if (geometry(args).item_bytes > 8)
    return "serves items of up to 8 bytes: larger ones are aligned anyway, see tma";
  // NOLINTNEXTLINE(bugprone-implicit-widening-of-multiplication-result): 32
  if (geometry(args).item_bytes < 4 && std::abs(geometry(args).in_row) < 2 * transpose_plan::kVectorBytes) {
    return "needs rows of in that lie 32 bytes apart: see element_tiles";
  }
  return supports_rows(args, device);
}

std::string_view supports_whole_columns(const TransposeArgs& args, const DeviceProperties& device) {
  const Geometry g = geometry(args);
  if (g.item_bytes != 1) return "serves items of a byte: see shifted_tiles";
  if (g.m < transpose_plan::kLeastColumnBytes || g.m > transpose_plan::kMostColumnBytes)
    return "serves columns of 16 to 720 bytes: see shifted_tiles";
  if (!g.out_without_gaps()) return "needs out without gaps: see shifted_tiles";
  return supports_shifted(args, device);
}

std::string_view supports_few_rows(const TransposeArgs& args, const DeviceProperties& device) {
  const Geometry g = geometry(args);
  if (g.m * g.item_bytes > transpose_plan::kMostShortBytes) return "serves columns of up to 64 bytes";
  if (!g.out_without_gaps()) return "needs out without gaps: see element_tiles";
  return supports_rows(args, device);
}

std::string_view supports_few_columns(const TransposeArgs& args, const DeviceProperties& device) {
  const Geometry g = geometry(args);
  if (g.n * g.item_bytes > transpose_plan::kMostShortBytes) return "serves rows of up to 64 bytes";
  if (!g.in_without_gaps()) return "needs in without gaps: see element_tiles";
  return supports_rows(args, device);
}

std::string_view supports_whole_matrices(const TransposeArgs& args, const DeviceProperties&) {
  const Geometry g = geometry(args);
  if (g.m * g.n * g.item_bytes > transpose_plan::kMostWholeBytes) return "serves matrices of up to 8 KiB";
  return g.is_one_piece() ? "" : "needs matrices in one piece, on both sides";
}

std::string_view supports_pairs(const TransposeArgs& args, const DeviceProperties&) {
  const Geometry g = geometry(args);
  if (g.m != g.n) return "serves square matrices only";
  return g.has_rows() ? "" : kNeedsRows;
}

// Every launch takes the matrices as the plan saw them.
RungPlan plan_geometry(const TransposeArgs& args, const DeviceProperties&) {
  return {.config = PlanConfig::of(geometry(args))};
}

std::string_view supports_naive_cpu(const TransposeArgs& args, const DeviceProperties&) {
  return geometry(args).in_place ? "not in place: see threaded" : "";
}

std::vector<Rung<TransposeArgs>> cpu_rungs() {
  return {
      {.rung = transpose_rungs::naive,
       .idea = "Two loops, the definition: reads along rows, writes down columns.",
       .change = "the start of the CPU climb",
       .supports = supports_naive_cpu},
      {.rung = transpose_rungs::blocked,
       .idea =
           "Halving the longer side until a tile is small makes every level of cache see tiles that fit it.",
       .change = "the order of the items: cache lines and pages of out are used up before they leave",
       .source = "Frigo et al. 1999",
       .supports = supports_naive_cpu},
      {.rung = transpose_rungs::threaded,
       .idea = "Every core takes tiles of its own; in place, pairs of tiles.",
       .change = "all cores, and matrices in place"},
  };
}

// Every byte once, and no two lanes in a bank.
std::vector<AccessExpectation> conflict_free() {
  return {{"shared_load_conflict_degree", 1, 1},
          {"shared_store_conflict_degree", 1, 1},
          {"bytes_moved_over_needed", 1, 1}};
}

std::vector<Rung<TransposeArgs>> lesson_rungs() {
  std::vector<Rung<TransposeArgs>> rungs = {
      {.rung = transpose_rungs::naive_coalesced_read,
       .idea = "A thread per element: neighbouring lanes read a row and write a column.",
       .change = "the start of the GPU climb",
       .source = "Ruetsch and Micikevicius 2009",
       .expects = {{"global_load_sectors_per_request", 4, 4}, {"global_store_sectors_per_request", 32, 32}}},
      {.rung = transpose_rungs::naive_coalesced_write,
       .idea =
           "The lanes turned round: they write a row and read a column, which caches forgive more easily.",
       .change = "lanes along m in place of n",
       .source = "Ruetsch and Micikevicius 2009",
       .expects = {{"global_load_sectors_per_request", 32, 32}, {"global_store_sectors_per_request", 4, 4}}},
      {.rung = transpose_rungs::shared_tile,
       .idea =
           "A tile goes into shared memory by rows and comes out by columns: global memory sees rows alone.",
       .change = "a 32 x 32 tile in shared memory and one barrier; its columns lie in one bank",
       .source = "Ruetsch and Micikevicius 2009",
       .expects = {{"shared_load_conflict_degree", 32, 32}, {"bytes_moved_over_needed", 1, 1}}},
      {.rung = transpose_rungs::padded_tile,
       .idea = "A word of padding per row spreads a column over all banks.",
       .change = "rows of 33 words in place of 32",
       .source = "Ruetsch and Micikevicius 2009",
       .expects = conflict_free()},
  };
  for (Rung<TransposeArgs>& rung : rungs) rung.supports = supports_lesson;
  return rungs;
}

std::vector<Rung<TransposeArgs>> tile_rungs() {
  return {
      {.rung = transpose_rungs::vectorized,
       .idea =
           "16-byte accesses to global memory, four loads of a thread on the way at once, rows of 256 bytes.",
       .change = "a 64 x 64 tile and a quarter of the global accesses",
       .supports = supports_vector_lesson,
       .expects = {{"shared_load_conflict_degree", 2, 2}, {"bytes_moved_over_needed", 1, 1}}},
      {.rung = transpose_rungs::swizzled,
       .idea = "Squares of items turn in registers, so that shared memory moves 16-byte vectors as well, "
               "kept apart by an "
               "exclusive or in place of padding.",
       .change = "two shared accesses per vector in place of eight; items of 1 to 16 bytes",
       .source = "CUTLASS's swizzles; PTX ISA, prmt",
       .supports = supports_vector_rows,
       .expects = conflict_free()},
      {.rung = transpose_rungs::tma,
       .idea = "The copy engine brings and takes whole tiles, swizzled by itself; threads only turn them.",
       .change = "two instructions of one thread per tile move all bytes; no address arithmetic, no edge",
       .source = "PTX ISA, cp.async.bulk.tensor",
       .supports = supports_tensor_maps,
       .expects = {{"shared_store_conflict_degree", 1, 1}, {"bytes_moved_over_needed", 1, 1}}},
      {.rung = transpose_rungs::element_tiles,
       .idea =
           "Rows that start anywhere: items move one by one, but many of a thread are on the way at once.",
       .change = "no vectors, hence no alignment; padding in place of the exclusive or",
       .supports = supports_rows,
       .expects = conflict_free()},
      {.rung = transpose_rungs::shifted_tiles,
       .idea = "Aligned vectors cover a misaligned row; shifts in registers and pieces of out that start at "
               "boundaries of their own leave aligned accesses alone.",
       .change =
           "16 bytes per store, and per load of small items, in place of an item; a few rows are read twice",
       .source = "CUDA C++ Programming Guide, __funnelshift_r; PTX ISA, prmt",
       .supports = supports_shifted,
       .expects = {{"shared_load_conflict_degree", 1, 1},
                   {"shared_store_conflict_degree", 1, 1},
                   {"bytes_moved_over_needed", 1, 1.05}}},
      {.rung = transpose_rungs::whole_columns,
       .idea =
           "A tile as tall as the matrix writes one contiguous piece of out, across the ends of its rows.",
       .change = "shifted_tiles that do not end along m: no rows that two tiles read",
       .supports = supports_whole_columns,
       // Vectors that cover a row of 64 bytes, and the two halves of each: L1's.
       .expects = {{"shared_load_conflict_degree", 1, 1},
                   {"shared_store_conflict_degree", 1, 1},
                   {"bytes_moved_over_needed", 1, 1.65}}},
  };
}

std::vector<Rung<TransposeArgs>> shape_rungs() {
  return {
      {.rung = transpose_rungs::few_rows,
       .idea = "A stretch of all of a few long rows is one contiguous piece of out.",
       .change = "a tile as high as the matrix; out is written as it lies in shared memory",
       .supports = supports_few_rows,
       .expects = {{"bytes_moved_over_needed", 1, 1}}},
      {.rung = transpose_rungs::few_columns,
       .idea = "A contiguous piece of in holds a stretch of all of a few long rows of out.",
       .change = "few_rows the other way round",
       .supports = supports_few_columns,
       .expects = {{"bytes_moved_over_needed", 1, 1}}},
      {.rung = transpose_rungs::whole_matrices,
       .idea =
           "Many small matrices are one contiguous piece on both sides: only shared memory sees their shape.",
       .change = "a block takes as many matrices as fit 16 KiB; in place as well",
       .supports = supports_whole_matrices,
       .expects = {{"bytes_moved_over_needed", 1, 1}}},
      {.rung = transpose_rungs::tile_pairs,
       .idea = "In place, a tile and its mirror image exchange their places: both are read before either is "
               "written.",
       .change = "two tiles per block; square matrices, in place or not",
       .supports = supports_pairs,
       .expects = conflict_free()},
      {.rung = transpose_rungs::strided_items,
       .idea = "Addresses computed from the item's number serve any strides.",
       .change = "serves what no other rung does, one item at a time, in place as well",
       .expects = {{"global_store_sectors_per_request", 4, 4}}},
  };
}

}  // namespace

std::vector<Rung<TransposeArgs>> transpose_rung_table() {
  std::vector<Rung<TransposeArgs>> table = cpu_rungs();
  for (auto* part : {&lesson_rungs, &tile_rungs, &shape_rungs}) {
    for (Rung<TransposeArgs>& rung : part()) table.push_back(std::move(rung));
  }
  for (Rung<TransposeArgs>& rung : table) rung.plan = plan_geometry;
  return table;
}

std::string_view transpose_choose(const TransposeArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  const Geometry g = geometry(args);
  if (!g.has_rows()) return "strided_items";
  const auto serves = [&](auto* supports) { return supports(args, device).empty(); };
  if (g.batch.count > 1 && serves(&supports_whole_matrices)) return "whole_matrices";
  if (g.in_place) return "tile_pairs";
  if (serves(&supports_few_rows) && g.m <= g.n) return "few_rows";
  if (serves(&supports_few_columns) && g.n <= g.m) return "few_columns";
  // Wide items keep enough bytes in flight without the copy engine: on an H200 f32 8192 x 8192 has 0.97 of the bound by
  // vectorized and 0.955 by tma, f64 0.97 by element_tiles and 0.96.
  if (serves(&supports_vector_lesson)) return "vectorized";
  if (g.item_bytes >= 8 && serves(&supports_tensor_maps)) return "element_tiles";
  if (device.compute_capability == 90 && serves(&supports_tensor_maps)) return "tma";
  if (serves(&supports_vector_rows)) return "swizzled";
  if (serves(&supports_whole_columns)) return "whole_columns";
  return serves(&supports_shifted) ? "shifted_tiles" : "element_tiles";
}

}  // namespace rooftile
