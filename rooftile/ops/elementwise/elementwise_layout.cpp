#include "rooftile/ops/elementwise/elementwise_layout.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace rooftile::elementwise_layout {
namespace {

using Steps = std::array<std::int64_t, kMostOperands>;  // bytes, of each tensor

struct Dimension {
  std::int64_t extent = 1;
  Steps steps{};
};

// The dimensions of out with more than one element, outermost first.
struct Dimensions {
  std::array<Dimension, kMaxRank> list{};
  int count = 0;

  [[nodiscard]] std::span<Dimension> span() { return {list.data(), static_cast<std::size_t>(count)}; }
};

// The step of `view` along dimension d of out, counted from the last.
std::int64_t step_from_last(const ConstTensorView& view, int d) {
  const int at = view.rank() - 1 - d;
  if (at < 0 || view.shape[at] == 1) return 0;
  return view.strides[at] * static_cast<std::int64_t>(size_of(view.dtype));
}

Dimensions dimensions_of(std::span<const ConstTensorView> tensors) {
  const ConstTensorView& out = tensors.back();
  Dimensions result;
  for (int d = out.rank() - 1; d >= 0; --d) {
    Dimension dimension{.extent = out.shape[out.rank() - 1 - d]};
    if (dimension.extent == 1) continue;
    for (std::size_t t = 0; t < tensors.size(); ++t) dimension.steps[t] = step_from_last(tensors[t], d);
    result.list[static_cast<std::size_t>(result.count++)] = dimension;
  }
  // In the order in which out lies in memory: tensors that are all stored by columns are as good as by rows. By insertion:
  // std::stable_sort allocates.
  const std::size_t last = tensors.size() - 1;
  const std::span<Dimension> dimensions = result.span();
  for (std::size_t i = 1; i < dimensions.size(); ++i) {
    for (std::size_t k = i; k > 0; --k) {
      if (std::abs(dimensions[k - 1].steps[last]) >= std::abs(dimensions[k].steps[last])) break;
      std::swap(dimensions[k - 1], dimensions[k]);
    }
  }
  return result;
}

// Neighbours that lie one behind the other in every tensor become one.
void merge(Dimensions& dimensions, std::size_t tensors) {
  int kept = 0;
  for (int d = 0; d < dimensions.count; ++d) {
    const Dimension& inner = dimensions.list[static_cast<std::size_t>(d)];
    Dimension* outer = kept > 0 ? &dimensions.list[static_cast<std::size_t>(kept - 1)] : nullptr;
    bool together = outer != nullptr;
    for (std::size_t t = 0; together && t < tensors; ++t)
      together = outer->steps[t] == inner.steps[t] * inner.extent;
    if (together) {
      const std::int64_t extent = outer->extent * inner.extent;
      *outer = inner;
      outer->extent = extent;
    } else {
      dimensions.list[static_cast<std::size_t>(kept++)] = inner;
    }
  }
  dimensions.count = kept;
}

// The largest power of two up to `limit` that divides all of them.
int common_width(std::int64_t limit, std::int64_t address, std::span<const std::int64_t> steps) {
  std::int64_t all = std::gcd(limit, address);
  for (const std::int64_t step : steps) all = std::gcd(all, step);
  return static_cast<int>(all);
}

}  // namespace

bool Layout::aligned() const {
  return outer == 0 &&
         std::all_of(operands.begin(), operands.begin() + inputs + 1,
                     [this](const Operand& operand) { return operand.width == pack * operand.size; });
}

bool Layout::has_aligned_rows() const {
  return output().width == pack * output().size &&
         std::all_of(operands.begin(), operands.begin() + inputs, [this](const Operand& operand) {
           return operand.width == pack * operand.size || operand.element_step == 0;
         });
}

Layout layout_of(std::span<const ConstTensorView> inputs, const ConstTensorView& out, int most_elements) {
  std::array<ConstTensorView, kMostOperands> tensors;
  std::copy(inputs.begin(), inputs.end(), tensors.begin());
  tensors[inputs.size()] = out;
  const std::span<const ConstTensorView> all(tensors.data(), inputs.size() + 1);
  Dimensions dimensions = dimensions_of(all);
  merge(dimensions, all.size());

  Layout layout{.inputs = static_cast<int>(inputs.size())};
  std::size_t widest = 1;
  for (const ConstTensorView& tensor : all) widest = std::max(widest, size_of(tensor.dtype));
  layout.pack = std::min(kVectorBytes / static_cast<int>(widest), most_elements);
  // A single element: a row of one.
  const Dimension row =
      dimensions.count > 0 ? dimensions.list[static_cast<std::size_t>(dimensions.count - 1)] : Dimension{};
  layout.columns = row.extent;
  layout.outer = std::max(dimensions.count - 1, 0);
  for (int d = 0; d < layout.outer; ++d) {
    layout.extents[static_cast<std::size_t>(d)] = dimensions.list[static_cast<std::size_t>(d)].extent;
    layout.rows *= dimensions.list[static_cast<std::size_t>(d)].extent;
  }
  const auto out_size = static_cast<std::int64_t>(size_of(out.dtype));
  const bool dense_row = row.steps[inputs.size()] == out_size || layout.columns == 1;
  if (layout.outer == 0 && dense_row) {
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out.data));
    layout.lead = static_cast<int>(address % kLineBytes / out_size);
  }
  for (std::size_t t = 0; t < all.size(); ++t) {
    Operand& operand = layout.operands[t];
    operand.size = static_cast<int>(size_of(all[t].dtype));
    operand.element_step = layout.columns == 1 ? operand.size : row.steps[t];
    for (int d = 0; d < layout.outer; ++d)
      operand.outer_steps[static_cast<std::size_t>(d)] =
          dimensions.list[static_cast<std::size_t>(d)].steps[t];
    if (operand.element_step == operand.size) {
      const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(all[t].data));
      operand.width = common_width(std::int64_t{layout.pack} * operand.size,
                                   address - std::int64_t{layout.lead} * operand.size,
                                   {operand.outer_steps.data(), static_cast<std::size_t>(layout.outer)});
      operand.pitch = operand.width;
    } else {
      operand.width = operand.size;
      operand.pitch = operand.element_step;
    }
  }
  return layout;
}

bool broadcast(Extents& shape, const Extents& other) {
  const Extents shorter = shape.rank() >= other.rank() ? other : shape;
  if (shape.rank() < other.rank()) shape = other;
  const int missing = shape.rank() - shorter.rank();
  for (int d = 0; d < shorter.rank(); ++d) {
    std::int64_t& extent = shape[missing + d];
    if (extent == 1) {
      extent = shorter[d];
    } else if (shorter[d] != 1 && shorter[d] != extent) {
      return false;
    }
  }
  return true;
}

}  // namespace rooftile::elementwise_layout
