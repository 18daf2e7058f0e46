// The GPU side of the operators of kinds.h: the simplest kernels that do it.
#include "rooftile/device/target.h"

#include <cstdint>

#include "rooftile/core/philox.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "tests/lab/kinds/kinds.h"

namespace rooftile::ROOFTILE_TARGET::kinds {
namespace {

using namespace lab::test;

constexpr int kBlock = 128;

LaunchConfig grid_for(StreamRef stream, std::int64_t items) {
  return {.grid = dim3(static_cast<unsigned>((items + kBlock - 1) / kBlock)),
          .block = dim3(kBlock),
          .stream = stream};
}
LaunchConfig one_block(StreamRef stream) {
  return {.grid = dim3(1), .block = dim3(kBlock), .stream = stream};
}
__device__ std::int64_t global_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
template <class T>
const T* in(const ConstTensorView& view) {
  return static_cast<const T*>(view.data);
}
template <class T>
T* out(const TensorView& view) {
  return static_cast<T*>(view.data);
}

__global__ void update_kernel(UpdateBug bug, float* g_table, std::int64_t rows, const std::int32_t* g_index,
                              const float* g_value, std::int64_t n, std::uint32_t* g_error) {
  const std::int64_t i = global_thread();
  if (i >= n) return;
  std::int64_t row = g_index[i];
  if (row < 0 || row >= rows) {
    if (bug == UpdateBug::clamps) {
      row = row < 0 ? 0 : rows - 1;
    } else {
      if (bug != UpdateBug::silent) atomicExch(g_error, 1u);
      return;
    }
  }
  if (bug == UpdateBug::overwrites)
    g_table[row] = g_value[i];
  else
    atomicAdd(&g_table[row], g_value[i]);
}

__global__ void select_kernel(SelectBug bug, const std::int32_t* g_x, std::int64_t n, std::int32_t limit,
                              std::int32_t* g_y, std::int64_t* g_count) {
  __shared__ unsigned s_count;
  if (threadIdx.x == 0) s_count = 0;
  __syncthreads();
  const std::int64_t last = bug == SelectBug::drops_last ? n - 1 : n;
  for (std::int64_t i = threadIdx.x; i < last; i += kBlock) {
    if (g_x[i] < limit || (bug == SelectBug::takes_equal && g_x[i] == limit))
      g_y[atomicAdd(&s_count, 1u)] = g_x[i];
  }
  __syncthreads();
  if (threadIdx.x == 0) *g_count = bug == SelectBug::counts_twice ? 2 * s_count : s_count;
}

// NaNs are the last.
__device__ bool precedes(float a, float b) { return a < b || (a == a && b != b); }

__global__ void sort_kernel(SortBug bug, const float* g_keys, const std::int32_t* g_values, std::int64_t n,
                            float* g_sorted_keys, std::int32_t* g_sorted_values) {
  const std::int64_t i = global_thread();
  if (i >= n) return;
  std::int64_t rank = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const bool equal = !precedes(g_keys[j], g_keys[i]) && !precedes(g_keys[i], g_keys[j]);
    const bool ahead = bug == SortBug::unstable ? j > i : j < i;
    const bool less = bug == SortBug::loses_nan ? g_keys[j] < g_keys[i] : precedes(g_keys[j], g_keys[i]);
    rank += less || (equal && ahead) ? 1 : 0;
  }
  g_sorted_keys[rank] = g_keys[i];
  g_sorted_values[rank] = g_values[bug == SortBug::forgets_values ? rank : i];
}

__global__ void top_kernel(TopBug bug, const float* g_x, std::int64_t rows, std::int64_t n, std::int64_t k,
                           float* g_y, std::int64_t* g_index) {
  const std::int64_t row = global_thread();
  if (row >= rows) return;
  const float* const x = g_x + row * n;
  for (std::int64_t place = 0; place < k; ++place) {
    std::int64_t best = -1;
    for (std::int64_t i = 0; i < n; ++i) {
      bool taken = false;
      for (std::int64_t p = 0; p < place; ++p) {
        // With ties a value that was there before says nothing.
        if (bug != TopBug::takes_twice || g_y[row * k + p] != x[i])
          taken = taken || g_index[row * k + p] == i;
      }
      if (!taken && (best < 0 || precedes(x[best], x[i]))) best = i;
    }
    g_y[row * k + place] = x[best];
    g_index[row * k + place] = bug == TopBug::wrong_index && place > 0 ? best + 1 : best;
  }
}

__global__ void dropout_kernel(DropoutBug bug, const float* g_x, std::int64_t n, float p,
                               const std::uint64_t* g_state, float* g_y) {
  const std::int64_t i = global_thread();
  if (i >= n) return;
  const auto word = static_cast<std::uint64_t>(bug == DropoutBug::depends_on_grid ? threadIdx.x : i);
  const PhiloxCounter words = philox4x32_10(philox_counter(g_state[1] + word, 0), philox_key(g_state[0]));
  const float share = bug == DropoutBug::other_share ? p * 0.75f : p;
  g_y[i] = philox_unit_float(words.x) < share ? 0.0f : g_x[i] * (1.0f / (1.0f - p));
}
// After all blocks have read it.
__global__ void advance_kernel(std::int64_t n, std::uint64_t* g_state) {
  g_state[1] += static_cast<std::uint64_t>(n);
}

__global__ void ragged_kernel(RaggedBug bug, const float* g_x, std::int64_t stride,
                              const std::int32_t* g_offsets, const float* g_scale, std::int64_t rows,
                              float* g_y) {
  const std::int64_t row = global_thread();
  if (row >= rows) return;
  const std::int32_t first = g_offsets[row];
  const std::int32_t last = g_offsets[row + 1] - (bug == RaggedBug::forgets_last ? 1 : 0);
  if (bug == RaggedBug::leaves_empty && first == last) return;
  float sum = 0;
  for (std::int32_t i = first; i < last; ++i) sum += g_x[bug == RaggedBug::reads_gap ? i : i * stride];
  g_y[row] = g_scale != nullptr ? sum * g_scale[row] : sum;
}

__global__ void product_kernel(ProductBug bug, const float* g_a, const float* g_b, float* g_c, std::int64_t m,
                               std::int64_t n, std::int64_t k) {
  const std::int64_t at = global_thread();
  if (at >= m * n) return;
  const std::int64_t row = at / n;
  const std::int64_t column = at % n;
  const std::int64_t last = bug == ProductBug::forgets_last ? k - 1 : k;
  float sum = 0;
  for (std::int64_t i = 0; i < last; ++i) sum += g_a[row * k + i] * g_b[i * n + column];
  if (bug == ProductBug::one_wrong_tile && row / 16 == m / 48 && column / 16 == n / 48) sum = 0;
  if (bug == ProductBug::nan_in_corner && at == m * n - 1) sum = __int_as_float(0x7FC00000);
  g_c[at] = sum;
}

__global__ void backward_kernel(BackwardBug bug, const float* g_x, std::int64_t n, float* g_dx) {
  __shared__ float s_sums[kBlock];
  float sum = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += kBlock) sum += expf(g_x[i]);
  s_sums[threadIdx.x] = sum;
  __syncthreads();
  float all = 0;
  for (int i = 0; i < kBlock; ++i) all += s_sums[i];
  if (bug == BackwardBug::not_normalised) all = static_cast<float>(n);
  const float sign = bug == BackwardBug::wrong_sign ? -1.0f : 1.0f;
  for (std::int64_t i = threadIdx.x; i < n; i += kBlock) g_dx[i] = sign * expf(g_x[i]) / all;
}

