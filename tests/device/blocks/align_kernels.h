// Vectors that lie across two aligned ones.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {

// Vectors 0 ... vectors - 1 of the bytes from g_in on, one behind the other, to g_out, which is aligned.
Status run_straddling(StreamRef stream, const std::uint8_t* g_in, std::int64_t vectors, std::uint8_t* g_out);
// elements_to_line of g_in + 0 ... 255.
Status run_to_line(StreamRef stream, const std::uint8_t* g_in, std::int64_t n, std::int64_t* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
