// Rows cut over all blocks of the grid: each has a part of every row, and the parts' statistics meet in global memory.
//
// A group of a block's warps has its part of a row in registers. What it found of it is published as one word, and it waits for
// the words of all blocks: groups of one block do not wait for each other, so that one row is stored while others still come.
#pragma once

#include "rooftile/device/published.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/families/norm/rungs/register_rows.h"

namespace rooftile::ROOFTILE_TARGET::norm {

// What of a part's statistics is published, as one word; how many elements a part has everybody knows. Squares are not negative:
// with their sign bit set the word is not 0, which stands for nothing yet.
inline constexpr std::uint32_t kIsThere = 0x80000000u;
__device__ __forceinline__ std::uint64_t word_of(float mean, float squares) {
  return std::uint64_t{__float_as_uint(mean)} << 32 | (__float_as_uint(squares) | kIsThere);
}
__device__ __forceinline__ std::uint64_t word_of(const Centred::Stats& stats) {
  return word_of(stats.mean, stats.squares);
}
__device__ __forceinline__ std::uint64_t word_of(const Uncentred::Stats& stats) {
  return word_of(0, stats.squares);
}
template <class Norm>
__device__ __forceinline__ typename Norm::Stats stats_in(std::uint64_t word, float count) {
  const float squares = __uint_as_float(static_cast<std::uint32_t>(word) & ~kIsThere);
  if constexpr (Norm::kHasMean)
    return {count, __uint_as_float(static_cast<std::uint32_t>(word >> 32)), squares, 0};
  if constexpr (!Norm::kHasMean) return {squares};
}

// Of the parts of a warp's lanes, kOwn for each, in every lane. Means are summed up as what they are off the first. Of nothing there is
// no mean to be off.
template <int kOwn>
__device__ __forceinline__ Centred::Stats of_parts(const Centred::Stats (&own)[kOwn]) {
  constexpr std::integral_constant<int, kWarpSize> kWarp;
  const float first = __shfl_sync(kFullMask, own[0].mean, 0);
  float count = 0;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kOwn; ++k) {
    count += own[k].count;
    sum = own[k].count > 0 ? fmaf(own[k].mean - first, own[k].count, sum) : sum;
  }
  count = lanes_sum(kWarp, count);
  const float mean = first + lanes_sum(kWarp, sum) / count;
  float squares = 0;
#pragma unroll
  for (int k = 0; k < kOwn; ++k) {
    const float off = own[k].count > 0 ? own[k].mean - mean : 0.0f;
    squares += fmaf(off * off, own[k].count, own[k].squares);
  }
  return {count, mean, lanes_sum(kWarp, squares), 0};
}
template <int kOwn>
__device__ __forceinline__ Uncentred::Stats of_parts(const Uncentred::Stats (&own)[kOwn]) {
  float squares = 0;
#pragma unroll
  for (int k = 0; k < kOwn; ++k) squares += own[k].squares;
  return {lanes_sum(std::integral_constant<int, kWarpSize>{}, squares)};
}

// Where the blocks' parts of each row meet: a word for each block and take of the statistics, and how many warps have read them.
struct Meeting {
  std::uint64_t* g_words;    // [rows][kTakes][an even number for all blocks]
  std::uint32_t* g_readers;  // [rows]

  [[nodiscard]] __device__ __forceinline__ std::uint64_t* words(std::int64_t row, int take) const {
    return g_words + (row * norm_plan::kTakes + take) * static_cast<std::int64_t>((gridDim.x + 1) / 2 * 2);
  }
  // From memory to L2, in front of the row: what this block will write, and others look at.
  __device__ __forceinline__ void prefetch(std::int64_t row) const {
    bulk_prefetch(words(row, 0) + blockIdx.x / 2 * 2, kVecBytes);
  }
  __device__ __forceinline__ void publish(std::int64_t row, int take, std::uint64_t word) const {
    published_words::store_relaxed(words(row, take) + blockIdx.x, word);
  }

