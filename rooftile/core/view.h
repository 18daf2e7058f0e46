// Strided views of tensors that somebody else owns.
//
//   std::vector<float> x(60);
//   const auto v = view(x, {3, 4, 5});              // dtype deduced, on the CPU, row-major
//   v.slice(1, 0, 4, 2).permute({2, 0, 1})          // no element moves
//
// Extents and strides are 64 bit and counted in elements. Strides may be zero or negative where an operator's
// contract allows it. A view never owns and is cheap to copy. A view that cannot be made (an axis that is not there, a
// shape larger than its memory) is a broken one: every call refuses it and says what was wrong with it.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "rooftile/core/device.h"
#include "rooftile/core/dtype.h"
#include "rooftile/core/element.h"
#include "rooftile/core/status.h"

namespace rooftile {

inline constexpr int kMaxRank = 8;

// Why there is no such shape or view.
enum class ShapeFault : std::uint8_t {
  none,
  rank,
  memory,
  axis,
  range,
  permutation,
  reshape,
  squeeze,
  expand
};

// Up to kMaxRank 64-bit numbers: a shape or the strides of one. What cannot be one (more of them, or a view's function
// that was asked for the impossible) is broken: of rank 1 with the extent -1, which checked_numel and check_view refuse
// with the reason.
class Extents {
 public:
  Extents() = default;
  Extents(std::initializer_list<std::int64_t> values) : Extents(std::span(values.begin(), values.size())) {}
  explicit Extents(std::span<const std::int64_t> values) {
    if (values.size() > kMaxRank) {
      *this = broken(ShapeFault::rank);
      return;
    }
    for (const std::int64_t value : values) values_[static_cast<std::size_t>(rank_++)] = value;
  }
  // `asked`: what was asked for, told with the reason.
  static Extents broken(ShapeFault fault) { return broken(fault, Extents()); }
  static Extents broken(ShapeFault fault, const Extents& asked) {
    Extents extents{-1};
    extents.fault_ = fault;
    if (asked.fault_ != ShapeFault::none) return extents;
    for (int i = 0; i < asked.rank_ && i + 1 < kMaxRank; ++i) {
      extents.values_[static_cast<std::size_t>(i) + 1] = asked[i];
      ++extents.told_;
    }
    return extents;
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] ShapeFault fault() const { return fault_; }
  // Of a broken one what was asked for, its first 7 numbers.
  [[nodiscard]] std::span<const std::int64_t> asked() const { return {values_.data() + 1, told_}; }
  [[nodiscard]] std::int64_t operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::int64_t& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::span<const std::int64_t> span() const {
    return {values_.data(), static_cast<std::size_t>(rank_)};
  }
  // As a range.
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(rank_); }
  [[nodiscard]] bool empty() const { return rank_ == 0; }
  [[nodiscard]] const std::int64_t* begin() const { return values_.data(); }
  [[nodiscard]] const std::int64_t* end() const { return values_.data() + rank_; }
  // Appends; a ninth breaks it.
  void push_back(std::int64_t value) {
    if (rank_ == kMaxRank) {
      *this = broken(ShapeFault::rank);
    } else {
      values_[static_cast<std::size_t>(rank_++)] = value;
    }
  }
  [[nodiscard]] std::string to_string() const;  // "[3,4]"

