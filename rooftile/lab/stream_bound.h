// The streaming bound: how fast this device moves the same bytes in the same mix of reads and writes when it
// does nothing else.
#pragma once

#include <cstddef>

#include "rooftile/core/memory.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::lab {

class StreamBound {
 public:
  // Buffers for the bytes of a case. Rounded up to 16 bytes each; a side below 1/256 of the other is left
  // out.
  static Result<StreamBound> create(StreamRef stream, double read_bytes, double write_bytes);
  StreamBound() = default;

  [[nodiscard]] double bytes() const { return static_cast<double>(source_.bytes() + target_.bytes()); }
  // Enqueues one pass: no allocation, no synchronisation on cuda.
  [[nodiscard]] Status launch(StreamRef stream) const;

 private:
  DeviceMemory source_;
  DeviceMemory target_;
  DeviceMemory sink_;  // where a reader could leave its result, so that no load is optimised away
};

// One pass over `source` and `target`, each a multiple of 16 bytes, either may be empty. Without CUDA an
// error.
[[nodiscard]] Status stream_bound_cuda(StreamRef stream, const void* source, std::size_t source_bytes,
                                       void* target, std::size_t target_bytes, void* sink);

}  // namespace rooftile::lab
