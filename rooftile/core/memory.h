// Device and pinned memory, the stream-ordered pool, and copies.
//
// Every allocation is aligned to kAllocationAlignment. A failed allocation is StatusCode::out_of_memory,
// leaks nothing and leaves no CUDA error pending. Zero bytes is a legal allocation with a null pointer.
#pragma once

#include <cstddef>
#include <utility>

#include "rooftile/core/device.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile {

inline constexpr std::size_t kAllocationAlignment = 256;

// Owned memory on a device (host memory on cpu and sim). Allocation and release may synchronise the device.
class DeviceMemory {
 public:
  static Result<DeviceMemory> allocate(Device device, std::size_t bytes);
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory&& other) noexcept
      : device_(other.device_),
        data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~DeviceMemory();

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] Device device() const { return device_; }

 private:
  Device device_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Page-locked host memory where `device` is a GPU, so that copies overlap; plain host memory otherwise.
class PinnedMemory {
 public:
  static Result<PinnedMemory> allocate(Device device, std::size_t bytes);
  PinnedMemory() = default;
  PinnedMemory(PinnedMemory&& other) noexcept
      : device_(other.device_),
        data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  PinnedMemory& operator=(PinnedMemory&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~PinnedMemory();

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  Device device_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// A stream-ordered pool: allocation and release are ordered by the stream and do not synchronise.
class MemoryPool {
 public:
  static Result<MemoryPool> create(Device device);
  MemoryPool() = default;
  MemoryPool(MemoryPool&& other) noexcept
      : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
  MemoryPool& operator=(MemoryPool&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~MemoryPool();

  // The pointer is usable in `stream` from here on.
  [[nodiscard]] Result<void*> allocate(StreamRef stream, std::size_t bytes) const;
  // The memory may be reused by later work of `stream`.
  [[nodiscard]] Status release(StreamRef stream, void* data) const;

 private:
  Device device_;
  void* handle_ = nullptr;  // cudaMemPool_t
};

// Copies between any two devices, ordered by the stream; a host side that is not pinned makes it synchronous.
[[nodiscard]] Status copy(StreamRef stream, void* destination, Device destination_device, const void* source,
                          Device source_device, std::size_t bytes);
// Every byte to `value`, ordered by the stream.
[[nodiscard]] Status fill_bytes(StreamRef stream, void* data, int value, std::size_t bytes);

}  // namespace rooftile