__global__ void quantise_kernel(QuantiseBug bug, const float* g_x, std::int64_t n, float* g_scale,
                                std::int8_t* g_q) {
  __shared__ float s_largest[kBlock];
  float largest = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += kBlock) largest = fmaxf(largest, fabsf(g_x[i]));
  s_largest[threadIdx.x] = largest;
  __syncthreads();
  for (int i = 0; i < kBlock; ++i) largest = fmaxf(largest, s_largest[i]);
  const float scale =
      (bug == QuantiseBug::too_coarse ? 2.0f : 1.0f) * (largest > 0 ? largest / 127.0f : 1.0f);
  for (std::int64_t i = threadIdx.x; i < n; i += kBlock)
    g_q[i] = static_cast<std::int8_t>(rintf(g_x[i] / scale));
  if (threadIdx.x == 0) *g_scale = bug == QuantiseBug::other_scale ? 1.01f * scale : scale;
}

}  // namespace

Status update(const Call<UpdateArgs>& call, UpdateBug bug) {
  const UpdateArgs& a = call.args;
  const std::int64_t n = a.index.numel();
  return n == 0 ? Status()
                : launch(update_kernel, grid_for(call.stream, n), bug, out<float>(a.table), a.table.numel(),
                         in<std::int32_t>(a.index), in<float>(a.value), n, call.workspace.error_word);
}

