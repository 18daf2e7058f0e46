// A batch of small matrices, many per block.
//
// Idea       matrices that lie one behind the other are a contiguous piece on both sides: a block moves as
//            many as fill it, and picks every 16 bytes of out together in shared memory.
// Change     the places are exchanged within matrices of any shape, not of a tile: nothing hangs over an
//            edge. In place as well: a block has read its matrices before it writes them.
// Limits     in and out without gaps between rows and between matrices, of at most 8 KiB each.
// Bottleneck DRAM; shared memory, which is reached item by item, where items are small.
#include "rooftile/ops/transpose/rungs/contiguous_piece.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

constexpr int kBlock = 256;
constexpr int kPieceBytes = 16384;
static_assert(kPieceBytes >= 2 * transpose_plan::kMostWholeBytes, "two matrices at least");

// A word of padding every 128 bytes: matrices whose rows are a power of two would keep their columns in one
// bank.
template <int kItemBytes>
inline constexpr int kLineItems = 128 / kItemBytes;
template <int kItemBytes>
inline constexpr int kPadItems = kItemBytes >= 4 ? 1 : 4 / kItemBytes;
template <int kItemBytes>
__device__ __forceinline__ int padded(int item) {
  return item + item / kLineItems<kItemBytes> * kPadItems<kItemBytes>;
}

struct Small {
  const char* in;
  char* out;
  std::int64_t items;  // of the whole batch
  int m;
  int n;
  int piece;  // items of a block's matrices
};

// kPolicy: `cached` where out may be in, because what a no_allocate load reads must not be written meanwhile.
template <int kItemBytes, LoadPolicy kPolicy>
__global__ void __launch_bounds__(kBlock) whole_matrices_kernel(Small a) {
  using Item = Access<kItemBytes>;
  constexpr int kN = kVecBytes / kItemBytes;
  __shared__ Item s_piece[kPieceBytes / kItemBytes + kPieceBytes / 128 * kPadItems<kItemBytes>];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * a.piece;
  const int items = static_cast<int>(a.items - first < a.piece ? a.items - first : a.piece);
  const char* const g_in = a.in + first * kItemBytes;
  char* const g_out = a.out + first * kItemBytes;
  const int vectors = is_vector_aligned(g_in) ? items / kN : 0;
  for (int v = static_cast<int>(threadIdx.x); v < vectors; v += kBlock) {
    const auto r_items = load_vec<kPolicy>(reinterpret_cast<const Item*>(g_in) + v * kN);
#pragma unroll
    for (int e = 0; e < kN; ++e) s_piece[padded<kItemBytes>(v * kN + e)] = r_items[e];
  }
  for (int i = vectors * kN + static_cast<int>(threadIdx.x); i < items; i += kBlock) {
    s_piece[padded<kItemBytes>(i)] = load_bytes<kItemBytes, kPolicy>(g_in + i * kItemBytes);
  }
  __syncthreads();  // the piece is complete

  const bool aligned = is_vector_aligned(g_out);
  for (int vector = static_cast<int>(threadIdx.x); vector * kN < items; vector += kBlock) {
    // out[matrix][j][i] is item `to`; the divisions serve a whole vector.
    const int to = vector * kN;
    int i = to % a.m;
    int j = to / a.m % a.n;
    int s_matrix = to / (a.m * a.n) * (a.m * a.n);
    Vec<Item, kN> r_items;
#pragma unroll
    for (int e = 0; e < kN; ++e) {
      if (to + e < items) r_items[e] = s_piece[padded<kItemBytes>(s_matrix + i * a.n + j)];
      if (++i < a.m) continue;
      i = 0;
      if (++j < a.n) continue;
      j = 0;
      s_matrix += a.m * a.n;
    }
    if (aligned && to + kN <= items) {
      store_vec(reinterpret_cast<Item*>(g_out) + to, r_items);
    } else {
#pragma unroll
      for (int e = 0; e < kN; ++e) {
        if (to + e < items) store_bytes<kItemBytes>(g_out + (to + e) * kItemBytes, r_items[e]);
      }
    }
  }
}

// As many matrices as fit, and so many that every block's piece starts 16-byte aligned where the batch does.
int matrices_per_block(std::int64_t matrix_bytes) {
  std::int64_t step = 1;
  while (matrix_bytes * step % kVecBytes != 0) step *= 2;
  const std::int64_t fit = kPieceBytes / matrix_bytes;
  return static_cast<int>(fit >= step ? fit / step * step : fit);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  const auto& g = call.config<Geometry>();
  if (g.items() == 0) return {};
  const int per_block = matrices_per_block(g.m * g.n * g.item_bytes);
  const std::int64_t blocks = transpose_plan::ceil_div(g.batch.count, per_block);
  if (blocks > kMaxBlocks) return unsupported("more than 2^31 - 1 blocks: transpose the batch in parts");
  const auto m = static_cast<int>(g.m);
  const auto n = static_cast<int>(g.n);
  const Small a{static_cast<const char*>(call.args.in.data),
                static_cast<char*>(call.args.out.data),
                g.items(),
                m,
                n,
                per_block * m * n};
  return dispatch_item(g.item_bytes, [&]<int kItemBytes>() -> Status {
    return launch(g.in_place ? whole_matrices_kernel<kItemBytes, LoadPolicy::cached>
                             : whole_matrices_kernel<kItemBytes, LoadPolicy::no_allocate>,
                  {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(kBlock), .stream = call.stream},
                  a);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
