// Rows shorter than a warp's load.
//
// Idea       as many lanes to a row as it has vectors, 1 to 32: a warp's load is several rows side by side. Four of each group of
//            lanes are on their way at a time, and the butterfly ends within the group.
// Change     no lane is idle for being behind a row's end, and a warp has 4 loads in flight where a row has but one.
// Limits     an output for each row in memory, x without gaps; meant for rows below a KiB.
// Bottleneck DRAM; of rows that begin off their alignment the instructions that put x's vectors together.
#include "rooftile/device/align.h"
#include "rooftile/device/covering_vectors.h"
#include "rooftile/ops/gemv/rungs/gemv_device.h"

namespace rooftile::ROOFTILE_TARGET::gemv_rungs {
namespace {

constexpr int kBlock = gemv_plan::kSeveralBlock;

// A row that begins at 16 bytes, and x: whole vectors, and fewer elements than one behind them.
template <class In>
struct AlignedRow {
  static constexpr int kElements = kVecElements<In>;
  const In* g_row;
  const In* g_x;
  std::int64_t n;

  template <class Acc>
  __device__ __forceinline__ AlignedRow(const Operands<In, Acc>& call, std::int64_t row)
      : AlignedRow(call, call.place_of(row)) {}
  template <class Acc>
  __device__ __forceinline__ AlignedRow(const Operands<In, Acc>& call,
                                        const typename Operands<In, Acc>::Place& at)
      : g_row(call.row(at)), g_x(call.vector(at.batch)), n(call.shape.columns) {}
  // Of the longest row.
  __device__ __forceinline__ static std::int64_t most_vectors(std::int64_t n) { return n / kElements; }
  [[nodiscard]] __device__ __forceinline__ RawVector load(std::int64_t i) const {
    return load_bytes<kVecBytes, LoadPolicy::no_allocate>(g_row + i * kElements);
  }
  [[nodiscard]] __device__ __forceinline__ RawVector load_x(std::int64_t i) const {
    return load_bytes<kVecBytes>(g_x + i * kElements);
  }
  template <class Acc>
  [[nodiscard]] __device__ __forceinline__ Acc rest(int lane, int lanes) const {
    Acc sum{};
#pragma unroll 1
    for (std::int64_t i = n - n % kElements + lane; i < n; i += lanes)
      sum = add_product(sum, g_row[i], g_x[i]);
    return sum;
  }
};

// A row that begins anywhere: the vectors of the matrix that cover it. Elements that are not the row's are 0.
template <class In>
struct CoveredRow {
  static constexpr int kElements = kVecElements<In>;
  CoveringVectors<In> matrix;
  CoveringVectors<In> x;
  std::int64_t from;  // the row's first vector
  std::int64_t past;  // elements of it that stand in front of the row

  template <class Acc>
  __device__ __forceinline__ CoveredRow(const Operands<In, Acc>& call, std::int64_t row)
      : CoveredRow(call, call.place_of(row)) {}
  template <class Acc>
  __device__ __forceinline__ CoveredRow(const Operands<In, Acc>& call,
                                        const typename Operands<In, Acc>::Place& at)
      : matrix(CoveringVectors<In>::of(call.matrix(at.batch),
                                       (call.shape.rows - 1) * call.shape.pitch + call.shape.columns)),
        x(CoveringVectors<In>::of(call.vector(at.batch), call.shape.columns)) {
    const auto first = static_cast<std::uint64_t>(at.index * call.shape.pitch + matrix.skew);
    from = static_cast<std::int64_t>(first / kElements);
    past = static_cast<std::int64_t>(first % kElements);
  }
  __device__ __forceinline__ static std::int64_t most_vectors(std::int64_t n) {
    return n == 0 ? 0 : (n + 2 * (kElements - 1)) / kElements;
  }
  [[nodiscard]] __device__ __forceinline__ RawVector load(std::int64_t i) const {
    auto vec = matrix.load(from + i);
    const std::int64_t first = i * kElements - past;
#pragma unroll
    for (int j = 0; j < kElements; ++j) {
      if (first + j < 0 || first + j >= x.n) vec[j] = In{};
    }
    return bits_of(vec);
  }
  [[nodiscard]] __device__ __forceinline__ RawVector load_x(std::int64_t i) const {
    // One vector more, so that what is divided is not negative.
    const auto first = static_cast<std::uint64_t>((i + 1) * kElements - past + x.skew);
    const std::int64_t low = static_cast<std::int64_t>(first / kElements) - 1;
    const auto shift = static_cast<unsigned>(first % kElements * sizeof(In));
    return straddling_bytes(bits_of(x.load(low)), bits_of(x.load(low + 1)), shift);
  }
  template <class Acc>
  [[nodiscard]] __device__ __forceinline__ Acc rest(int, int) const {
    return Acc{};
  }
};

// A warp has kRows times as many rows as groups of `lanes`; those that are loaded together lie side by side.
template <class In, class Acc, class Row>
__global__ void __launch_bounds__(kBlock, gemv_plan::kSeveralBlocks)
    several_rows_per_warp_kernel(Operands<In, Acc> call, int lanes) {
  constexpr int kRows = gemv_plan::several_rows(std::is_same_v<Row, AlignedRow<In>>);
  const int groups = kWarpSize / lanes;
  const std::int64_t warp = std::int64_t{blockIdx.x} * (kBlock / kWarpSize) + warp_index();
  const std::int64_t first_row = warp * kRows * groups + lane_index() / lanes;
  const int lane = lane_index() % lanes;
  const std::int64_t all = call.outputs();
  const std::int64_t vectors = Row::most_vectors(call.shape.columns);

  Acc sums[kRows] = {};
#pragma unroll 1
  for (std::int64_t i = lane; i < vectors; i += lanes) {
    RawVector r_a[kRows];
    RawVector r_x[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (first_row + r * groups < all) {
        const Row row(call, first_row + r * groups);
        r_a[r] = row.load(i);
        r_x[r] = row.load_x(i);
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (first_row + r * groups < all)
        sums[r] += product_of<Acc>(as_vector<In>(r_a[r]), as_vector<In>(r_x[r]));
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const std::int64_t row = first_row + r * groups;
    if (row < all) sums[r] += Row(call, row).template rest<Acc>(lane, lanes);
    for (int offset = lanes / 2; offset > 0; offset /= 2) sums[r] += shuffle_xor(sums[r], offset);
    if (lane == 0 && row < all) call.store(call.place_of(row), sums[r]);
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemvArgs>& call) {
  return dispatch_floats(call.args, [&]<class In, class Acc>() -> Status {
    const auto& cut = call.config<Cut>();
    const auto operands = operands_of<In, Acc>(call);
    return cut.aligned ? launch_blocks(call, kBlock, several_rows_per_warp_kernel<In, Acc, AlignedRow<In>>,
                                       operands, cut.lanes)
                       : launch_blocks(call, kBlock, several_rows_per_warp_kernel<In, Acc, CoveredRow<In>>,
                                       operands, cut.lanes);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemv_rungs
