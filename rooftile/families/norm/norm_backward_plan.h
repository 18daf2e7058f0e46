// How the rungs of the norms' backward passes cut a call. Args: LayerNormBackwardArgs or RmsNormBackwardArgs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rooftile/core/device.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/row_cut.h"
#include "rooftile/core/rows.h"
#include "rooftile/core/rung.h"
#include "rooftile/core/status.h"

namespace rooftile::norm_backward_plan {

// Places of the tensors in Rows.
inline constexpr std::size_t kX = 0;
inline constexpr std::size_t kDy = 1;
inline constexpr std::size_t kDsum = 2;
inline constexpr std::size_t kDx = 3;
inline constexpr std::size_t kTensors = 4;

inline constexpr int kRowThreads = 256;  // rows_then_columns, column_parts: of the block that has a row

// Sums over rows: a warp's lanes side by side in columns, a block's warps in rows.
inline constexpr int kColumns = 32;
inline constexpr int kColumnWarps = 8;
inline constexpr int kSumWarps = 32;
inline constexpr std::int64_t kLeastPartRows = 64;

// What a part of the rows adds up is one chain in f32.
inline constexpr std::int64_t kMostPartRows = 16384;
inline constexpr std::int64_t kMostParts = 65535;

// fused: threads of a block, vectors of a row that each has, rows at a time, and whether the next ones are loaded meanwhile, for which
// four vectors of columns leave no registers. fused_elements: the same of single elements.
struct GroupShape {
  int threads = 0;
  int vectors = 0;
  int rows = 0;
  bool looks_ahead = true;
  [[nodiscard]] constexpr std::int64_t capacity() const { return std::int64_t{threads} * vectors; }
};
inline constexpr std::array<GroupShape, 7> kGroupShapes = {
    {{32, 1, 4}, {64, 1, 4}, {128, 1, 4}, {256, 1, 4}, {512, 1, 4}, {512, 2, 1}, {512, 4, 1, false}}};
inline constexpr std::array<GroupShape, 10> kElementShapes = {{{32, 4, 4},
                                                               {64, 4, 4},
                                                               {128, 4, 4},
                                                               {256, 3, 4},
                                                               {256, 5, 2},
                                                               {512, 3, 2},
                                                               {512, 4, 2},
                                                               {512, 6, 1},
                                                               {512, 8, 1},
                                                               {512, 16, 1, false}}};
template <bool kOfVectors>
constexpr const auto& group_shapes() {
  if constexpr (kOfVectors)
    return kGroupShapes;
  else
    return kElementShapes;
}
// Threads of a multiprocessor: 128 registers for each.
inline constexpr int kResidentThreads = 512;

// CPU: parts of the rows, whatever the cores are.
inline constexpr std::int64_t kCpuParts = 64;

// Of rows of so many vectors, or elements; -1: there is none.
template <bool kOfVectors>
int group_shape_for(std::int64_t length) {
  const auto& shapes = group_shapes<kOfVectors>();
  for (std::size_t shape = 0; shape < shapes.size(); ++shape)
    if (shapes[shape].capacity() >= length) return static_cast<int>(shape);
  return -1;
}

// What a row's kernel leaves for the columns: three numbers.
inline constexpr std::int64_t kRowFoundBytes = 12;

struct Cut {
  Rows<kTensors> rows{};
  int shape = 0;           // fused: which of kGroupShapes, fused_elements: of kElementShapes
  std::int64_t parts = 0;  // of the rows, whose sums are added up at the end
  std::int64_t part_rows = 0;
};

template <class Args>
Rows<kTensors> geometry(const Args& args) {
  return rows_of<kTensors>({args.x, args.dy, args.dsum, args.dx});
}

template <class Args>
std::int64_t row_bytes(const Args& args) {
  return args.x.shape[args.x.rank() - 1] * static_cast<std::int64_t>(size_of(args.x.dtype));
}

// What slots and parameters do not say.
template <class Args>
Status check(const Args& args) {
  if (!is_absent(args.weight) && args.weight.shape[0] != args.x.shape[args.x.rank() - 1])
    return invalid_argument("weight must have an element for each column of x");
  const Rows<kTensors> rows = geometry(args);
  if (rows.fits && rows.count > kMostParts * kMostPartRows)
    return unsupported("more than 65535 * 16384 rows: call it for a part of them, and add up the columns");
  if (!rows.fits) {
    return unsupported(
        "the axes in front of the rows lie at more than two strides: call it for a part of the tensor at a time, or for a "
        "copy without gaps");
  }
  return {};
}

// Rows of aligned vectors, of all tensors.
template <class Args>
std::string_view supports_fused(const Args& args, const DeviceProperties&) {
  const Rows<kTensors> rows = geometry(args);
  const auto is_aligned = [&](const ConstTensorView& view, std::size_t tensor) {
    if (is_absent(view)) return true;
    const auto size = static_cast<std::int64_t>(size_of(view.dtype));
    const RowPitch& place = rows.tensors[tensor];
    return reinterpret_cast<std::uintptr_t>(view.data) % kRowVectorBytes == 0 && place.step == 1 &&
           place.pitch * size % kRowVectorBytes == 0 && place.outer_pitch * size % kRowVectorBytes == 0;
  };
  if (row_bytes(args) % kRowVectorBytes != 0 || !is_aligned(args.x, kX) || !is_aligned(args.dy, kDy) ||
      !is_aligned(args.dsum, kDsum) || !is_aligned(args.dx, kDx) ||
      (!is_absent(args.weight) && reinterpret_cast<std::uintptr_t>(args.weight.data) % kRowVectorBytes != 0))
    return "needs rows of whole vectors at multiples of 16 bytes: see fused_elements, column_parts";
  if (group_shape_for<true>(row_bytes(args) / kRowVectorBytes) < 0)
    return "registers have room for rows of 32 KiB: see column_parts";
  return {};
}

// Rows whose elements lie side by side, wherever they begin.
template <class Args>
std::string_view supports_elements(const Args& args, const DeviceProperties&) {
  const Rows<kTensors> rows = geometry(args);
  for (const RowPitch& tensor : rows.tensors)
    if (tensor.step != 1 && rows.length > 1) return "needs elements side by side: see column_parts";
  if (group_shape_for<false>(rows.length) < 0)
    return "registers have room for rows of 8192 elements: see column_parts";
  return {};
}

inline std::size_t parts_bytes(std::int64_t parts, std::int64_t n) {
  return static_cast<std::size_t>(parts * 2 * n) * sizeof(float);
}

// The rows' numbers, then the parts' sums.
inline RungPlan plan_with_parts(Cut cut, std::int64_t found_rows) {
  const std::int64_t found = ceil_div(found_rows * kRowFoundBytes, 256) * 256;
  return {.workspace = {.bytes = static_cast<std::size_t>(found) + parts_bytes(cut.parts, cut.rows.length)},
          .config = PlanConfig::of(cut)};
}

inline Cut cut_into(const Rows<kTensors>& rows, std::int64_t parts) {
  Cut cut{.rows = rows};
  cut.part_rows = larger(1, ceil_div(rows.count, larger(1, parts)));
  cut.parts = ceil_div(rows.count, cut.part_rows);
  return cut;
}

template <class Args>
RungPlan plan_columns(const Args& args, const DeviceProperties&) {
  const Rows<kTensors> rows = geometry(args);
  return plan_with_parts(cut_into(rows, ceil_div(rows.count, kMostPartRows)), rows.count);
}
template <class Args>
RungPlan plan_column_parts(const Args& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  const std::int64_t blocks_wide = larger(1, ceil_div(rows.length, kColumns));
  const std::int64_t wanted = ceil_div(std::int64_t{8} * device.multiprocessors, blocks_wide);
  const std::int64_t parts =
      larger(smaller(wanted, ceil_div(rows.count, kLeastPartRows)), ceil_div(rows.count, kMostPartRows));
  return plan_with_parts(cut_into(rows, parts), rows.count);
}
// A block's rows are every parts-th.
template <bool kOfVectors, class Args>
RungPlan plan_groups(const Args& args, const DeviceProperties& device) {
  Cut cut{.rows = geometry(args)};
  cut.shape = group_shape_for<kOfVectors>(kOfVectors ? row_bytes(args) / kRowVectorBytes : cut.rows.length);
  const int threads = group_shapes<kOfVectors>()[static_cast<std::size_t>(cut.shape)].threads;
  const std::int64_t resident = std::int64_t{device.multiprocessors} * (kResidentThreads / threads);
  cut.parts = smaller(cut.rows.count, larger(resident, ceil_div(cut.rows.count, kMostPartRows)));
  return plan_with_parts(cut, 0);
}
// In double.
template <class Args>
RungPlan plan_cpu(const Args& args, const DeviceProperties&) {
  const Rows<kTensors> rows = geometry(args);
  const Cut cut = cut_into(rows, kCpuParts);
  return {.workspace = {.bytes = static_cast<std::size_t>(cut.parts * 2 * rows.length) * sizeof(double)},
          .config = PlanConfig::of(cut)};
}

}  // namespace rooftile::norm_backward_plan
