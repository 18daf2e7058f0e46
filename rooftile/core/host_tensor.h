// A row-major tensor that owns host memory: what .npy files, references and the lab pass around.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "rooftile/core/dtype.h"
#include "rooftile/core/status.h"
#include "rooftile/core/view.h"

namespace rooftile {

class HostTensor {
 public:
  // Uninitialised memory. Fails where the shape is invalid or the memory cannot be had.
  static Result<HostTensor> create(DType dtype, const Extents& shape);
  HostTensor() = default;

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const Extents& shape() const { return shape_; }
  [[nodiscard]] std::int64_t numel() const { return numel_; }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(numel_) * size_of(dtype_); }
  [[nodiscard]] void* data() { return data_.get(); }
  [[nodiscard]] const void* data() const { return data_.get(); }

  // The elements as T. Precondition: dtype_of<T> == dtype().
  template <class T>
  [[nodiscard]] std::span<T> as() {
    return {static_cast<T*>(data()), static_cast<std::size_t>(numel_)};
  }
  template <class T>
  [[nodiscard]] std::span<const T> as() const {
    return {static_cast<const T*>(data()), static_cast<std::size_t>(numel_)};
  }

  [[nodiscard]] double at(std::int64_t i) const {
    return load_as_double(
        static_cast<const std::byte*>(data()) + static_cast<std::size_t>(i) * size_of(dtype_), dtype_);
  }
  void set(std::int64_t i, double value) {
    store_from_double(static_cast<std::byte*>(data()) + static_cast<std::size_t>(i) * size_of(dtype_), dtype_,
                      value);
  }

  [[nodiscard]] TensorView view() { return contiguous_view<void>(data(), dtype_, kCpu, shape_); }
  [[nodiscard]] ConstTensorView view() const {
    return contiguous_view<const void>(data(), dtype_, kCpu, shape_);
  }

 private:
  struct Free {
    void operator()(void* data) const;
  };
  DType dtype_ = DType::f32;
  Extents shape_{0};
  std::int64_t numel_ = 0;
  std::unique_ptr<void, Free> data_;  // 64-byte aligned
};

}  // namespace rooftile
