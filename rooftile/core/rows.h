// The rows of tensors of one shape: along the last axis, all axes in front collapsed to two at most.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rooftile/core/operator.h"
#include "rooftile/core/view.h"

namespace rooftile {

// Where the rows of one tensor lie, in elements: row r begins at (r / inner) * outer_pitch + (r % inner) * pitch.
struct RowPitch {
  std::int64_t outer_pitch = 0;
  std::int64_t pitch = 0;
  std::int64_t step = 1;  // between neighbours of a row
};

// Row r of all of them is element r / inner of the outer axis, r % inner of the inner one.
template <std::size_t kTensors>
struct Rows {
  std::int64_t count = 1;
  std::int64_t length = 0;
  std::int64_t inner = 1;
  bool fits = true;  // the axes in front lie at two strides at most
  std::array<RowPitch, kTensors> tensors{};

  [[nodiscard]] bool is_empty() const { return count == 0 || length == 0; }
};

// Preconditions: `views` are of one shape and of rank 1 at least; what is absent has no place. The first is there.
template <std::size_t kTensors>
Rows<kTensors> rows_of(const std::array<ConstTensorView, kTensors>& views) {
  Rows<kTensors> rows;
  const Extents& shape = views[0].shape;
  const int last = shape.rank() - 1;
  rows.length = shape[last];
  for (int axis = 0; axis < last; ++axis) rows.count *= shape[axis];
  int level = 0;            // 1: the inner axis, 2: the outer one
  std::int64_t extent = 1;  // of the level
  const auto pitch_of = [&](RowPitch& place) -> std::int64_t& {
    return level == 2 ? place.outer_pitch : place.pitch;
  };
  for (int axis = last - 1; axis >= 0 && rows.count > 0; --axis) {
    if (shape[axis] == 1) continue;
    bool merges = level > 0;
    for (std::size_t t = 0; t < kTensors && merges; ++t)
      merges = is_absent(views[t]) || views[t].strides[axis] == pitch_of(rows.tensors[t]) * extent;
    if (!merges) {
      rows.fits = level < 2;
      if (!rows.fits) return rows;
      ++level;
      extent = 1;
      for (std::size_t t = 0; t < kTensors; ++t)
        if (!is_absent(views[t])) pitch_of(rows.tensors[t]) = views[t].strides[axis];
    }
    extent *= shape[axis];
    if (level == 1) rows.inner = extent;
  }
  for (std::size_t t = 0; t < kTensors; ++t)
    if (!is_absent(views[t])) rows.tensors[t].step = shape[last] < 2 ? 1 : views[t].strides[last];
  return rows;
}

}  // namespace rooftile
