// mma, ldmatrix and stmatrix; the comments BUG name the line that a report must give.
#include "tests/checked/fragment_kernels.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/sm80/ldmatrix.h"
#include "rooftile/device/sm80/mma.h"
#include "rooftile/device/sm90a/stmatrix.h"
#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET::checked_tests {
namespace {

constexpr int kBlock = 64;

__global__ void mma_kernel(FragmentBug bug, const unsigned short* g_in, float* g_out) {
  const int lane = lane_index();
  std::uint32_t a[4];
  std::uint32_t b[2];
  float sums[4] = {};
  for (std::uint32_t& pair : a) pair = g_in[lane] * 0x10001u;
  for (std::uint32_t& pair : b) pair = g_in[lane] * 0x10001u;
  if (bug == FragmentBug::mma_missing_lane && lane == 7) return;
  if (bug == FragmentBug::mma_two_lines && lane >= 16) {
    mma_m16n8k16<__half>(sums, a, b, sums);
  } else {
    mma_m16n8k16<__half>(sums, a, b, sums);  // BUG mma
  }
  for (int i = 0; i < 4; ++i) g_out[threadIdx.x * 4 + i] = sums[i];
}

// 64 rows of 8 halves in shared memory, each written by the thread of its number, and read and overwritten as a matrix by
// the neighbour.
__global__ void rows_kernel(FragmentBug bug, const unsigned short* g_in, float* g_out) {
  __shared__ __align__(16) unsigned short s_rows[kBlock][8];
  const int t = static_cast<int>(threadIdx.x);
  const int lane = lane_index();
  const bool other_warp = bug == FragmentBug::load_without_barrier;
  const int row = other_warp ? (t + 32) % kBlock : t ^ 1;
  if (bug != FragmentBug::load_uninitialised || t != 40) {
    for (int i = 0; i < 8; ++i) s_rows[t][i] = g_in[t * 8 + i];
  }
  if (bug != FragmentBug::load_without_syncwarp && !other_warp) __syncwarp();  // the warp's rows are complete
  std::uint32_t r[4] = {};
  if (bug == FragmentBug::load_missing_lane && lane == 3) return;
  ldmatrix(r, s_rows[row]);  // BUG load
  for (int i = 0; i < 4; ++i) g_out[t * 8 + i] = static_cast<float>(r[i] & 0xffffu);
  if (bug == FragmentBug::store_over_read) {
    const int over = (t + 32) % kBlock;
    stmatrix(s_rows[over], r);  // BUG store_over_read
    return;
  }
  if (other_warp) return;
  stmatrix_transposed(s_rows[row], r);                                // BUG store
  if (bug != FragmentBug::store_read_without_syncwarp) __syncwarp();  // the rows have changed
  g_out[t * 8 + 4] = static_cast<float>(s_rows[t][0]);
}

template <class Move>
__device__ __forceinline__ void with_rows(unsigned pitch, bool shared_rows, Move move) {
  constexpr unsigned kBytes = 32 * 256;
  __shared__ __align__(16) unsigned char s_memory[kBytes];
  const unsigned lane = threadIdx.x;
  for (unsigned i = lane; i < kBytes; i += 32) s_memory[i] = 0;
  __syncwarp();  // zeros
  move(s_memory + (shared_rows ? lane / 2 * 2 : lane) * pitch);
}

__global__ void load_rows_kernel(bool transposed, unsigned pitch, bool shared_rows, unsigned* g_out) {
  std::uint32_t r[4];
  with_rows(pitch, shared_rows, [&](const unsigned char* s_row) {
    if (transposed) {
      ldmatrix_transposed(r, s_row);  // the rows
    } else {
      ldmatrix(r, s_row);  // the rows
    }
  });
  for (unsigned i = 0; i < 4; ++i) g_out[threadIdx.x * 4 + i] = r[i];
}

__global__ void store_rows_kernel(bool transposed, unsigned pitch) {
  const std::uint32_t r[4] = {1, 2, 3, 4};
  with_rows(pitch, false, [&](unsigned char* s_row) {
    if (transposed) {
      stmatrix_transposed(s_row, r);  // the rows
    } else {
      stmatrix(s_row, r);  // the rows
    }
  });
}

}  // namespace

Status run_fragment_rows(StreamRef stream, RowsOp op, unsigned pitch, bool shared_rows, unsigned* g_out) {
  const LaunchConfig config{.block = 32, .stream = stream};
  if (op == RowsOp::load || op == RowsOp::load_transposed) {
    return launch(load_rows_kernel, config, op == RowsOp::load_transposed, pitch, shared_rows, g_out);
  }
  return launch(store_rows_kernel, config, op == RowsOp::store_transposed, pitch);
}

Status run_fragment_bug(StreamRef stream, FragmentBug bug, const unsigned short* g_in, float* g_out) {
  return launch(bug < FragmentBug::none_rows ? mma_kernel : rows_kernel, {.block = kBlock, .stream = stream},
                bug, g_in, g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
