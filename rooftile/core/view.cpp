#include "rooftile/core/view.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace rooftile {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::string_view reason_of(ShapeFault fault) {
  switch (fault) {
    case ShapeFault::rank:
      return "a shape has at most 8 extents";
    case ShapeFault::memory:
      return "the shape given to view() has another number of elements than the memory";
    case ShapeFault::axis:
      return "the view has no such axis: count from 0, or from the last by -1";
    case ShapeFault::range:
      return "slice() steps forward, by 1 or more, and select() takes an index of the axis: use flip() for backwards";
    case ShapeFault::permutation:
      return "permute() takes every axis once";
    case ShapeFault::reshape:
      return "reshape() keeps the number of elements and does not copy: choose another shape, or copy the tensor";
    case ShapeFault::squeeze:
      return "squeeze() takes away an axis of extent 1";
    case ShapeFault::expand:
      return "expand() repeats axes of extent 1 and adds new ones in front";
    case ShapeFault::none:
      break;
  }
  return "";
}

// With what was asked of which shape, where that is known.
std::string fault_text(const Extents& shape, const Extents& of) {
  std::string text(reason_of(shape.fault()));
  // As much as a broken one keeps.
  const auto told = [](const Extents& extents) {
    std::string list = Extents(extents.asked()).to_string();
    if (extents.asked().size() + 1 == kMaxRank) list.insert(list.size() - 1, ",...");
    return list;
  };
  if (!shape.asked().empty()) text += "; asked for " + told(shape);
  if (!shape.asked().empty() && of.fault() != ShapeFault::none) text += " of " + told(of);
  return text;
}

Status too_large(const Extents& shape) {
  return invalid_argument("shape " + shape.to_string() +
                          " is too large: its size in bytes must fit in 63 bits");
}

}  // namespace

std::string Extents::to_string() const {
  std::string text = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) text += ',';
    text += std::to_string((*this)[i]);
  }
  return text + "]";
}

Result<std::int64_t> checked_numel(const Extents& shape, std::size_t element_size) {
  std::int64_t nonzero = 1;  // the product of the extents that are not zero
  bool empty = false;
  if (shape.fault() != ShapeFault::none) return invalid_argument(fault_text(shape, {}));
  for (const std::int64_t extent : shape.span()) {
    if (extent < 0) {
      return invalid_argument("shape " + shape.to_string() + " has a negative extent: extents start at 0");
    }
    if (extent == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(nonzero, extent, &nonzero)) {
      return too_large(shape);
    }
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(nonzero, element_size, &bytes)) return too_large(shape);
  return empty ? 0 : nonzero;
}

Extents contiguous_strides(const Extents& shape) {
  Extents strides = shape;
  std::int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = stride;
    // Modulo 2^64: whoever is given the view refuses a shape that is too large.
    stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) *
                                       static_cast<std::uint64_t>(std::max<std::int64_t>(shape[i], 1)));
  }
  return strides;
}

namespace {

// What is wrong with a view, for text that is made where there is something.
Status view_error(const ConstTensorView& view, std::string_view name, const std::string& rule) {
  return invalid_argument(std::string(name) + ": " + rule)
      .with_shapes(std::string(name) + " " + view.to_string());
}

}  // namespace

namespace {

// Whether check_view finds nothing wrong, without the text of what.
bool is_sound(const ConstTensorView& view, ViewMemory memory) {
  const std::size_t element = size_of(view.dtype);
  if (element == 0 || view.shape.fault() != ShapeFault::none || view.shape.rank() != view.strides.rank())
    return false;
  // The number of elements, and of those furthest before and after data, all in bytes.
  auto nonzero = static_cast<std::int64_t>(element);
  std::int64_t before = 0;
  auto after = nonzero;
  bool empty = false;
  bool too_far = false;
  for (int i = 0; i < view.rank(); ++i) {
    const std::int64_t extent = view.shape[i];
    if (extent < 0) return false;
    if (extent == 0) {
      empty = true;
      continue;
    }
    if (__builtin_mul_overflow(nonzero, extent, &nonzero)) return false;
    std::int64_t reach = 0;
    std::int64_t& side = view.strides[i] < 0 ? before : after;
    too_far = too_far || __builtin_mul_overflow(view.strides[i], extent - 1, &reach) ||
              __builtin_mul_overflow(reach, static_cast<std::int64_t>(element), &reach) ||
              __builtin_add_overflow(side, reach, &side);
  }
  if (empty) return true;
  if (too_far) return false;
  if (view.data == nullptr) return memory == ViewMemory::later;
  return reinterpret_cast<std::uintptr_t>(view.data) % element == 0;
}

}  // namespace

