// Strided views of tensors that somebody else owns.
//
// Extents and strides are 64 bit and counted in elements. Strides may be zero or negative where an operator's
// contract allows it. A view never owns and is cheap to copy.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>

#include "rooftile/core/device.h"
#include "rooftile/core/dtype.h"
#include "rooftile/core/status.h"

namespace rooftile {

inline constexpr int kMaxRank = 8;

// Up to kMaxRank 64-bit numbers: a shape or the strides of one. More make the invalid shape [-1], which
// checked_numel and check_view refuse: whoever takes a rank from outside checks it and says so.
class Extents {
 public:
  Extents() = default;
  Extents(std::initializer_list<std::int64_t> values) : Extents(std::span(values.begin(), values.size())) {}
  explicit Extents(std::span<const std::int64_t> values) {
    if (values.size() > kMaxRank) {
      values_[0] = -1;
      rank_ = 1;
      return;
    }
    std::copy(values.begin(), values.end(), values_.begin());
    rank_ = static_cast<int>(values.size());
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] std::int64_t operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::int64_t& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::span<const std::int64_t> span() const {
    return {values_.data(), static_cast<std::size_t>(rank_)};
  }
  [[nodiscard]] std::string to_string() const;  // "[3,4]"

  friend bool operator==(const Extents& a, const Extents& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  std::array<std::int64_t, kMaxRank> values_{};
  int rank_ = 0;
};

// The number of elements; an error where an extent is negative or the product (or its bytes, for the given
// element size) does not fit in 63 bits. A zero extent does not excuse the others: they must fit without it,
// so that strides and partial products never overflow.
[[nodiscard]] Result<std::int64_t> checked_numel(const Extents& shape, std::size_t element_size = 1);

// Row-major strides. Precondition: checked_numel(shape) is ok.
[[nodiscard]] Extents contiguous_strides(const Extents& shape);

template <class Pointee>
struct BasicTensorView {
  Pointee* data = nullptr;
  DType dtype = DType::f32;
  Device device;
  Extents shape;
  Extents strides;  // elements

  [[nodiscard]] int rank() const { return shape.rank(); }
  [[nodiscard]] std::int64_t numel() const {
    std::int64_t n = 1;
    for (std::int64_t extent : shape.span()) n *= extent;
    return n;
  }
  // Row-major without gaps. Extents of 1 may have any stride; an empty tensor is contiguous.
  [[nodiscard]] bool contiguous() const {
    if (numel() == 0) return true;
    std::int64_t expected = 1;
    for (int i = rank() - 1; i >= 0; --i) {
      if (shape[i] == 1) continue;
      if (strides[i] != expected) return false;
      expected *= shape[i];
    }
    return true;
  }
  [[nodiscard]] std::string to_string() const {
    return std::string(rooftile::to_string(dtype)) + shape.to_string();
  }

  // A view is also a view of the same elements as constants. A template, so that the constant view has no
  // conversion to itself, which nvcc warns about.
  template <class Other>
  // NOLINTNEXTLINE(google-explicit-constructor)
  requires(std::is_const_v<Other> && !std::is_const_v<Pointee>) operator BasicTensorView<Other>() const {
    return {data, dtype, device, shape, strides};
  }
};
using TensorView = BasicTensorView<void>;
using ConstTensorView = BasicTensorView<const void>;

// A row-major view of memory that starts at `data`.
template <class Pointee>
[[nodiscard]] BasicTensorView<Pointee> contiguous_view(Pointee* data, DType dtype, Device device,
                                                       Extents shape) {
  return {data, dtype, device, shape, contiguous_strides(shape)};
}

// What every operator asks of every view before anything else: a rank and strides that belong together,
// extents that are not negative, a byte size that fits, data that is not null unless empty, data aligned to
// its element. `name` is the slot's name in the message.
[[nodiscard]] Status check_view(const ConstTensorView& view, std::string_view name);

// The bytes [first, last) that a view touches, relative to data;
// {0, 0} for an empty one. Precondition: check_view is ok.
struct ByteRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
[[nodiscard]] ByteRange byte_range(const ConstTensorView& view);

// Whether two views share a byte. Conservative for strided views (compares their ranges).
[[nodiscard]] bool overlaps(const ConstTensorView& a, const ConstTensorView& b);

}  // namespace rooftile
