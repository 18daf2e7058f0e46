// As many threads to a row as it has aligned vectors of 16 bytes.
#pragma once

#include "rooftile/device/sm80/passing_rows.h"
#include "rooftile/families/norm/rungs/register_rows.h"

namespace rooftile::ROOFTILE_TARGET::norm {

// Rows that are more than a warp's have a block to themselves.
constexpr int block_of(int threads) { return threads <= kWarpSize ? norm_plan::kVectorizedBlock : threads; }

// Weight and bias of many vectors a thread go through shared memory, where a block has several rows.
constexpr bool shares_beside(int threads, int vectors, bool is_whole) {
  return is_whole && threads < kWarpSize && vectors > 3;
}

constexpr RowShape row_shape(std::size_t shape) {
  constexpr std::size_t kFirst = norm_plan::kRowShapes.size();
  return shape < kFirst ? norm_plan::kRowShapes[shape] : norm_plan::kWholeShapes[shape - kFirst];
}
inline constexpr std::size_t kShapes = norm_plan::kRowShapes.size() + norm_plan::kWholeShapes.size();

template <class Norm, bool kResidual, class T, int kThreads, int kVectors, bool kWhole>
__global__ void __launch_bounds__(block_of(kThreads),
                                  resident_threads(kResidual, kVectors) / block_of(kThreads))
    vectorized_rows_kernel(Operands<T> call) {
  using Threads = RowThreads<kThreads>;
  using Stats = typename Norm::Stats;
  constexpr int kRows = block_of(kThreads) / kThreads;
  constexpr bool kPasses = kWhole && !kResidual;
  __shared__ Stats
      s_stats[2][kRows][Threads::kWarps];  // by the first statistics, by those of scaled elements
  const std::int64_t r =
      kRows == 1 ? std::int64_t{blockIdx.x} : std::int64_t{blockIdx.x} * kRows + Threads::row();
  const bool is_row = kRows == 1 || r < call.count();
  const std::int64_t place = is_row ? r : 0;
  RegisterRow<T, Threads, kVectors, kWhole> row;
  const int length = is_row ? static_cast<int>(call.length()) : 0;
  [[maybe_unused]] const PassingRows passing(call.passing);
  if constexpr (kPasses) {
    row.load(call.x(place), length, T{}, 0, row.kCapacity, passing);
  } else {
    row.load(call.x(place), length, T{});
  }
  if constexpr (kResidual) add_residual(row, call.residual(place));
  const auto take_results = [&] {
    return call.template results<Norm>(
        [&](float scale) {
          return Threads::all_reduce(
              stats_of<Norm, T>(row, scale), Stats{}, s_stats[scale == 1.0f ? 0 : 1][Threads::row()],
              [](auto lanes, const Stats& own) { return Norm::over_lanes(lanes, own); });
        },
        [](bool mine) { return kThreads < kWarpSize ? __any_sync(kFullMask, mine) != 0 : mine; });
  };
  if constexpr (shares_beside(kThreads, kVectors, kWhole)) {
    using Beside = BesideShared<Norm, T, decltype(row), block_of(kThreads)>;
    __shared__ typename Beside::Shared s_beside;
    Beside beside(call, row, s_beside);
    store_whole(row, take_results(), beside, call.y(place));
  } else if constexpr (kWhole && BesideWhole<Norm, T, decltype(row), 0>::kHasAll) {
    BesideWhole<Norm, T, decltype(row), 0> beside(call, row);
    store_whole(row, take_results(), beside, call.y(place));
  } else if constexpr (kWhole) {
    store_beside<Norm, 0>(call, row, take_results(), call.y(place));
  } else {
    store_results(call, row, take_results(), call.y(place));
  }
  if constexpr (kPasses) {
    passing.let_go(
        r, call.count(), call.length() * std::int64_t{sizeof(T)},
        [&](std::int64_t row_read) { return call.x(row_read); }, Threads::index(), kThreads);
  }
}

template <class Norm, bool kResidual, class T, std::size_t kShape = 0, class Args>
Status launch_row_shape(const Call<Args>& call) {
  constexpr RowShape kOf = row_shape(kShape);
  constexpr int kBlock = block_of(kOf.threads);
  constexpr bool kIsWhole = kShape >= norm_plan::kRowShapes.size();  // of whole rows without a residual
  const Cut& cut = call.template config<Cut>();
  if constexpr (!kIsWhole || !kResidual) {
    if (cut.shape == static_cast<int>(kShape)) {
      auto kernel = vectorized_rows_kernel<Norm, kResidual, T, kOf.threads, kOf.vectors, true>;
      if constexpr (!kIsWhole) {
        if (!cut.is_whole)
          kernel = vectorized_rows_kernel<Norm, kResidual, T, kOf.threads, kOf.vectors, false>;
      }
      return launch_rows<T>(call, kernel, kBlock, kBlock / kOf.threads);
    }
  }
  if constexpr (kShape + 1 < kShapes) return launch_row_shape<Norm, kResidual, T, kShape + 1>(call);
  return unsupported("a longer row than registers have room for");
}

template <class Norm, class Args>
Status launch_vectorized_rows(const Call<Args>& call) {
  return dispatch_floats<DTypes<float, __half>>(call.args, [&]<class T>() {
    return is_absent(call.args.residual) ? launch_row_shape<Norm, false, T>(call)
                                         : launch_row_shape<Norm, true, T>(call);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
