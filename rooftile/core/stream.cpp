#include "rooftile/core/stream.h"

#include <chrono>
#include <string>

#include "rooftile/core/detail/backend.h"

namespace rooftile {
namespace {

constexpr const char* kNoEvent = "the event is empty (moved from): make one by Event::create";

bool is_cuda(Device device) { return device.kind == DeviceKind::cuda; }

long long now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status check_same_device(Device event, Device stream) {
  if (event == stream) return {};
  return invalid_argument("an event of " + to_string(event) + " cannot be recorded in a stream of " +
                          to_string(stream));
}

}  // namespace

Result<Stream> Stream::create(Device device) {
  ROOFTILE_TRY_ASSIGN(detail::Backend * backend, detail::backend_for(device));
  Stream stream;
  ROOFTILE_TRY_ASSIGN(stream.ref_.handle, backend->create_stream(device));
  stream.ref_.device = device;
  return stream;
}

Stream::~Stream() {
  if (ref_.handle != nullptr) detail::cuda_backend()->destroy_stream(ref_);
}

Status Stream::synchronize() const { return rooftile::synchronize(ref_); }

Status synchronize(StreamRef stream) {
  ROOFTILE_TRY_ASSIGN(detail::Backend * backend, detail::backend_for(stream.device));
  return backend->synchronize(stream);
}

Result<bool> is_capturing(StreamRef stream) {
  ROOFTILE_TRY_ASSIGN(detail::Backend * backend, detail::backend_for(stream.device));
  return backend->is_capturing(stream);
}

Result<Event> Event::create(Device device) {
  ROOFTILE_TRY(detail::check_device(device));
  Event event;
  event.device_ = device;
  if (is_cuda(device)) {
    ROOFTILE_TRY_ASSIGN(event.handle_, detail::cuda_backend()->create_event(device));
  }
  return event;
}

Event::~Event() {
  if (handle_ != nullptr) detail::cuda_backend()->destroy_event(device_, handle_);
}

Status Event::record(StreamRef stream) {
  ROOFTILE_TRY(check_same_device(device_, stream.device));
  if (!is_cuda(device_)) {
    host_ns_ = now_ns();
    return {};
  }
  if (handle_ == nullptr) return invalid_argument(kNoEvent);
  return detail::cuda_backend()->record_event(handle_, stream);
}

Status Event::synchronize() const {
  if (!is_cuda(device_)) return {};
  if (handle_ == nullptr) return invalid_argument(kNoEvent);
  return detail::cuda_backend()->synchronize_event(device_, handle_);
}

Status Event::block(StreamRef stream) const {
  ROOFTILE_TRY(detail::check_device(stream.device));
  if (!is_cuda(device_)) return {};  // recorded means done
  if (handle_ == nullptr) return invalid_argument(kNoEvent);
  // Work of the host runs at once, so a host stream can only wait by blocking the calling thread.
  if (!is_cuda(stream.device)) return synchronize();
  return detail::cuda_backend()->block_on_event(stream, handle_);
}

Result<double> Event::elapsed_us_since(const Event& start) const {
  if (start.device_ != device_) {
    return invalid_argument("no time between events of " + to_string(start.device_) + " and " +
                            to_string(device_));
  }
  if (is_cuda(device_)) {
    if (handle_ == nullptr || start.handle_ == nullptr) return invalid_argument(kNoEvent);
    return detail::cuda_backend()->elapsed_us(device_, start.handle_, handle_);
  }
  if (host_ns_ == 0 || start.host_ns_ == 0)
    return invalid_argument("both events must be recorded before their time is asked");
  return static_cast<double>(host_ns_ - start.host_ns_) * 1e-3;
}

}  // namespace rooftile