Status select(const Call<SelectArgs>& call, SelectBug bug) {
  const SelectArgs& a = call.args;
  return launch(select_kernel, one_block(call.stream), bug, in<std::int32_t>(a.x), a.x.numel(),
                static_cast<std::int32_t>(a.limit), out<std::int32_t>(a.y), out<std::int64_t>(a.count));
}

Status sort(const Call<SortArgs>& call, SortBug bug) {
  const SortArgs& a = call.args;
  return launch(sort_kernel, grid_for(call.stream, a.keys.numel()), bug, in<float>(a.keys),
                in<std::int32_t>(a.values), a.keys.numel(), out<float>(a.sorted_keys),
                out<std::int32_t>(a.sorted_values));
}

Status top(const Call<TopArgs>& call, TopBug bug) {
  const TopArgs& a = call.args;
  return launch(top_kernel, grid_for(call.stream, a.x.shape[0]), bug, in<float>(a.x), a.x.shape[0],
                a.x.shape[1], a.k, out<float>(a.y), out<std::int64_t>(a.index));
}

Status dropout(const Call<DropoutArgs>& call, DropoutBug bug) {
  const DropoutArgs& a = call.args;
  const std::int64_t n = a.x.numel();
  ROOFTILE_TRY(launch(dropout_kernel, grid_for(call.stream, n), bug, in<float>(a.x), n,
                      static_cast<float>(a.p), static_cast<const std::uint64_t*>(out<std::uint64_t>(a.state)),
                      out<float>(a.y)));
  if (bug == DropoutBug::frozen) return {};
  return launch(advance_kernel, LaunchConfig{.grid = dim3(1), .block = dim3(1), .stream = call.stream}, n,
                out<std::uint64_t>(a.state));
}

Status ragged(const Call<RaggedArgs>& call, RaggedBug bug) {
  const RaggedArgs& a = call.args;
  return launch(ragged_kernel, grid_for(call.stream, a.y.numel()), bug, in<float>(a.x), a.x.strides[0],
                in<std::int32_t>(a.offsets), in<float>(a.scale), a.y.numel(), out<float>(a.y));
}

Status product(const Call<ProductArgs>& call, ProductBug bug) {
  const ProductArgs& a = call.args;
  return launch(product_kernel, grid_for(call.stream, a.c.numel()), bug, in<float>(a.a), in<float>(a.b),
                out<float>(a.c), a.c.shape[0], a.c.shape[1], a.a.shape[1]);
}

Status backward(const Call<BackwardArgs>& call, BackwardBug bug) {
  return launch(backward_kernel, one_block(call.stream), bug, in<float>(call.args.x), call.args.x.numel(),
                out<float>(call.args.dx));
}

Status quantise(const Call<QuantiseArgs>& call, QuantiseBug bug) {
  const QuantiseArgs& a = call.args;
  return launch(quantise_kernel, one_block(call.stream), bug, in<float>(a.x), a.x.numel(),
                out<float>(a.scale), out<std::int8_t>(a.q));
}

}  // namespace rooftile::ROOFTILE_TARGET::kinds
