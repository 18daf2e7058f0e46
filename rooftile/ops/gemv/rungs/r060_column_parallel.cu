// The transpose, without moving anything.
//
// Idea       lanes stand side by side along the columns, a 16-byte vector each, and walk down the rows: a thread has an
//            accumulator for each column of its vector, and an element of x serves a whole row of the block.
// Change     no butterfly over a row: the tree is over the threads that stand above each other, in registers where they are of one
//            warp, then in shared memory, then over the parts of the rows in the order of the parts.
// Limits     an output for each column of rows in memory; any strides of x. Few columns leave lanes for more rows, few rows for
//            more columns. Rows that begin anywhere cost two loads for a vector, the second from L1.
// Bottleneck DRAM; of small matrices the way to the ticket and back.
#include "rooftile/device/align.h"
#include "rooftile/device/covering_vectors.h"
#include "rooftile/device/last_block.h"
#include "rooftile/ops/gemv/rungs/gemv_device.h"

namespace rooftile::ROOFTILE_TARGET::gemv_rungs {
namespace {

constexpr int kBlock = gemv_plan::kColumnBlock;
constexpr int kWarps = kBlock / kWarpSize;

// A thread's vector of each row of a matrix. What is behind the matrix is 0; what is behind a row is nobody's, and harmless.
template <class In, bool kSkewed>
struct ColumnVectors {
  static constexpr int kElements = kVecElements<In>;
  CoveringVectors<In> matrix;
  std::int64_t column;
  std::int64_t pitch;

