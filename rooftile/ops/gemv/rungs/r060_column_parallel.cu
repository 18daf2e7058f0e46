// The transpose, without moving anything.
//
// Idea       lanes stand side by side along the columns, a 16-byte vector each, and walk down the rows: a thread has an
//            accumulator for each column of its vector, and an element of x serves a whole row of the block.
// Change     no butterfly over a row: the tree is over the threads that stand above each other, in registers where they are of one
//            warp, then in shared memory, then over the parts of the rows in the order of the parts.
// Limits     an output for each column of rows in memory; any strides of x. Few columns leave lanes for more rows, few rows for
//            more columns. Rows that begin anywhere cost two loads for a vector, the second from L1.
// Bottleneck DRAM; of small matrices the way to the ticket and back.
#include "rooftile/core/integers.h"
#include "rooftile/device/align.h"
#include "rooftile/device/last_block.h"
#include "rooftile/ops/gemv/rungs/gemv_device.h"

namespace rooftile::ROOFTILE_TARGET::gemv_rungs {
namespace {

constexpr int kBlock = gemv_plan::kColumnBlock;
constexpr int kWarps = kBlock / kWarpSize;

// A vector at any element.
template <class In, bool kSkewed>
__device__ __forceinline__ RawVector load_at(const In* g_place) {
  if constexpr (kSkewed) {
    return bits_of(StraddlingVectors<In>(g_place).load(0));
  } else {
    return load_bytes<kVecBytes, LoadPolicy::no_allocate>(g_place);
  }
}

// Of a matrix the rows begin ... end - 1, where a vector from `column` on may be loaded as it lies: what is read beside it is the
// matrix's, too.
struct WholeRows {
  std::int64_t begin;
  std::int64_t end;
};
template <int kElements, bool kSkewed>
__device__ __forceinline__ WholeRows whole_rows(const Geometry& shape, std::int64_t column) {
  constexpr int kInFront = kSkewed ? kElements - 1 : 0;  // that is read at most, and behind
  constexpr int kBehind = kSkewed ? 2 * kElements : kElements;
  const std::int64_t last = (shape.rows - 1) * shape.pitch + shape.columns - kBehind - column;
  return {column < kInFront ? (kInFront - column + shape.pitch - 1) / shape.pitch : 0,
          last < 0 ? 0 : last / shape.pitch + 1};
}

template <class Acc, class In, int kElements>
__device__ __forceinline__ void add_row(Acc (&sums)[kElements], const Vec<In, kElements>& a, In x) {
#pragma unroll
  for (int e = 0; e < kElements; ++e) sums[e] = add_product(sums[e], a[e], x);
}

// So many rows that may be loaded as they lie, kLoads of them on their way at a time. g_a, g_x: the first one's vector and element
// of x; a_step, x_step: from one to the next.
template <int kLoads, bool kSkewed, class Acc, class In, int kElements>
__device__ __forceinline__ void add_rows(const In* g_a, std::int64_t a_step, const In* g_x,
                                         std::int64_t x_step, int rows, Acc (&sums)[kElements]) {
  const auto add = [&]<int kCount>(std::integral_constant<int, kCount>) {
    RawVector r_a[kCount];
    In r_x[kCount];
#pragma unroll
    for (int v = 0; v < kCount; ++v, g_a += a_step) r_a[v] = load_at<In, kSkewed>(g_a);
#pragma unroll
    for (int v = 0; v < kCount; ++v, g_x += x_step) r_x[v] = *g_x;
#pragma unroll
    for (int v = 0; v < kCount; ++v) add_row(sums, as_vector<In>(r_a[v]), r_x[v]);
  };
#pragma unroll 1
  for (; rows >= kLoads; rows -= kLoads) add(std::integral_constant<int, kLoads>{});
  if constexpr (kLoads > 2) {
#pragma unroll 1
    for (; rows >= 2; rows -= 2) add(std::integral_constant<int, 2>{});
  }
#pragma unroll 1
  for (; rows > 0; --rows) add(std::integral_constant<int, 1>{});
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
    const int step = kBlock / lanes;
    const std::int64_t first = part * cut.part + thread / lanes;
    const std::int64_t last =
        (part + 1) * cut.part < call.shape.rows ? (part + 1) * cut.part : call.shape.rows;
    const In* g_a = call.matrix(batch) + column;
    const In* g_x = call.vector(batch);
    const WholeRows whole = whole_rows<kElements, kSkewed>(call.shape, column);
    const std::int64_t begin =
        first < whole.begin ? first + ceil_div(whole.begin - first, step) * step : first;
    const std::int64_t end = last < whole.end ? last : whole.end;
    const std::int64_t count = begin < end ? ceil_div(end - begin, step) : 0;
    // At either end of the matrix: element by element.
#pragma unroll 1
    for (std::int64_t row = first; row < last; row += step) {
      if (row == begin) row += count * step;
      if (row < last) {
        const Acc x = static_cast<Acc>(g_x[row * call.shape.x_step]);
#pragma unroll
        for (int e = 0; e < kElements; ++e) {
          if (column + e < call.shape.columns)
            sums[e] = multiply_add(static_cast<Acc>(g_a[row * call.shape.pitch + e]), x, sums[e]);
        }
      }
    }
    add_rows<kLoads, kSkewed>(g_a + begin * call.shape.pitch, step * call.shape.pitch,
                              g_x + begin * call.shape.x_step, step * call.shape.x_step,
                              static_cast<int>(count), sums);
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