  // By a full warp: what all blocks' words of the row say together, in every lane. elements(b): how many block b has of the row.
  template <class Norm, class Elements>
  __device__ __forceinline__ typename Norm::Stats read_all(std::int64_t row, int take,
                                                           Elements elements) const {
    constexpr int kPairs = norm_plan::kMostGridBlocks / 2 / kWarpSize;
    const int blocks = static_cast<int>(gridDim.x);
    const std::uint64_t* g_first = words(row, take);
    std::uint64_t read[kPairs][2] = {};
    const auto is_missing = [&](int pair) {
      const int b = (lane_index() + pair * kWarpSize) * 2;
      return (b < blocks && read[pair][0] == 0) || (b + 1 < blocks && read[pair][1] == 0);
    };
    for (;;) {
      bool waits = false;
#pragma unroll
      for (int pair = 0; pair < kPairs; ++pair)
        if (is_missing(pair))
          published_words::load_two_relaxed(g_first + (lane_index() + pair * kWarpSize) * 2, read[pair]);
#pragma unroll
      for (int pair = 0; pair < kPairs; ++pair) waits = waits || is_missing(pair);
      if (__any_sync(kFullMask, waits) == 0) break;  // the warp stays together
      spin_hint();
    }
    typename Norm::Stats parts[kPairs * 2];
#pragma unroll
    for (int i = 0; i < kPairs * 2; ++i) {
      const int b = (lane_index() + i / 2 * kWarpSize) * 2 + i % 2;
      parts[i] = stats_in<Norm>(read[i / 2][i % 2], b < blocks ? static_cast<float>(elements(b)) : 0.0f);
    }
    return of_parts(parts);
  }

  // By a warp, behind its last read_all of the row: how many warps were there before it. Who has read a word does not read it again,
  // and who has not is not counted: no fence is needed.
  __device__ __forceinline__ std::uint32_t count_reader(std::int64_t row, std::uint32_t warps) const {
    std::uint32_t before = 0;
    if (lane_index() == 0) before = atomicInc(g_readers + row, warps - 1);
    return before;
  }
  // The last of them leaves the words as they were before the launch.
  __device__ __forceinline__ void clear_if_last(std::int64_t row, std::uint32_t before, std::uint32_t warps,
                                                int takes) const {
    if (__shfl_sync(kFullMask, before, 0) != warps - 1) return;
    for (int take = 0; take < takes; ++take)
      for (int b = lane_index(); b < static_cast<int>(gridDim.x); b += kWarpSize)
        published_words::store_relaxed(words(row, take) + b, 0);
  }
};

// Warps of a group that meet in shared memory before one of them publishes.
template <class Stats, int kWarps>
struct GroupFound {
  Mbarrier there;
  Stats values[2][kWarps];  // by turns
};

// What a kernel needs before its first load stands in front.
template <class T>
struct GridOperands {
  const T* g_x;
  std::int64_t x_pitch;
  int rows;
  int length;
  int part;  // vectors of a row that a block has
  Meeting meeting;
  const T* g_weight;  // null: ones
  const T* g_bias;    // null: zeros
  T* g_y;
  std::int64_t y_pitch;
  float eps;
};