  [[nodiscard]] __device__ __forceinline__ RawVector load(std::int64_t row) const {
    if constexpr (kSkewed) {
      const auto first = static_cast<std::uint64_t>(row * pitch + column + matrix.skew);
      const auto low = static_cast<std::int64_t>(first / kElements);
      const auto shift = static_cast<unsigned>(first % kElements * sizeof(In));
      return straddling_bytes(bits_of(matrix.load(low)), bits_of(matrix.load(low + 1)), shift);
    } else {
      const std::int64_t first = row * pitch + column;
      if (first + kElements <= matrix.n)
        return load_bytes<kVecBytes, LoadPolicy::no_allocate>(matrix.g_first + first);
      return bits_of(matrix.load(first / kElements));
    }
  }
};

template <class Acc, class In, int kElements>
__device__ __forceinline__ void add_row(Acc (&sums)[kElements], const Vec<In, kElements>& a, In x) {
#pragma unroll
  for (int e = 0; e < kElements; ++e) sums[e] = add_product(sums[e], a[e], x);
}

// Rows first, first + step, ... before last: kLoads of them on their way at a time.
template <int kLoads, class Acc, class In, bool kSkewed, int kElements>
__device__ __forceinline__ void add_rows(const ColumnVectors<In, kSkewed>& vectors, const In* g_x,
                                         std::int64_t x_step, std::int64_t first, std::int64_t last,
                                         std::int64_t step, Acc (&sums)[kElements]) {
  std::int64_t row = first;
  for (; row + (kLoads - 1) * step < last; row += kLoads * step) {
    RawVector r_a[kLoads];
    In r_x[kLoads];
#pragma unroll
    for (int v = 0; v < kLoads; ++v) r_a[v] = vectors.load(row + v * step);
#pragma unroll
    for (int v = 0; v < kLoads; ++v) r_x[v] = g_x[(row + v * step) * x_step];
#pragma unroll
    for (int v = 0; v < kLoads; ++v) add_row(sums, as_vector<In>(r_a[v]), r_x[v]);
  }
#pragma unroll 2
  for (; row < last; row += step) {
    const RawVector r_a = vectors.load(row);
    add_row(sums, as_vector<In>(r_a), g_x[row * x_step]);
  }
}

// The results of columns column ... column + kElements - 1, by one thread: as one vector where y's lie so.
template <class In, class Acc, int kElements>
__device__ __forceinline__ void store_columns(const Operands<In, Acc>& call, std::int64_t batch,
                                              std::int64_t column, const Acc (&sums)[kElements]) {
  In* g_first = call.g_y + batch * call.shape.y_batch + column * call.shape.y_step;
  if (call.shape.y_step == 1 && column + kElements <= call.shape.columns &&
      reinterpret_cast<std::uintptr_t>(g_first) % kVecBytes == 0) {
    Vec<In, kElements> vec;
#pragma unroll
    for (int e = 0; e < kElements; ++e) vec[e] = rounded<In>(call.result({batch, column + e}, sums[e]));
    store_vec(g_first, vec);
  } else {
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      if (column + e < call.shape.columns) call.store({batch, column + e}, sums[e]);
    }
  }
}

// A tile is `lanes` vectors wide; the block's other threads stand above each other. Block b takes tile b % tiles of a part of the
// rows of a matrix: blocks that run at the same time read the same rows.
template <class In, class Acc, bool kSkewed>
__global__ void __launch_bounds__(kBlock, gemv_plan::kColumnBlocks)
    column_parallel_kernel(Operands<In, Acc> call, Cut cut, Acc* g_partials, std::uint32_t* g_tickets) {
  constexpr int kElements = kVecElements<In>;
  constexpr int kLoads = gemv_plan::column_loads(sizeof(In), !kSkewed);
  __shared__ Acc s_sums[kBlock * kElements];  // [level][element of a vector][lane]
  const auto tiles = static_cast<unsigned>(cut.tiles);
  const auto parts = static_cast<unsigned>(cut.parts);
  const std::int64_t tile = blockIdx.x % tiles;
  const std::int64_t part = blockIdx.x / tiles % parts;
  const std::int64_t batch = blockIdx.x / tiles / parts;
  const int thread = static_cast<int>(threadIdx.x);
  const int lanes = cut.lanes;
  const int lane = thread % lanes;
  const std::int64_t column = (tile * lanes + lane) * kElements;

  Acc sums[kElements] = {};
  if (column < call.shape.columns) {
    const std::int64_t last =
        (part + 1) * cut.part < call.shape.rows ? (part + 1) * cut.part : call.shape.rows;
    const std::int64_t all = (call.shape.rows - 1) * call.shape.pitch + call.shape.columns;
    const ColumnVectors<In, kSkewed> vectors{CoveringVectors<In>::of(call.matrix(batch), all), column,
                                             call.shape.pitch};
    add_rows<kLoads>(vectors, call.vector(batch), call.shape.x_step, part * cut.part + thread / lanes, last,
                     kBlock / lanes, sums);
  }
  if (lanes == kBlock) {  // nobody stands above
    if (column < call.shape.columns) store_columns(call, batch, column, sums);
  } else {
    for (int offset = lanes; offset < kWarpSize; offset *= 2) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) sums[e] += shuffle_xor(sums[e], offset);
    }
    const int levels = lanes < kWarpSize ? kWarps : kBlock / lanes;
    const int level = lanes < kWarpSize ? warp_index() : thread / lanes;
    const int width = lanes * kElements;
    if (lanes >= kWarpSize || lane_index() < lanes) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) s_sums[level * width + e * lanes + lane] = sums[e];
    }
    __syncthreads();  // every level's sums are there
    const std::int64_t owner = batch * tiles + tile;
    Acc* g_tile = g_partials + owner * parts * width;
    const auto store = [&](int place, Acc sum) {
      const std::int64_t at = (tile * lanes + place % lanes) * kElements + place / lanes;
      if (at < call.shape.columns) call.store({batch, at}, sum);
    };
    for (int place = thread; place < width; place += kBlock) {
      Acc sum{};
      for (int l = 0; l < levels; ++l) sum += s_sums[l * width + place];
      if (parts == 1) {
        store(place, sum);
      } else {
        g_tile[part * width + place] = sum;
      }
    }
    if (parts > 1) {
      __syncthreads();  // all of the block's stores before thread 0's release
      if (is_last_block(&g_tickets[owner], parts)) {
        for (int place = thread; place < width; place += kBlock) {
          Acc sum{};
#pragma unroll 8
          for (unsigned p = 0; p < parts; ++p) sum += g_tile[p * width + place];
          store(place, sum);
        }
      }
    }
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemvArgs>& call) {
  return dispatch_floats(call.args, [&]<class In, class Acc>() -> Status {
    const auto& cut = call.config<Cut>();
    const auto start = [&](auto kernel) {
      return launch_blocks(call, kBlock, kernel, operands_of<In, Acc>(call), cut,
                           static_cast<Acc*>(call.workspace.data),
                           static_cast<std::uint32_t*>(call.workspace.zeroed));
    };
    return cut.aligned ? start(column_parallel_kernel<In, Acc, false>)
                       : start(column_parallel_kernel<In, Acc, true>);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemv_rungs
