// The memory of values that blocks publish to each other (device/published.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/workspace.h"

namespace rooftile {

// A value of up to 4 bytes shares a word of 8 bytes with its state, one of 8 bytes a word of 16; any other stands behind a flag
// of 4 bytes.
constexpr bool shares_state_word(std::size_t value_bytes) { return value_bytes <= 4 || value_bytes == 8; }
constexpr std::size_t published_state_bytes(std::size_t value_bytes) {
  return value_bytes <= 4 ? 8 : value_bytes == 8 ? 16 : 4;
}
constexpr WorkspaceSpec published_workspace(std::int64_t count, std::size_t value_bytes) {
  const auto values = static_cast<std::size_t>(count);
  return {.bytes = shares_state_word(value_bytes) ? 0 : values * value_bytes,
          .zeroed_bytes = values * published_state_bytes(value_bytes)};
}

}  // namespace rooftile
