#include "rooftile/core/tensor.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "rooftile/core/detail/context_impl.h"
#include "rooftile/core/detail/guarded.h"
#include "rooftile/core/host_tensor.h"
#include "rooftile/core/npy.h"
#include "rooftile/core/overlap.h"

namespace rooftile {
namespace {

// Work that `later` gets from here on waits for what `earlier` has.
Status order(StreamRef earlier, StreamRef later) {
  if (earlier.device == later.device && earlier.handle == later.handle) return {};
  if (earlier.device.kind != DeviceKind::cuda) return {};
  ROOFTILE_TRY_ASSIGN(Event event, Event::create(earlier.device));
  ROOFTILE_TRY(event.record(earlier));
  return later.device.kind == DeviceKind::cuda ? event.block(later) : event.synchronize();
}

bool on_host(Device device) { return device.kind != DeviceKind::cuda; }

// Host memory as the view has it, row by row.
void gather(std::byte* to, const ConstTensorView& from) {
  const std::size_t size = size_of(from.dtype);
  const int last = from.rank() - 1;
  const std::int64_t row = last < 0 ? 1 : from.shape[last];
  const std::int64_t step = last < 0 ? 0 : from.strides[last] * static_cast<std::int64_t>(size);
  if (from.numel() == 0) return;
  const std::int64_t rows = from.numel() / row;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t offset = 0;
    for (std::int64_t d = last - 1, rest = i; d >= 0; --d) {
      offset += rest % from.shape[static_cast<int>(d)] * from.strides[static_cast<int>(d)];
      rest /= from.shape[static_cast<int>(d)];
    }
    const auto* element = static_cast<const std::byte*>(from.data) + offset * static_cast<std::int64_t>(size);
    for (std::int64_t j = 0; j < row; ++j, element += step, to += size) std::memcpy(to, element, size);
  }
}

}  // namespace

struct Tensor::Home {
  std::shared_ptr<detail::Arena> arena;
};

Result<Tensor> Tensor::empty(Context& context, const Extents& shape, DType dtype, SourceLocation caller) {
  return detail::guarded(caller, [&]() -> Result<Tensor> {
    ROOFTILE_TRY(context.status());
    if (context.impl_->recording) {
      return invalid_argument(
          "a Tensor in a recorded graph: its replays would use memory that is gone; make it before");
    }
    if (size_of(dtype) == 0)
      return invalid_argument("the dtype is none of Rooftile's: use one of the DType enumerators");
    ROOFTILE_TRY_ASSIGN(const std::int64_t numel, checked_numel(shape, size_of(dtype)));
    Tensor tensor;
    tensor.home_ = new Home{context.impl_->arena};
    ROOFTILE_TRY_ASSIGN(tensor.data_,
                        tensor.home_->arena->allocate(static_cast<std::size_t>(numel) * size_of(dtype)));
    tensor.dtype_ = dtype;
    tensor.device_ = context.device();
    tensor.shape_ = shape;
    return tensor;
  });
}

Tensor::~Tensor() {
  if (home_ == nullptr) return;
  (void)detail::guarded([&] { return home_->arena->release(data_); });
  delete home_;
}

Result<Tensor> Tensor::zeros(Context& context, const Extents& shape, DType dtype, SourceLocation caller) {
  ROOFTILE_TRY_ASSIGN(Tensor tensor, empty(context, shape, dtype, caller));
  ROOFTILE_TRY(
      detail::guarded(caller, [&] { return fill_bytes(tensor.stream(), tensor.data_, 0, tensor.bytes()); }));
  return tensor;
}

// One element, then twice as many at a time from those that are there.
Result<Tensor> Tensor::filled(Context& context, const Extents& shape, DType dtype, const void* element,
                              SourceLocation caller) {
  ROOFTILE_TRY_ASSIGN(Tensor tensor, empty(context, shape, dtype, caller));
  const std::size_t bytes = tensor.bytes();
  if (bytes == 0) return tensor;
  ROOFTILE_TRY(detail::guarded(caller, [&]() -> Status {
    auto* const data = static_cast<std::byte*>(tensor.data_);
    std::size_t done = size_of(dtype);
    ROOFTILE_TRY(copy(tensor.stream(), data, tensor.device_, element, kCpu, done));
    while (done < bytes) {
      const std::size_t more = std::min(done, bytes - done);
      ROOFTILE_TRY(copy(tensor.stream(), data + done, tensor.device_, data, tensor.device_, more));
      done += more;
    }
    return {};
  }));
  return tensor;
}

