// The kernels of the textures' tests: every thread makes one fetch; an object is what texture.h's handle is.
#pragma once

#include <cstdint>

#include "tests/sim/kernels.h"

namespace rooftile::ROOFTILE_TARGET::sim_tests {

// g_out[i] of T's channels as floats; g_at holds (x, y) for each.
enum class Fetch { tex2D, tex2D_level, tex2D_pointer, tex1D, tex1Dfetch };
enum class ReadAs { float1, float2, float4, uchar, uchar4, short1 };
Status run_fetch(StreamRef stream, Fetch fetch, ReadAs as, unsigned long long object, unsigned n,
                 const float* g_at, float* g_out);

// Reads the element that is as many bytes from the row's start, adds 1, and writes it one row below.
enum class Outside { trap, clamp, zero };
Status run_surface(StreamRef stream, unsigned long long object, Outside outside, int x_bytes, int y,
                   float* g_out);
Status run_surface_uchar4(StreamRef stream, unsigned long long object, int x_bytes, int y);

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
