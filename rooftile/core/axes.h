// Lists of axes, as the operators take them that reduce or permute: numbers from 0, negative ones from the last.
#pragma once

#include <string_view>

#include "rooftile/core/status.h"
#include "rooftile/core/view.h"

namespace rooftile {

// An argument: no axis at all stands for every axis.
using Axes = Extents;

// Some axes of a tensor.
class AxisSet {
 public:
  // Precondition: check_axes is ok.
  AxisSet(const Axes& axes, int rank) {
    for (const std::int64_t axis : axes) bits_ |= 1u << (axis < 0 ? axis + rank : axis);
    if (axes.empty()) bits_ = (1u << rank) - 1;
  }
  [[nodiscard]] bool contains(int axis) const { return (bits_ >> axis & 1u) != 0; }

 private:
  unsigned bits_ = 0;
};

// Whether the tensor `name` of this rank has all of them, and none is named twice.
[[nodiscard]] Status check_axes(const Axes& axes, int rank, std::string_view name);

// Appends a shape without these axes, or with 1 in their place.
void append_without(const Extents& shape, const AxisSet& axes, bool keepdims, Extents& rest);

}  // namespace rooftile