// A view with gaps, by way of the host.
Result<Tensor> Tensor::gathered(Context& context, const ConstTensorView& source) {
  if (!on_host(source.device)) {
    // All bytes between the first and the last element.
    const ByteRange range = byte_range(source);
    const Extents span{range.last - range.first};
    const auto* const first = static_cast<const std::byte*>(source.data) + range.first;
    ROOFTILE_TRY_ASSIGN(HostTensor bytes, HostTensor::create(DType::u8, span));
    ROOFTILE_TRY(copy(context.stream(), bytes.data(), kCpu, first, source.device, bytes.bytes()));
    ROOFTILE_TRY(context.synchronize());
    const void* const data = static_cast<const std::byte*>(bytes.data()) - range.first;
    return gathered(context, {data, source.dtype, kCpu, source.shape, source.strides});
  }
  if (on_host(context.device())) {
    ROOFTILE_TRY_ASSIGN(Tensor tensor, empty(context, source.shape, source.dtype));
    gather(static_cast<std::byte*>(tensor.data_), source);
    return tensor;
  }
  ROOFTILE_TRY_ASSIGN(HostTensor dense, HostTensor::create(source.dtype, source.shape));
  gather(static_cast<std::byte*>(dense.data()), source);
  return from(context, dense.view());
}

Result<Tensor> Tensor::from(Context& context, const ConstTensorView& source, SourceLocation caller) {
  return detail::guarded(caller, [&]() -> Result<Tensor> {
    ROOFTILE_TRY(context.status());
    ROOFTILE_TRY(check_view(source, "source"));
    if (on_host(context.device()) && !on_host(source.device)) {
      // No stream of the Context's orders a GPU's work: by way of one that does.
      Context gpu(source.device);
      ROOFTILE_TRY(order({source.device, nullptr}, gpu.stream()));
      ROOFTILE_TRY_ASSIGN(const Tensor there, from(gpu, source));
      return there.to(context);
    }
    if (!source.contiguous()) return gathered(context, source);
    ROOFTILE_TRY_ASSIGN(Tensor tensor, empty(context, source.shape, source.dtype));
    ROOFTILE_TRY(
        copy(tensor.stream(), tensor.data_, tensor.device_, source.data, source.device, tensor.bytes()));
    return tensor;
  });
}

Result<Tensor> Tensor::to(Context& context, SourceLocation caller) const {
  return detail::guarded(caller, [&]() -> Result<Tensor> {
    ROOFTILE_TRY_ASSIGN(Tensor tensor, empty(context, shape_, dtype_));
    if (bytes() == 0) return tensor;
    if (on_host(context.device())) {
      ROOFTILE_TRY(copy_to_host(tensor.data_, caller));
      return tensor;
    }
    ROOFTILE_TRY(order(stream(), tensor.stream()));
    ROOFTILE_TRY(copy(tensor.stream(), tensor.data_, tensor.device_, data_, device_, bytes()));
    // This tensor's memory may be released once the copy is done.
    if (!on_host(device_)) ROOFTILE_TRY(order(tensor.stream(), stream()));
    return tensor;
  });
}

Status Tensor::copy_to_host(void* destination, SourceLocation caller) const {
  if (bytes() == 0) return {};
  return detail::guarded(caller, [&]() -> Status {
    ROOFTILE_TRY(copy(stream(), destination, kCpu, data_, device_, bytes()));
    return synchronize(stream());
  });
}

Result<Tensor> Tensor::load_npy(Context& context, const std::string& path, SourceLocation caller) {
  return detail::guarded(caller, [&]() -> Result<Tensor> {
    ROOFTILE_TRY_ASSIGN(const HostTensor file, read_npy(path));
    return from(context, file.view());
  });
}

Status Tensor::save_npy(const std::string& path, SourceLocation caller) const {
  return detail::guarded(caller, [&]() -> Status {
    if (on_host(device_)) return write_npy(path, {data_, dtype_, kCpu, shape_, contiguous_strides(shape_)});
    ROOFTILE_TRY_ASSIGN(HostTensor host, HostTensor::create(dtype_, shape_));
    ROOFTILE_TRY(copy_to_host(host.data(), caller));
    return write_npy(path, host.view());
  });
}

Status Tensor::check_dtype(DType wanted, SourceLocation caller) const {
  if (dtype_ == wanted) return {};
  return detail::guarded(caller, [&] {
    return invalid_argument("the tensor is " + view().to_string() + ", not " +
                            std::string(to_string(wanted)));
  });
}

Status Tensor::check_single(SourceLocation caller) const {
  if (numel() == 1) return {};
  return detail::guarded(caller, [&] {
    return invalid_argument("item() is of a tensor with one element, this is " + view().to_string());
  });
}

StreamRef Tensor::stream() const { return home_ != nullptr ? home_->arena->stream() : StreamRef{}; }

}  // namespace rooftile
