// The workspace protocol: scratch memory that an operator needs beside its tensors.
//
// The zeroed part is zero at entry and zero again at exit, so that it is cleared once per stream and not once
// per call; the rest may hold anything. A workspace serves one call at a time: one per stream, one per
// captured graph (a graph keeps the addresses). The two parts are separate allocations.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rooftile {

struct WorkspaceSpec {
  std::size_t bytes = 0;         // of the part that may hold anything
  std::size_t zeroed_bytes = 0;  // of the part that is zero at entry and at exit
};

struct Workspace {
  void* data = nullptr;  // aligned to 256 bytes
  std::size_t bytes = 0;
  void* zeroed = nullptr;  // aligned to 256 bytes
  std::size_t zeroed_bytes = 0;
  // Where a kernel reports what only the device can see (an index out of range); null: nobody asks.
  std::uint32_t* error_word = nullptr;

  [[nodiscard]] bool covers(const WorkspaceSpec& spec) const {
    return bytes >= spec.bytes && zeroed_bytes >= spec.zeroed_bytes;
  }
};

}  // namespace rooftile