Status check_view(const ConstTensorView& view, std::string_view name, ViewMemory memory) {
  if (is_sound(view, memory)) return {};
  const auto error = [&](const std::string& rule) { return view_error(view, name, rule); };
  if (view.shape.fault() != ShapeFault::none) return error(fault_text(view.shape, view.strides));
  if (view.shape.rank() != view.strides.rank()) {
    return error("strides " + view.strides.to_string() + " do not belong to shape " + view.shape.to_string() +
                 ": give one stride per extent");
  }
  const std::size_t element = size_of(view.dtype);
  if (element == 0) return error("the dtype is none of Rooftile's: use one of the DType enumerators");
  if (const Result<std::int64_t> numel = checked_numel(view.shape, element); !numel.ok())
    return error(numel.status().rule());
  if (view.data == nullptr) return error("data is null: only an empty tensor may have no data");
  if (reinterpret_cast<std::uintptr_t>(view.data) % element != 0) {
    return error("data is not aligned to its element of " + std::to_string(element) +
                 " bytes: copy the tensor to aligned memory");
  }
  return error("strides " + view.strides.to_string() + " reach beyond 63 bits");
}

namespace view_detail {
namespace {

// Modulo 2^64: whoever is given the view refuses strides that reach too far.
std::int64_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// What was asked of which shape.
ViewLayout broken(ShapeFault fault, const Extents& asked, const ViewLayout& of) {
  return {Extents::broken(fault, asked), Extents::broken(fault, of.shape), 0};
}

// What a broken view is asked for is broken for the first reason.
bool is_broken(const ViewLayout& layout) { return layout.shape.fault() != ShapeFault::none; }

// The axis from 0 to rank - 1, or -1.
int plain_axis(int axis, int rank) {
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? axis : -1;
}

Extents without(const Extents& extents, int axis) {
  Extents rest;
  for (int i = 0; i < extents.rank(); ++i) {
    if (i != axis) rest.push_back(extents[i]);
  }
  return rest;
}

Extents with_inserted(const Extents& extents, int axis, std::int64_t value) {
  Extents more;
  for (int i = 0; i <= extents.rank(); ++i) {
    if (i == axis) more.push_back(value);
    if (i < extents.rank()) more.push_back(extents[i]);
  }
  return more;
}

// Without the axes of extent 1, whose strides mean nothing, and with neighbours merged that one stride serves.
ViewLayout merged(const ViewLayout& layout) {
  ViewLayout result;
  for (int i = 0; i < layout.shape.rank(); ++i) {
    if (layout.shape[i] == 1) continue;
    const int last = result.shape.rank() - 1;
    if (last >= 0 && result.strides[last] == product(layout.strides[i], layout.shape[i])) {
      result.shape[last] *= layout.shape[i];
      result.strides[last] = layout.strides[i];
    } else {
      result.shape.push_back(layout.shape[i]);
      result.strides.push_back(layout.strides[i]);
    }
  }
  return result;
}

// The extent that -1 stands for; the shape as it is where there is none.
Extents completed(Extents shape, std::int64_t elements) {
  int open = -1;
  std::int64_t rest = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == -1 && open < 0) {
      open = i;
    } else if (shape[i] < 0 || __builtin_mul_overflow(rest, shape[i], &rest)) {
      return Extents::broken(ShapeFault::reshape);
    }
  }
  if (open >= 0) {
    if (rest == 0 || elements % rest != 0) return Extents::broken(ShapeFault::reshape);
    shape[open] = elements / rest;
    rest *= shape[open];
  }
  return rest == elements ? shape : Extents::broken(ShapeFault::reshape);
}

}  // namespace

