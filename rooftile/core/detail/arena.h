// A stream, its memory pool and its error word, shared by a Context, the Tensors that were allocated through it and the
// graphs that it recorded: they live as long as anybody uses them.
#pragma once

#include <cstdint>
#include <memory>

#include "rooftile/core/device.h"
#include "rooftile/core/memory.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::detail {

class Arena {
 public:
  // With a stream of its own, or on the caller's.
  static Result<std::shared_ptr<Arena>> create(Device device, const StreamRef* callers_stream);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  [[nodiscard]] Device device() const { return stream_.device; }
  [[nodiscard]] StreamRef stream() const { return stream_; }
  [[nodiscard]] Result<void*> allocate(std::size_t bytes) const { return pool_.allocate(stream_, bytes); }
  Status release(void* data) const { return pool_.release(stream_, data); }
  [[nodiscard]] std::uint32_t* error_word() const { return static_cast<std::uint32_t*>(error_word_.data()); }

 private:
  Arena() = default;
  // In this order: the pool goes before the stream that its last releases wait for.
  Stream own_;
  MemoryPool pool_;
  StreamRef stream_;
  DeviceMemory error_word_;
};

}  // namespace rooftile::detail
