#include "tests/device/blocks/align_kernels.h"

#include "rooftile/device/align.h"
#include "rooftile/device/grid_stride.h"
#include "rooftile/device/launch.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

__global__ void straddling_kernel(const std::uint8_t* g_in, std::int64_t vectors, std::uint8_t* g_out) {
  const StraddlingVectors<std::uint8_t> source(g_in);
  for (const std::int64_t i : grid_stride(vectors)) store_vec(g_out + i * kVecBytes, source.load(i));
}

__global__ void to_line_kernel(const std::uint8_t* g_in, std::int64_t n, std::int64_t* g_out) {
  g_out[threadIdx.x] = elements_to_line(g_in + threadIdx.x, n);
}

}  // namespace

Status run_straddling(StreamRef stream, const std::uint8_t* g_in, std::int64_t vectors, std::uint8_t* g_out) {
  return launch(straddling_kernel, {.block = 64, .stream = stream}, g_in, vectors, g_out);
}

Status run_to_line(StreamRef stream, const std::uint8_t* g_in, std::int64_t n, std::int64_t* g_out) {
  return launch(to_line_kernel, {.block = 256, .stream = stream}, g_in, n, g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
