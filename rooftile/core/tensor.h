// A tensor that owns its memory, on any device.
//
//   Tensor x = Tensor::from(context, view(values, {3, 4})).value();     // copied to the Context's device
//   Tensor y = reduce(context, x, {.axes = {-1}}).value();
//   std::vector<float> sums = y.to_vector<float>().value();             // waits
//
// Row-major without gaps, aligned to 256 bytes. Memory comes from the Context's pool and is released in its stream,
// which the Tensor keeps alive (a caller's stream, Context::on, is the caller's to keep): a Tensor may outlive its
// Context. Move-only. Work is ordered by that stream; what brings elements to the host waits for it.
// Zero bytes are a legal tensor. Fails with out_of_memory where the memory cannot be had; nothing is leaked. Errors name
// the caller's line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/context.h"
#include "rooftile/core/dtype.h"
#include "rooftile/core/element.h"
#include "rooftile/core/status.h"
#include "rooftile/core/view.h"

namespace rooftile {

// What a tensor is like: of an output, before there is one.
struct TensorSpec {
  DType dtype = DType::f32;
  Extents shape;
};

class Tensor {
 public:
  // Uninitialised.
  static Result<Tensor> empty(Context& context, const Extents& shape, DType dtype,
                              SourceLocation caller = SourceLocation::current());
  static Result<Tensor> zeros(Context& context, const Extents& shape, DType dtype,
                              SourceLocation caller = SourceLocation::current());
  // Every element the same; its type gives the dtype.
  template <Element T>
  static Result<Tensor> full(Context& context, const Extents& shape, T value,
                             SourceLocation caller = SourceLocation::current()) {
    return filled(context, shape, dtype_of<T>, &value, caller);
  }
  // A copy of what a view sees, any strides and device (gaps on a GPU are closed by way of the host), in the order of the
  // Context's stream. Host memory may change once the call is back; memory on a GPU, or that CUDA pinned, once the stream
  // is past the copy.
  static Result<Tensor> from(Context& context, const ConstTensorView& source,
                             SourceLocation caller = SourceLocation::current());
  // A copy on the Context's device, in the order of both streams.
  [[nodiscard]] Result<Tensor> to(Context& context, SourceLocation caller = SourceLocation::current()) const;

  // .npy files; see npy.h for what they may hold.
  static Result<Tensor> load_npy(Context& context, const std::string& path,
                                 SourceLocation caller = SourceLocation::current());
  [[nodiscard]] Status save_npy(const std::string& path,
                                SourceLocation caller = SourceLocation::current()) const;

  Tensor() = default;  // f32[0] on the CPU
  Tensor(Tensor&& other) noexcept { swap(other); }
  Tensor& operator=(Tensor&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Tensor();

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] Device device() const { return device_; }
  [[nodiscard]] const Extents& shape() const { return shape_; }
  [[nodiscard]] int rank() const { return shape_.rank(); }
  [[nodiscard]] std::int64_t numel() const { return view().numel(); }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(numel()) * size_of(dtype_); }
  [[nodiscard]] void* data() { return data_; }
  [[nodiscard]] const void* data() const { return data_; }

  [[nodiscard]] TensorView view() { return contiguous_view<void>(data_, dtype_, device_, shape_); }
  [[nodiscard]] ConstTensorView view() const {
    return contiguous_view<const void>(static_cast<const void*>(data_), dtype_, device_, shape_);
  }
  operator TensorView() & { return view(); }            // NOLINT(google-explicit-constructor)
  operator ConstTensorView() const& { return view(); }  // NOLINT(google-explicit-constructor)

  // Copies the elements to host memory, row-major, and waits. An error where T is not of this dtype.
  template <Element T>
  [[nodiscard]] Result<std::vector<T>> to_vector(SourceLocation caller = SourceLocation::current()) const {
    if (Status status = check_dtype(dtype_of<T>, caller); !status.ok()) return status;
    std::vector<T> values;
    if (!resized(values)) return Status::host_out_of_memory();
    if (Status status = copy_to_host(values.data(), caller); !status.ok()) return status;
    return values;
  }
  // The one element of a tensor with one.
  template <Element T>
  [[nodiscard]] Result<T> item(SourceLocation caller = SourceLocation::current()) const {
    if (Status status = check_dtype(dtype_of<T>, caller); !status.ok()) return status;
    T value{};
    if (Status status = check_single(caller); !status.ok()) return status;
    if (Status status = copy_to_host(&value, caller); !status.ok()) return status;
    return value;
  }

 private:
  struct Home;
  template <class T>
  [[nodiscard]] bool resized(std::vector<T>& values) const {
#if defined(__cpp_exceptions)
    try {
      values.resize(static_cast<std::size_t>(numel()));
    } catch (...) {
      return false;
    }
#else
    values.resize(static_cast<std::size_t>(numel()));
#endif
    return true;
  }
  static Result<Tensor> filled(Context& context, const Extents& shape, DType dtype, const void* element,
                               SourceLocation caller);
  static Result<Tensor> gathered(Context& context, const ConstTensorView& source);
  [[nodiscard]] Status check_dtype(DType wanted, SourceLocation caller) const;
  [[nodiscard]] Status check_single(SourceLocation caller) const;
  [[nodiscard]] Status copy_to_host(void* destination, SourceLocation caller) const;
  [[nodiscard]] StreamRef stream() const;
  void swap(Tensor& other) noexcept {
    std::swap(home_, other.home_);
    std::swap(data_, other.data_);
    std::swap(dtype_, other.dtype_);
    std::swap(device_, other.device_);
    std::swap(shape_, other.shape_);
  }

  Home* home_ = nullptr;  // keeps the stream and the pool alive
  void* data_ = nullptr;
  DType dtype_ = DType::f32;
  Device device_ = kCpu;
  Extents shape_{0};
};

}  // namespace rooftile