ViewLayout sliced(ViewLayout layout, int axis, std::int64_t begin, std::int64_t end, std::int64_t step) {
  if (is_broken(layout)) return layout;
  const int a = plain_axis(axis, layout.shape.rank());
  if (a < 0) return broken(ShapeFault::axis, {axis}, layout);
  if (step < 1) return broken(ShapeFault::range, {begin, end, step}, layout);
  const std::int64_t extent = layout.shape[a];
  const auto inside = [extent](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  begin = inside(begin);
  end = std::max(inside(end), begin);
  layout.shape[a] = end == begin ? 0 : (end - begin - 1) / step + 1;
  if (layout.shape[a] > 0) layout.offset += product(begin, layout.strides[a]);
  // Of one element or none no stride is used; step may be as large as its type.
  if (layout.shape[a] > 1) layout.strides[a] = product(layout.strides[a], step);
  return layout;
}

ViewLayout selected(ViewLayout layout, int axis, std::int64_t index) {
  if (is_broken(layout)) return layout;
  const int a = plain_axis(axis, layout.shape.rank());
  if (a < 0) return broken(ShapeFault::axis, {axis}, layout);
  if (index < 0) index += layout.shape[a];
  if (index < 0 || index >= layout.shape[a]) return broken(ShapeFault::range, {index}, layout);
  return {without(layout.shape, a), without(layout.strides, a),
          layout.offset + product(index, layout.strides[a])};
}

ViewLayout flipped(ViewLayout layout, int axis) {
  if (is_broken(layout)) return layout;
  const int a = plain_axis(axis, layout.shape.rank());
  if (a < 0) return broken(ShapeFault::axis, {axis}, layout);
  if (layout.shape[a] > 0) layout.offset += product(layout.shape[a] - 1, layout.strides[a]);
  layout.strides[a] = product(-1, layout.strides[a]);
  return layout;
}

ViewLayout permuted(const ViewLayout& layout, const Extents& axes) {
  if (is_broken(layout)) return layout;
  const int rank = layout.shape.rank();
  if (axes.rank() != rank) return broken(ShapeFault::permutation, axes, layout);
  ViewLayout result = layout;
  unsigned seen = 0;
  for (int i = 0; i < rank; ++i) {
    const int a = axes[i] < -rank || axes[i] >= rank ? -1 : plain_axis(static_cast<int>(axes[i]), rank);
    if (a < 0 || (seen >> a & 1u) != 0) return broken(ShapeFault::permutation, axes, layout);
    seen |= 1u << a;
    result.shape[i] = layout.shape[a];
    result.strides[i] = layout.strides[a];
  }
  return result;
}

ViewLayout reshaped(const ViewLayout& layout, Extents shape) {
  if (is_broken(layout)) return layout;
  const Extents asked = shape;
  const Result<std::int64_t> elements = checked_numel(layout.shape);
  if (!elements.ok()) return broken(ShapeFault::reshape, asked, layout);
  shape = completed(shape, *elements);
  if (shape.fault() != ShapeFault::none) return broken(shape.fault(), asked, layout);
  if (*elements == 0) return {shape, contiguous_strides(shape), layout.offset};
  // Each merged axis is divided among the new axes that make it up, from the last.
  const ViewLayout old = merged(layout);
  Extents strides = shape;
  int axis = old.shape.rank() - 1;
  std::int64_t left = axis >= 0 ? old.shape[axis] : 1;
  std::int64_t stride = axis >= 0 ? old.strides[axis] : 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (left == 1 && shape[i] > 1) {
      --axis;
      left = old.shape[axis];
      stride = old.strides[axis];
    }
    strides[i] = stride;
    if (left % shape[i] != 0) return broken(ShapeFault::reshape, asked, layout);
    left /= shape[i];
    stride = product(stride, shape[i]);
  }
  return {shape, strides, layout.offset};
}

ViewLayout squeezed(const ViewLayout& layout, int axis) {
  if (is_broken(layout)) return layout;
  const int a = plain_axis(axis, layout.shape.rank());
  if (a < 0) return broken(ShapeFault::axis, {axis}, layout);
  if (layout.shape[a] != 1) return broken(ShapeFault::squeeze, {axis}, layout);
  return {without(layout.shape, a), without(layout.strides, a), layout.offset};
}

ViewLayout unsqueezed(const ViewLayout& layout, int axis) {
  if (is_broken(layout)) return layout;
  const int a = plain_axis(axis, layout.shape.rank() + 1);
  if (a < 0) return broken(ShapeFault::axis, {axis}, layout);
  if (layout.shape.rank() == kMaxRank) return broken(ShapeFault::rank, {}, layout);
  return {with_inserted(layout.shape, a, 1), with_inserted(layout.strides, a, 0), layout.offset};
}

ViewLayout expanded(const ViewLayout& layout, const Extents& shape) {
  if (is_broken(layout)) return layout;
  if (shape.fault() != ShapeFault::none) return broken(shape.fault(), {}, layout);
  const int added = shape.rank() - layout.shape.rank();
  if (added < 0) return broken(ShapeFault::expand, shape, layout);
  ViewLayout result{shape, shape, layout.offset};
  for (int i = 0; i < shape.rank(); ++i) {
    const std::int64_t old = i < added ? 1 : layout.shape[i - added];
    if (shape[i] != old && old != 1) return broken(ShapeFault::expand, shape, layout);
    result.strides[i] = i < added || shape[i] != old ? 0 : layout.strides[i - added];
  }
  return result;
}

bool holds_exactly(const Extents& shape, std::size_t elements) {
  const Result<std::int64_t> numel = checked_numel(shape);
  return !numel.ok() || static_cast<std::uint64_t>(*numel) == elements;
}

std::string describe_view(DType dtype, Device device, const ViewLayout& layout) {
  if (layout.shape.fault() != ShapeFault::none) return std::string(to_string(dtype)) + "[no such shape]";
  std::string text = std::string(to_string(dtype)) + layout.shape.to_string();
  const ConstTensorView plain{nullptr, dtype, device, layout.shape, layout.strides};
  if (layout.strides.rank() != layout.shape.rank() || !plain.contiguous()) {
    text += " with strides " + layout.strides.to_string();
  }
  if (!(device == kCpu)) text += " on " + rooftile::to_string(device);
  return text;
}

}  // namespace view_detail

}  // namespace rooftile
