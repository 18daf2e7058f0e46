#include "tests/device/blocks/rows_kernels.h"

#include "rooftile/device/fast_math.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/register_row.h"
#include "rooftile/device/row_threads.h"
#include "rooftile/device/sm80/passing_rows.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

constexpr std::uint16_t kFiller = 0;

struct AddWords {
  __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a + b; }
};

// Of what hangs over, which must be the filler, and of the row's own words.
template <class Row>
__device__ std::uint32_t sum_of(const Row& row, int n) {
  std::uint32_t sum = 0;
  row.for_each([&](const auto& vec, int first) {
#pragma unroll
    for (int e = 0; e < Row::kElements; ++e) {
      const bool is_own = first + e >= 0 && first + e < n;
      sum += is_own || vec[e] == kFiller ? vec[e] : 1000u;
    }
  });
  return sum;
}

struct AddTo {
  std::uint32_t sum;
  template <class Vector>
  __device__ Vector operator()(Vector vec, int) const {
#pragma unroll
    for (int e = 0; e < 8; ++e) vec[e] = static_cast<std::uint16_t>(vec[e] + sum);
    return vec;
  }
};

// Rows of a warp at most have 64 threads' blocks.
template <int kThreads, bool kWhole>
__global__ void add_sums_kernel(const std::uint16_t* g_in, std::int64_t rows, int n, std::int64_t pitch,
                                std::int64_t window, std::uint16_t* g_out) {
  using Threads = RowThreads<kThreads>;
  __shared__ std::uint32_t s_values[Threads::kWarps];
  const std::int64_t r =
      std::int64_t{blockIdx.x} * (static_cast<int>(blockDim.x) / kThreads) + Threads::row();
  const std::int64_t at = (r < rows ? r : 0) * pitch;
  RegisterRow<std::uint16_t, Threads, 2, kWhole> row;
  const PassingRows passing(window);
  if (kWhole && window >= 0) {
    row.load(g_in + at, r < rows ? n : 0, kFiller, 0, row.kCapacity, passing);
  } else {
    row.load(g_in + at, r < rows ? n : 0, kFiller);
  }
  const std::uint32_t sum =
      Threads::all_reduce(sum_of(row, r < rows ? n : 0), 0u, s_values,
                          [](auto lanes, std::uint32_t own) { return lanes_reduce<lanes>(own, AddWords{}); });
  row.store(g_out + at, AddTo{sum});
  if (kWhole && window >= 0) {
    passing.let_go(
        r, rows, std::int64_t{n} * 2, [&](std::int64_t row_read) { return g_in + row_read * pitch; },
        Threads::index(), kThreads);
  }
}

template <int kThreads>
Status launch_sums(StreamRef stream, bool is_whole, const std::uint16_t* g_in, std::int64_t rows, int n,
                   std::int64_t pitch, std::int64_t window, std::uint16_t* g_out) {
  constexpr int kBlock = kThreads > kWarpSize ? kThreads : 64;
  const auto blocks = static_cast<unsigned>((rows * kThreads + kBlock - 1) / kBlock);
  const auto kernel = is_whole ? add_sums_kernel<kThreads, true> : add_sums_kernel<kThreads, false>;
  return launch(kernel, {.grid = dim3(blocks), .block = dim3(kBlock), .stream = stream}, g_in, rows, n, pitch,
                window, g_out);
}

__global__ void add_by_parts_kernel(const std::uint16_t* g_in, int n, int part, std::uint16_t sum,
                                    std::uint16_t* g_out) {
  RegisterRow<std::uint16_t, RowThreads<kWarpSize>, 2> row;
  row.load(g_in, n, kFiller, static_cast<int>(blockIdx.x) * part, part);
  row.store(g_out, AddTo{sum});
}

template <class Function>
__global__ void each_kernel(Function function, const float* g_x, int n, float* g_y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) g_y[i] = function(g_x[i]);
}
struct Exp2 {
  __device__ float operator()(float x) const { return fast_exp2(x); }
};
struct Reciprocal {
  __device__ float operator()(float x) const { return fast_reciprocal(x); }
};
struct Tanh {
  __device__ float operator()(float x) const { return fast_tanh(x); }
};
template <class Function>
Status run_each(StreamRef stream, const float* g_x, int n, float* g_y) {
  return launch(each_kernel<Function>,
                {.grid = dim3(static_cast<unsigned>((n + 127) / 128)), .block = dim3(128), .stream = stream},
                Function(), g_x, n, g_y);
}

}  // namespace

Status run_add_sums(StreamRef stream, int threads, bool is_whole, const std::uint16_t* g_in,
                    std::int64_t rows, int n, std::int64_t pitch, std::int64_t window, std::uint16_t* g_out) {
  switch (threads) {
    case 1:
      return launch_sums<1>(stream, is_whole, g_in, rows, n, pitch, window, g_out);
    case 8:
      return launch_sums<8>(stream, is_whole, g_in, rows, n, pitch, window, g_out);
    case 32:
      return launch_sums<32>(stream, is_whole, g_in, rows, n, pitch, window, g_out);
    case 64:
      return launch_sums<64>(stream, is_whole, g_in, rows, n, pitch, window, g_out);
    default:
      return launch_sums<96>(stream, is_whole, g_in, rows, n, pitch, window, g_out);
  }
}

Status run_add_by_parts(StreamRef stream, const std::uint16_t* g_in, int n, int part, std::uint16_t sum,
                        std::uint16_t* g_out) {
  return launch(add_by_parts_kernel, {.grid = dim3(2), .block = dim3(kWarpSize), .stream = stream}, g_in, n,
                part, sum, g_out);
}

Status run_exp2(StreamRef stream, const float* g_x, int n, float* g_y) {
  return run_each<Exp2>(stream, g_x, n, g_y);
}
Status run_reciprocal(StreamRef stream, const float* g_x, int n, float* g_y) {
  return run_each<Reciprocal>(stream, g_x, n, g_y);
}
Status run_tanh(StreamRef stream, const float* g_x, int n, float* g_y) {
  return run_each<Tanh>(stream, g_x, n, g_y);
}

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