  friend bool operator==(const Extents& a, const Extents& b) {
    if (a.rank_ != b.rank_ || a.fault_ != b.fault_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  std::array<std::int64_t, kMaxRank> values_{};
  int rank_ = 0;
  ShapeFault fault_ = ShapeFault::none;
  std::uint8_t told_ = 0;  // of a broken one: how many numbers behind the first say what was asked for
};

// The number of elements; an error where an extent is negative or the product (or its bytes, for the given
// element size) does not fit in 63 bits. A zero extent does not excuse the others: they must fit without it,
// so that strides and partial products never overflow.
[[nodiscard]] Result<std::int64_t> checked_numel(const Extents& shape, std::size_t element_size = 1);

// Row-major strides, of a shape that checked_numel accepts.
[[nodiscard]] Extents contiguous_strides(const Extents& shape);

// Where a view of another shape lies: `offset` elements behind the old one's data.
struct ViewLayout {
  Extents shape;
  Extents strides;
  std::int64_t offset = 0;
};
namespace view_detail {
[[nodiscard]] ViewLayout sliced(ViewLayout layout, int axis, std::int64_t begin, std::int64_t end,
                                std::int64_t step);
[[nodiscard]] ViewLayout selected(ViewLayout layout, int axis, std::int64_t index);
[[nodiscard]] ViewLayout flipped(ViewLayout layout, int axis);
[[nodiscard]] ViewLayout permuted(const ViewLayout& layout, const Extents& axes);
[[nodiscard]] ViewLayout reshaped(const ViewLayout& layout, Extents shape);
[[nodiscard]] ViewLayout squeezed(const ViewLayout& layout, int axis);
[[nodiscard]] ViewLayout unsqueezed(const ViewLayout& layout, int axis);
[[nodiscard]] ViewLayout expanded(const ViewLayout& layout, const Extents& shape);
// Whether a shape has this many elements; true of one that is refused for a reason of its own.
[[nodiscard]] bool holds_exactly(const Extents& shape, std::size_t elements);
// "f32[3,4]", "f32[3,4] with strides [1,3] on cuda:0".
[[nodiscard]] std::string describe_view(DType dtype, Device device, const ViewLayout& layout);
}  // namespace view_detail

// void*, const void* where that will do, or nullptr: no pointer to elements, which would convert.
template <class Pointer, class Pointee>
concept UntypedPointer = std::convertible_to<Pointer, Pointee*> &&
    (std::same_as<Pointer, std::nullptr_t> || std::is_void_v<std::remove_pointer_t<Pointer>>);

template <class Pointee>
struct BasicTensorView {
  Pointee* data = nullptr;
  DType dtype = DType::f32;
  Device device;
  Extents shape;
  Extents strides;  // elements

  BasicTensorView() = default;
  // Of memory whose type nobody knows: typed memory has its dtype already, see view().
  template <UntypedPointer<Pointee> Pointer>
  BasicTensorView(Pointer memory, DType type, Device where, const Extents& extents, const Extents& steps)
      : data(memory), dtype(type), device(where), shape(extents), strides(steps) {}

  [[nodiscard]] int rank() const { return shape.rank(); }
  [[nodiscard]] std::int64_t numel() const {
    std::uint64_t n = 1;  // modulo 2^64 where the shape is one that check_view refuses
    for (const std::int64_t extent : shape) n *= static_cast<std::uint64_t>(extent);
    return static_cast<std::int64_t>(n);
  }
  // Row-major without gaps. Extents of 1 may have any stride; an empty tensor is contiguous.
  [[nodiscard]] bool contiguous() const {
    if (numel() == 0) return true;
    std::uint64_t expected = 1;
    for (int i = rank() - 1; i >= 0; --i) {
      if (shape[i] == 1) continue;
      if (static_cast<std::uint64_t>(strides[i]) != expected) return false;
      expected *= static_cast<std::uint64_t>(shape[i]);
    }
    return true;
  }
  // "f32[3,4]"; strides where there are gaps or another order, the device where it is not the CPU.
  [[nodiscard]] std::string to_string() const {
    return view_detail::describe_view(dtype, device, {shape, strides, 0});
  }

  // Views of the same memory. Axes count from 0, negative ones from the last.
  //
  // Elements begin, begin + step, ... before end of an axis. As in Python: negative positions count from the end, and
  // positions outside are moved to it. step is positive.
  [[nodiscard]] BasicTensorView slice(int axis, std::int64_t begin, std::int64_t end,
                                      std::int64_t step = 1) const {
    return with(view_detail::sliced(layout(), axis, begin, end, step));
  }
  // One element of an axis, which is gone then.
  [[nodiscard]] BasicTensorView select(int axis, std::int64_t index) const {
    return with(view_detail::selected(layout(), axis, index));
  }
  // An axis backwards.
  [[nodiscard]] BasicTensorView flip(int axis) const { return with(view_detail::flipped(layout(), axis)); }
  // Axis i is the old axes[i].
  [[nodiscard]] BasicTensorView permute(const Extents& axes) const {
    return with(view_detail::permuted(layout(), axes));
  }
  // The same elements in the same order; one extent may be -1: what is left. Broken where that needs a copy.
  [[nodiscard]] BasicTensorView reshape(const Extents& new_shape) const {
    return with(view_detail::reshaped(layout(), new_shape));
  }
  // Without an axis of extent 1.
  [[nodiscard]] BasicTensorView squeeze(int axis) const {
    return with(view_detail::squeezed(layout(), axis));
  }
  // With an axis of extent 1, which becomes axis `axis`.
  [[nodiscard]] BasicTensorView unsqueeze(int axis) const {
    return with(view_detail::unsqueezed(layout(), axis));
  }
  // Axes of extent 1, and new ones in front, repeated by stride 0.
  [[nodiscard]] BasicTensorView expand(const Extents& new_shape) const {
    return with(view_detail::expanded(layout(), new_shape));
  }

  // A view is also a view of the same elements as constants. A template, so that the constant view has no
  // conversion to itself, which nvcc warns about.
  template <class Other>
  // NOLINTNEXTLINE(google-explicit-constructor)
  requires(std::is_const_v<Other> && !std::is_const_v<Pointee>) operator BasicTensorView<Other>() const {
    return {data, dtype, device, shape, strides};
  }

  // The same memory, seen in the same way.
  friend bool operator==(const BasicTensorView&, const BasicTensorView&) = default;

 private:
  [[nodiscard]] ViewLayout layout() const { return {shape, strides, 0}; }
  [[nodiscard]] BasicTensorView with(const ViewLayout& other) const {
    if (data == nullptr || other.offset == 0) return {data, dtype, device, other.shape, other.strides};
    // Modulo 2^64: a view whose strides reach beyond that is refused by whoever is given it.
    const std::uint64_t bytes = static_cast<std::uint64_t>(other.offset) * size_of(dtype);
    return {reinterpret_cast<Pointee*>(reinterpret_cast<std::uintptr_t>(data) + bytes), dtype, device,
            other.shape, other.strides};
  }
};
using TensorView = BasicTensorView<void>;
using ConstTensorView = BasicTensorView<const void>;

// A row-major view of memory that starts at `data`, whose type nobody knows. Of typed memory: view().
template <class Pointee, UntypedPointer<Pointee> Pointer>
[[nodiscard]] BasicTensorView<Pointee> contiguous_view(Pointer data, DType dtype, Device device,
                                                       const Extents& shape) {
  return {data, dtype, device, shape, contiguous_strides(shape)};
}

namespace view_detail {
template <class T>
using VoidOf = std::conditional_t<std::is_const_v<T>, const void, void>;
}

// A row-major view of typed memory that starts at `data` and holds at least the shape's elements.
template <Element T>
[[nodiscard]] BasicTensorView<view_detail::VoidOf<T>> view(T* data, const Extents& shape,
                                                           Device device = kCpu) {
  using Pointee = view_detail::VoidOf<T>;
  return contiguous_view<Pointee>(static_cast<Pointee*>(data), dtype_of<T>, device, shape);
}
// A view of one number.
template <Element T>
[[nodiscard]] BasicTensorView<view_detail::VoidOf<T>> view(T& scalar) {
  return view(&scalar, {});
}

// A std::vector, std::array, std::span or array of the language: contiguous memory of known length, which outlives the
// view.
template <class Range>
concept ElementRange = requires(Range& range) {
  { std::size(range) } -> std::convertible_to<std::size_t>;
  requires Element<std::remove_pointer_t<decltype(std::data(range))>>;
}
&&(std::is_lvalue_reference_v<Range> || std::ranges::enable_borrowed_range<std::remove_cvref_t<Range>>);
template <ElementRange Range>
using ElementOf = std::remove_pointer_t<decltype(std::data(std::declval<Range&>()))>;

// All of it, as a vector.
template <ElementRange Range>
[[nodiscard]] BasicTensorView<view_detail::VoidOf<ElementOf<Range>>> view(Range&& range,
                                                                          Device device = kCpu) {
  return view(std::data(range), {static_cast<std::int64_t>(std::size(range))}, device);
}
// As a tensor of this shape, which must have as many elements as the range.
template <ElementRange Range>
[[nodiscard]] BasicTensorView<view_detail::VoidOf<ElementOf<Range>>> view(Range&& range, const Extents& shape,
                                                                          Device device = kCpu) {
  const bool fits = view_detail::holds_exactly(shape, std::size(range));
  return view(std::data(range), fits ? shape : Extents::broken(ShapeFault::memory), device);
}

// What every operator asks of every view before anything else: a rank and strides that belong together,
// extents that are not negative, a byte size that fits, data that is not null unless empty, data aligned to
// its element. `name` is the slot's name in the message.
enum class ViewMemory { needed, later };  // later: null is no fault
[[nodiscard]] Status check_view(const ConstTensorView& view, std::string_view name,
                                ViewMemory memory = ViewMemory::needed);

}  // namespace rooftile
