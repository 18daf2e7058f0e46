// Attention by warps, and the suppression of boxes that overlap better ones.
#include "rooftile/device/target.h"

#include <cmath>

#include "tests/checked/corpus/run_kernel.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
// Queries, keys and values behind one another, 32 rows of 32 each.
constexpr unsigned kRows = 32;
constexpr unsigned kDepth = 32;
constexpr unsigned kMatrix = kRows * kDepth;
constexpr unsigned kWarpsPerBlock = 4;
constexpr float kScale = 0.125f;

__host__ __device__ inline float entry(float value) {
  return static_cast<float>((static_cast<int>(value) * 29) % 7 - 3);
}

// A query row per warp, a key per lane, then an output column per lane.
template <bool kSynchronises, bool kAccumulatesInPlace>
__global__ void attention_kernel(const float* __restrict__ g_in, float* __restrict__ g_out) {
  __shared__ float s_query[kWarpsPerBlock][kDepth];
  __shared__ float s_weight[kWarpsPerBlock][kRows];
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  const unsigned row = blockIdx.x * kWarpsPerBlock + warp;
  s_query[warp][lane] = entry(g_in[row * kDepth + lane]);
  __syncthreads();
  float score = 0.0f;
  for (unsigned d = 0; d < kDepth; ++d) {
    score += s_query[warp][d] * entry(g_in[kMatrix + lane * kDepth + d]);
  }
  score *= kScale;
  float maximum = score;
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    maximum = fmaxf(maximum, __shfl_xor_sync(kAllLanes, maximum, offset));
  }
  const float weight = exp2f(score - maximum);
  float sum = weight;
  for (int offset = kWarp / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(kAllLanes, sum, offset);
  s_weight[warp][lane] = weight / sum;
  if constexpr (kSynchronises) __syncwarp();
  if constexpr (kAccumulatesInPlace) {
    for (unsigned k = 0; k < kRows; ++k) {
      const float value = entry(g_in[2 * kMatrix + k * kDepth + lane]);
      g_out[row * kDepth + lane] += s_weight[warp][k] * value;  // BUG attention_accumulates
    }
  } else {
    float result = 0.0f;
    for (unsigned k = 0; k < kRows; ++k) {
      const float value = entry(g_in[2 * kMatrix + k * kDepth + lane]);
      result += s_weight[warp][k] * value;  // BUG attention_without_syncwarp
    }
    g_out[row * kDepth + lane] = result;
  }
}

void attention(const float* in, float* out) {
  std::fill(out, out + kElements, -1.0f);
  for (unsigned row = 0; row < kRows; ++row) {
    double scores[kRows];
    double maximum = -1e30;
    for (unsigned k = 0; k < kRows; ++k) {
      scores[k] = 0.0;
      for (unsigned d = 0; d < kDepth; ++d) {
        scores[k] += kScale * entry(in[row * kDepth + d]) * entry(in[kMatrix + k * kDepth + d]);
      }
      maximum = std::fmax(maximum, scores[k]);
    }
    double sum = 0.0;
    for (const double score : scores) sum += std::exp2(score - maximum);
    for (unsigned d = 0; d < kDepth; ++d) {
      double result = 0.0;
      for (unsigned k = 0; k < kRows; ++k) {
        result += std::exp2(scores[k] - maximum) / sum * entry(in[2 * kMatrix + k * kDepth + d]);
      }
      out[row * kDepth + d] = static_cast<float>(result);
    }
  }
}

// Boxes of a line, best first: who overlaps a better box that is kept is not.
constexpr unsigned kBoxes = 128;
constexpr float kWidth = 12.0f;

__host__ __device__ inline float left_edge(float value) {
  return static_cast<float>((static_cast<int>(value) * 397) % 1009);
}

enum class Suppression { right, without_barrier, flags_left_out };

template <Suppression kForm>
__global__ void suppression_kernel(const float* g_in, float* g_out) {
  __shared__ float s_left[kBoxes];
  __shared__ bool s_keep[kBoxes];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * kBoxes + t;
  s_left[t] = left_edge(g_in[i]);
  if constexpr (kForm == Suppression::flags_left_out) {
    if (t % 2 == 0) s_keep[t] = true;
  } else {
    s_keep[t] = true;
  }
  __syncthreads();
  for (unsigned better = 0; better + 1 < kBoxes; ++better) {
    if constexpr (kForm == Suppression::without_barrier) {
      if (t > better && s_keep[better] && fabsf(s_left[t] - s_left[better]) < kWidth) {
        s_keep[t] = false;  // BUG suppression_without_barrier
      }
    } else {
      const bool kept = s_keep[better];  // BUG suppression_flags_left_out
      if (t > better && kept && fabsf(s_left[t] - s_left[better]) < kWidth) s_keep[t] = false;
      __syncthreads();  // the next flag is final
    }
  }
  g_out[i] = s_keep[t] ? 1.0f : 0.0f;
}

void suppression(const float* in, float* out) {
  for (unsigned i = 0; i < kElements; ++i) {
    out[i] = 1.0f;
    for (unsigned better = i - i % kBoxes; better < i; ++better) {
      if (out[better] == 1.0f && std::fabs(left_edge(in[i]) - left_edge(in[better])) < kWidth) out[i] = 0.0f;
    }
  }
}

constexpr unsigned kAttentionGrid = kRows / kWarpsPerBlock;
constexpr unsigned kAttentionBlock = kWarpsPerBlock * kWarp;

template <bool kSynchronises, bool kAccumulatesInPlace>
constexpr auto kRunAttention =
    run<kAttentionGrid, kAttentionBlock, attention_kernel<kSynchronises, kAccumulatesInPlace>>;
template <Suppression kForm>
constexpr auto kRunSuppression = run<kElements / kBoxes, kBoxes, suppression_kernel<kForm>>;

const Kernel kKernels[] = {
    {.name = "attention", .run = kRunAttention<true, false>, .expected = attention, .tolerance = 1e-5f},
    {"attention_without_syncwarp", kRunAttention<false, false>, nullptr, "race"},
    {"attention_accumulates", kRunAttention<true, true>, nullptr, "uninitialised"},
    {"suppression", kRunSuppression<Suppression::right>, suppression},
    {"suppression_without_barrier", kRunSuppression<Suppression::without_barrier>, nullptr, "race"},
    {"suppression_flags_left_out", kRunSuppression<Suppression::flags_left_out>, nullptr, "uninitialised"},
};

}  // namespace

std::span<const Kernel> attention_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
