#include "rooftile/core/memory.h"

#include "rooftile/core/detail/backend.h"

namespace rooftile {
namespace {

// A device that something was once allocated on has a backend.
detail::Backend& known_backend(Device device) {
  if (device.kind == DeviceKind::cuda) return *detail::cuda_backend();
  return detail::host_backend();
}

Status check_not_null(const void* data, std::string_view what) {
  if (data != nullptr) return {};
  return invalid_argument(std::string(what) + " is null: give it memory or zero bytes");
}

}  // namespace

Result<DeviceMemory> DeviceMemory::allocate(Device device, std::size_t bytes) {
  ROOFTILE_TRY_ASSIGN(detail::Backend * backend, detail::backend_for(device));
  DeviceMemory memory;
  memory.device_ = device;
  if (bytes == 0) return memory;
  ROOFTILE_TRY_ASSIGN(memory.data_, backend->allocate(device, bytes));
  memory.bytes_ = bytes;
  return memory;
}

DeviceMemory::~DeviceMemory() {
  if (data_ != nullptr) known_backend(device_).free(device_, data_);
}

Result<PinnedMemory> PinnedMemory::allocate(Device device, std::size_t bytes) {
  ROOFTILE_TRY_ASSIGN(detail::Backend * backend, detail::backend_for(device));
  PinnedMemory memory;
  memory.device_ = device;
  if (bytes == 0) return memory;
  ROOFTILE_TRY_ASSIGN(memory.data_, backend->allocate_pinned(device, bytes));
  memory.bytes_ = bytes;
  return memory;
}

PinnedMemory::~PinnedMemory() {
  if (data_ != nullptr) known_backend(device_).free_pinned(device_, data_);
}

Result<MemoryPool> MemoryPool::create(Device device) {
  ROOFTILE_TRY_ASSIGN(detail::Backend * backend, detail::backend_for(device));
  MemoryPool pool;
  ROOFTILE_TRY_ASSIGN(pool.handle_, backend->create_pool(device));
  pool.device_ = device;
  return pool;
}

MemoryPool::~MemoryPool() {
  if (handle_ != nullptr) known_backend(device_).destroy_pool(device_, handle_);
}

Result<void*> MemoryPool::allocate(StreamRef stream, std::size_t bytes) const {
  if (stream.device != device_) {
    return invalid_argument("a pool of " + to_string(device_) + " cannot serve a stream of " +
                            to_string(stream.device));
  }
  if (device_.kind == DeviceKind::cuda && handle_ == nullptr) {
    return invalid_argument("the pool is empty (moved from): make one by MemoryPool::create");
  }
  if (bytes == 0) return static_cast<void*>(nullptr);
  return known_backend(device_).pool_allocate(handle_, stream, bytes);
}

Status MemoryPool::release(StreamRef stream, void* data) const {
  if (data == nullptr) return {};
  if (stream.device != device_) {
    return invalid_argument("memory of a pool of " + to_string(device_) +
                            " cannot be released in a stream of " + to_string(stream.device));
  }
  return known_backend(device_).pool_release(stream, data);
}

Status copy(StreamRef stream, void* destination, Device destination_device, const void* source,
            Device source_device, std::size_t bytes) {
  ROOFTILE_TRY_ASSIGN(detail::Backend * backend, detail::backend_for(stream.device));
  for (const Device side : {destination_device, source_device}) {
    ROOFTILE_TRY(detail::check_device(side));
    if (side.kind == DeviceKind::cuda && stream.device.kind != DeviceKind::cuda) {
      return invalid_argument("a copy to or from " + to_string(side) +
                              " needs a stream of that GPU, not of " + to_string(stream.device));
    }
  }
  if (bytes == 0) return {};
  ROOFTILE_TRY(check_not_null(destination, "the copy's destination"));
  ROOFTILE_TRY(check_not_null(source, "the copy's source"));
  return backend->copy(stream, destination, destination_device, source, source_device, bytes);
}

Status fill_bytes(StreamRef stream, void* data, int value, std::size_t bytes) {
  ROOFTILE_TRY_ASSIGN(detail::Backend * backend, detail::backend_for(stream.device));
  if (bytes == 0) return {};
  ROOFTILE_TRY(check_not_null(data, "the memory to fill"));
  return backend->fill(stream, data, value, bytes);
}

}  // namespace rooftile
