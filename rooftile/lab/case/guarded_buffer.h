// Device memory with guard bytes on both sides: a write outside of it is found, not only feared.
#pragma once

#include <cstddef>
#include <string>

#include "rooftile/core/memory.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::lab {

class GuardedBuffer {
 public:
  // `bytes` at an address that is `offset_bytes` past a 256-byte boundary. Guards are set when this returns.
  static Result<GuardedBuffer> create(StreamRef stream, std::size_t bytes, std::size_t offset_bytes = 0);

  [[nodiscard]] void* data() const;
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  // Enqueues the guard pattern, for the next user after one that broke it.
  [[nodiscard]] Status set_guards(StreamRef stream) const;
  // Enqueues `value` into every payload byte.
  [[nodiscard]] Status poison(StreamRef stream, int value) const;
  // Empty, or which guard byte was overwritten. Synchronises the stream.
  [[nodiscard]] Result<std::string> broken_guard(StreamRef stream) const;

 private:
  DeviceMemory memory_;
  std::size_t front_ = 0;  // guard bytes in front of the payload
  std::size_t bytes_ = 0;
};

// Compares device bytes with host bytes through a bounded staging buffer: the offset of the first difference,
// or `bytes` where there is none. Synchronises the stream.
[[nodiscard]] Result<std::size_t> first_difference(StreamRef stream, const void* device_data,
                                                   const void* host_data, std::size_t bytes);
// The offset of the first byte that is not zero, or `bytes`.
[[nodiscard]] Result<std::size_t> first_nonzero(StreamRef stream, const void* device_data, std::size_t bytes);

}  // namespace rooftile::lab