template <class Norm, class T, int kThreads, int kVectors>
__global__ void __launch_bounds__(norm_plan::kGridThreads, 1) grid_rows_kernel(GridOperands<T> call) {
  using Stats = typename Norm::Stats;
  using Threads = RowThreads<kThreads>;
  using Row = RegisterRow<T, Threads, kVectors, true>;
  constexpr int kGroups = norm_plan::kGridThreads / kThreads;
  constexpr std::integral_constant<int, kWarpSize> kWarp;
  __shared__ Mbarrier s_row_there[kGroups];
  __shared__ Mbarrier s_beside_there;
  __shared__ GroupFound<Stats, Threads::kWarps> s_groups[kGroups];
  ROOFTILE_DYN_SHARED(uint4, s_vectors);  // a part of weight, of bias, of a row for each group
  const int part = call.part;
  const int first_vector = static_cast<int>(blockIdx.x) * part;
  const auto elements = [&](int block) {
    const int begin = block * part * Row::kElements;
    return call.length - begin < part * Row::kElements ? call.length - begin : part * Row::kElements;
  };
  const int group = Threads::row();
  const auto slot = [&](int g) { return s_vectors + (2 + g) * part; };
  const auto own_bytes = [&] {
    return static_cast<std::uint32_t>(elements(static_cast<int>(blockIdx.x)) * static_cast<int>(sizeof(T)));
  };
  const auto place = [&](const T* g_values) { return g_values + first_vector * Row::kElements; };
  const auto ask_for = [&](int r) {
    Mbarrier* s_there = s_row_there + r % kGroups;
    mbarrier_arrive_expect_tx(s_there, own_bytes());
    bulk_load(slot(r % kGroups), place(call.g_x + r * call.x_pitch), own_bytes(), s_there);
  };
  if (Threads::index() == 0) {
    mbarrier_init(s_row_there + group, 1);
    mbarrier_init(&s_groups[group].there, Threads::kWarps);
    if (group == 0) mbarrier_init(&s_beside_there, 1);
    fence_mbarrier_init();
    if (group < call.rows) {
      ask_for(group);
      call.meeting.prefetch(group);
    }
  }
  __syncthreads();  // the barriers are ready
  if (threadIdx.x == norm_plan::kGridThreads - 1) {
    const bool has_bias = Norm::kHasMean && call.g_bias != nullptr;
    mbarrier_arrive_expect_tx(&s_beside_there,
                              (call.g_weight != nullptr ? own_bytes() : 0) + (has_bias ? own_bytes() : 0));
    if (call.g_weight != nullptr) bulk_load(s_vectors, place(call.g_weight), own_bytes(), &s_beside_there);
    if (has_bias) bulk_load(s_vectors + part, place(call.g_bias), own_bytes(), &s_beside_there);
  }

  std::uint32_t turn = 0;
  std::uint32_t round = 0;
  for (int r = group; r < call.rows; r += kGroups, ++round) {
    mbarrier_wait(s_row_there + group, round % 2);
    Row row;
    row.load(reinterpret_cast<const T*>(slot(group)) - first_vector * Row::kElements, call.length, T{},
             first_vector, part);
    __syncwarp();  // all lanes have taken the row: another one may come to its place
    int takes = 0;
    const Results results = results_of<Norm>(call.length, call.eps, [&](float scale) {
      Stats own = Norm::over_lanes(kWarp, stats_of<Norm>(row, scale));
      if constexpr (Threads::kWarps > 1) {
        auto& s_group = s_groups[group];
        auto& s_values = s_group.values[turn % 2];
        if (lane_index() == 0) {
          s_values[Threads::index() / kWarpSize] = own;
          mbarrier_arrive(&s_group.there);
        }
        mbarrier_wait(&s_group.there, turn % 2);
        ++turn;
        own = Norm::over_lanes(std::integral_constant<int, Threads::kWarps>{},
                               s_values[lane_index() % Threads::kWarps]);
      }
      if (Threads::index() == 0) call.meeting.publish(r, takes, word_of(own));
      return call.meeting.template read_all<Norm>(r, takes++, elements);
    });
    const std::uint32_t warps = gridDim.x * Threads::kWarps;
    const std::uint32_t before = call.meeting.count_reader(r, warps);
    if (r + kGroups < call.rows && Threads::index() == 0) ask_for(r + kGroups);
    if (round == 0) mbarrier_wait(&s_beside_there, 0);
    row.store_by_place(call.g_y + r * call.y_pitch, [&](int v) {
      auto made = normalised(row.vector(v), results);
      const int at = row.first(v) / Row::kElements - first_vector;
      weigh<Norm, T>(made, beside_or<T>(call.g_weight, 1.0f, [&](auto) { return s_vectors + at; }),
                     beside_or<T>(Norm::kHasMean ? call.g_bias : nullptr, 0.0f,
                                  [&](auto) { return s_vectors + part + at; }));
      return rounded_each<T>(made);
    });
    call.meeting.clear_if_last(r, before, warps, takes);
  }
}

template <class Norm, class T, std::size_t kShape = 0, class Args>
Status launch_grid_shape(const Call<Args>& call) {
  constexpr RowShape kOf = norm_plan::kGridShapes[kShape];
  const Cut& cut = call.template config<Cut>();
  if (cut.shape == static_cast<int>(kShape)) {
    if (cut.rows.is_empty()) return {};
    auto* words = static_cast<std::uint64_t*>(call.workspace.zeroed);
    const Operands<T> all = operands_of<T>(call);
    return launch(
        grid_rows_kernel<Norm, T, kOf.threads, kOf.vectors>,
        {.grid = dim3(static_cast<unsigned>(cut.grid.blocks)),
         .block = dim3(norm_plan::kGridThreads),
         .shared_bytes = static_cast<std::size_t>(cut.grid.shared_bytes),
         .stream = call.stream,
         .cooperative = true},
        GridOperands<T>{
            .g_x = all.g_x,
            .x_pitch = all.x_pitch,
            .rows = static_cast<int>(all.rows),
            .length = static_cast<int>(all.row_length),
            .part = cut.grid.part,
            .meeting = {words, reinterpret_cast<std::uint32_t*>(words + norm_plan::grid_words(cut))},
            .g_weight = all.g_weight,
            .g_bias = all.g_bias,
            .g_y = all.g_y,
            .y_pitch = all.y_pitch,
            .eps = all.eps});
  }
  if constexpr (kShape + 1 < norm_plan::kGridShapes.size())
    return launch_grid_shape<Norm, T, kShape + 1>(call);
  return unsupported("a longer part of a row than a block's registers have room for");
}

template <class Norm, class Args>
Status launch_grid_rows(const Call<Args>& call) {
  return dispatch_floats<DTypes<float, __half>>(call.args,
                                                [&]<class T>() { return launch_grid_shape<Norm, T>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
