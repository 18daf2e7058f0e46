// Bytes are counted by value.
//
// Idea       a byte has 256 values: they are counted as they are, in a column of counters for every lane, and a block adds up
//            the values of a bin when it is done.
// Change     an element costs three instructions: its place is cut out of a word, and there is no bin to compute.
// Limits     elements of 8 bits, any bins. No weights.
// Bottleneck the additions, of which a multiprocessor does 16 in a cycle; DRAM is as long with as many bytes.
#include "rooftile/ops/histogram/rungs/histogram_device.h"

namespace rooftile::ROOFTILE_TARGET::histogram_rungs {
namespace {

constexpr int kThreads = histogram_plan::kColumnBlock;
constexpr int kVectors = histogram_plan::kByteVectors;
constexpr int kValues = histogram_plan::kByteValues;

__global__ void __launch_bounds__(kThreads)
    byte_values_kernel(Elements<std::uint8_t> elements, Totals<std::uint32_t> totals) {
  ROOFTILE_DYN_SHARED(uint4, s_memory);
  auto* s_counts = reinterpret_cast<std::uint32_t*>(s_memory);
  const int thread = static_cast<int>(threadIdx.x);
  const auto lane = static_cast<std::uint32_t>(lane_index());
  for (int i = thread; i < kValues * kWarpSize; i += kThreads) s_counts[i] = 0;
  __syncthreads();  // zeros

  const auto add = [&](std::uint32_t value) { atomicAdd(&s_counts[value * kWarpSize | lane], 1u); };
  for_part<kThreads, kVectors>(
      CoveringVectors<std::uint8_t>::of(elements.g_in, elements.n), blockIdx.x, gridDim.x,
      [&](const Vec<std::uint8_t, kVecBytes>& vec) {
        std::uint32_t words[kVecBytes / sizeof(std::uint32_t)];
        memcpy(words, &vec, sizeof(vec));
#pragma unroll
        for (const std::uint32_t word : words) {
#pragma unroll
          for (int shift = 0; shift < 32; shift += 8) add(word >> shift & 0xffu);
        }
      },
      add);
  __syncthreads();  // the part is counted
  for (int value = thread; value < kValues; value += kThreads) {
    std::uint32_t sum = 0;
    // Neighbours begin at other columns: at one time they read other banks.
    for (int c = 0; c < kWarpSize; ++c) sum += s_counts[value * kWarpSize + (c + value) % kWarpSize];
    const int bin = elements.bin_of(static_cast<std::uint8_t>(value));
    if (bin != kNoBin) totals.add(bin, sum);
  }
  totals.finish<kThreads>(0, gridDim.x, 0, totals.bins);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<HistogramArgs>& call) {
  const auto& cut = call.config<histogram_plan::Cut>();
  return launch(byte_values_kernel,
                {.grid = dim3(static_cast<unsigned>(cut.parts)),
                 .block = dim3(kThreads),
                 .shared_bytes = kValues * kWarpSize * sizeof(std::uint32_t),
                 .stream = call.stream},
                elements_of<std::uint8_t>(call.args), Totals<std::uint32_t>::of(call));
}

}  // namespace rooftile::ROOFTILE_TARGET::histogram_rungs
