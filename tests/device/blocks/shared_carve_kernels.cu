#include "tests/device/blocks/shared_carve_kernels.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/shared_carve.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

struct Pieces {
  std::uint8_t* s_bytes;      // [13]
  float* s_tiles;             // [stages][100], for TMA
  std::uint64_t* s_full;      // one
  std::uint16_t* s_swizzled;  // [stages][64]
  __host__ __device__ Pieces(SharedCarve& carve, int stages)
      : s_bytes(carve.array<std::uint8_t>(13)),
        s_tiles(carve.array<float>(static_cast<std::size_t>(stages) * 100, 128)),
        s_full(carve.one<std::uint64_t>()),
        s_swizzled(carve.array<std::uint16_t>(static_cast<std::size_t>(stages) * 64, 1024)) {}
};

// One thread fills each piece with its own number and then counts what has not stayed.
__global__ void carve_kernel(int stages, std::uint32_t* g_offsets, std::uint32_t* g_wrong) {
  ROOFTILE_DYN_SHARED(unsigned char, s_raw);
  SharedCarve carve(s_raw);
  const Pieces pieces(carve, stages);
  unsigned char* const begin[] = {pieces.s_bytes, reinterpret_cast<unsigned char*>(pieces.s_tiles),
                                  reinterpret_cast<unsigned char*>(pieces.s_full),
                                  reinterpret_cast<unsigned char*>(pieces.s_swizzled)};
  const int bytes[] = {13, stages * 400, 8, stages * 128};
  for (int piece = 0; piece < kCarvedPieces; ++piece) {
    g_offsets[piece] = static_cast<std::uint32_t>(begin[piece] - s_raw);
    for (int i = 0; i < bytes[piece]; ++i) begin[piece][i] = static_cast<unsigned char>(piece + 1);
  }
  g_offsets[kCarvedPieces] = static_cast<std::uint32_t>(carve.bytes());
  std::uint32_t wrong = 0;
  for (int piece = 0; piece < kCarvedPieces; ++piece) {
    for (int i = 0; i < bytes[piece]; ++i) wrong += begin[piece][i] != piece + 1 ? 1u : 0u;
  }
  *g_wrong = wrong;
}

}  // namespace

std::size_t carved_bytes(int stages) { return shared_bytes<Pieces>(stages); }

Status run_carve(StreamRef stream, int stages, std::size_t less, std::uint32_t* g_offsets,
                 std::uint32_t* g_wrong) {
  return launch(carve_kernel, {.shared_bytes = carved_bytes(stages) - less, .stream = stream}, stages,
                g_offsets, g_wrong);
}

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
