#include "tests/device/blocks/split_row_kernels.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/split_row.h"
#include "tests/device/word_sums.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

struct Taken {
  std::uint32_t total;
  std::uint32_t more;  // to be added to each word, and taken once more; 0: no
};

template <int kVectors, int kRows, bool kWhole>
__global__ void __launch_bounds__(kSplitThreads, kSplitResident)
    split_sums_kernel(SplitRowsOf<std::uint32_t, kSplitTakes> call, int first_row, std::int64_t pitch,
                      std::uint32_t* g_out) {
  using Split = SplitRow<std::uint32_t, kVectors, kRows, kWhole, WordSums<kSplitTakes>, Taken>;
  __shared__ typename Split::Shared s_split;
  __shared__ std::uint32_t s_meanwhile[kSplitThreads];
  Split split(call, s_split);
  typename Split::Row row;
  split.load(row);
  const int r = first_row + static_cast<int>(blockIdx.x) / call.meeting.blocks * kRows +
                static_cast<int>(threadIdx.x) / (kSplitThreads / kRows);
  const auto take = [&](std::uint32_t more) {
    std::uint32_t sum = 0;
    row.for_each([&](const auto& vec, int first) {
#pragma unroll
      for (int e = 0; e < Split::Row::kElements; ++e) sum += vec[e] + (row.has(first + e) ? more : 0);
    });
    const auto conclude = [&](std::uint32_t total) {
      return Taken{total, more == 0 && r % 3 == 1 ? 1u : 0u};
    };
    return split.meet(sum, conclude, [&] { s_meanwhile[threadIdx.x] = threadIdx.x + more; });
  };
  Taken taken = take(0);
  taken.total += s_meanwhile[kSplitThreads - 1 - threadIdx.x] - (kSplitThreads - 1 - threadIdx.x);
  // Rows that share their blocks meet together.
  if (split.any([](const Taken& of_row) { return of_row.more != 0; })) taken = take(taken.more);
  split.leave([&](std::int64_t stored) {
    row.store(g_out + stored * pitch, [&](auto vec, int) {
#pragma unroll
      for (int e = 0; e < Split::Row::kElements; ++e) vec[e] += taken.total;
      return vec;
    });
  });
}

}  // namespace

Status run_split_sums(StreamRef stream, bool is_whole, const std::uint32_t* g_in, int rows, int n,
                      std::int64_t pitch, const SplitCut& cut, void* zeroed, std::uint32_t* g_out) {
  return with_split_shape<kSplitTestShapes>(cut.shape, [&]<int kVectors, int kRows>() {
    const auto kernel =
        is_whole ? split_sums_kernel<kVectors, kRows, true> : split_sums_kernel<kVectors, kRows, false>;
    return split_launches(
        cut, kRows, rows, stream, [&](const LaunchConfig& config, std::int64_t first, int now) {
          const SplitRowsOf<std::uint32_t, kSplitTakes> call{
              .g_x = g_in + first * pitch,
              .x_pitch = pitch,
              .rows = now,
              .length = n,
              .part = cut.part,
              .meeting = RowMeeting<kSplitTakes>::of(zeroed, now, cut.blocks)};
          return launch(kernel, config, call, static_cast<int>(first), pitch, g_out + first * pitch);
        });
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
