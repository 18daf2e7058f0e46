// Rows that are split over blocks of their own (device/split_row_cut.h), all of them there at once: read once, each block's part in
// registers, and what the parts found meets in global memory.
//
//   using Split = SplitRow<float, 4, 2, true, Sums, float>;  // 4 vectors a thread, 2 rows a block, whole rows
//   __shared__ Split::Shared s_split;
//   Split split(call, s_split);
//   Split::Row row;
//   split.load(row);
//   const float mean = split.meet(sum of row, [&](float sum) { return sum / n; }, [] {});
//   split.leave([&](std::int64_t r) { row.store(g_out + r * pitch, ...); });
//
// The grid is launched cooperatively (split_launches): a block's threads wait for each other and for one word of every block of their row,
// which a warp of the row looks at. Rows begin and end anywhere, or, kWhole, are of whole vectors at multiples of 16 bytes; they may be
// stored where they were read. How parts become a whole, Reduction: row_meeting.h. Rows that share their blocks read what is beside all
// rows alike, such as a weight, once.
//
// Source: several blocks for a row and their meeting in global memory are as in NVIDIA Apex, contrib/csrc/layer_norm (CTAS_PER_ROW).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "rooftile/core/status.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/register_row.h"
#include "rooftile/device/row_meeting.h"
#include "rooftile/device/row_threads.h"
#include "rooftile/device/split_row_cut.h"
#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET {

// What a kernel is told of its rows.
template <class T, int kTakes>
struct SplitRowsOf {
  const T* g_x;
  std::int64_t x_pitch;
  int rows;
  int length;
  int part;  // vectors of a row that a block has
  RowMeeting<kTakes> meeting;
};

// Found: what is made of a row's Stats.
template <class T, int kVectors, int kRows, bool kWhole, class Reduction, class Found>
class SplitRow {
  using Stats = typename Reduction::Stats;
  using Threads = RowThreads<kSplitThreads / kRows>;

 public:
  using Row = RegisterRow<T, Threads, kVectors, kWhole>;
  using Call = SplitRowsOf<T, Reduction::kTakes>;

  struct Shared {
    Stats of_warps[kRows][Threads::kWarps];
    Found found[kRows];
  };
  static_assert(sizeof(Shared) <= kSplitOwnShared);

  __device__ __forceinline__ SplitRow(const Call& call, Shared& s, const Reduction& reduction = {})
      : call_(call),
        s_(s),
        reduction_(reduction),
        block_(static_cast<int>(blockIdx.x) % call.meeting.blocks),
        row_(static_cast<int>(blockIdx.x) / call.meeting.blocks * kRows + Threads::row()) {}

  // The part of this thread's row; of a row that is not there nothing.
  __device__ __forceinline__ void load(Row& row) const {
    row.load(g_row(), is_there() ? call_.length : 0, reduction_.template filler<T>(), first_vector(),
             call_.part);
    if (looks() && is_there()) call_.meeting.expect(row_);
  }
  // An element of this thread's row; of a row that is not there 0.
  [[nodiscard]] __device__ __forceinline__ T element(std::int64_t i) const {
    return is_there() ? g_row()[i] : T{};
  }

  // This block's part: where it begins, and how many vectors it has of whole rows.
  [[nodiscard]] __device__ __forceinline__ int first_vector() const { return block_ * call_.part; }
  [[nodiscard]] __device__ __forceinline__ int vectors() const { return elements(block_) / Row::kElements; }

  // By all threads of all blocks, kTakes times at most, equally often by those of rows that share their blocks: from what each thread has
  // what the whole row has. conclude(Stats) makes Found of it, by one warp, for all others wait for its instructions. meanwhile(), by each
  // thread, is done before any of the block goes on; others see what it wrote to shared memory.
  template <class Conclude, class Meanwhile>
  __device__ __forceinline__ Found meet(const Stats& of_thread, Conclude conclude, Meanwhile meanwhile) {
    Stats own = reduction_.over_lanes(std::integral_constant<int, kWarpSize>{}, of_thread);
    if (lane_index() == 0) s_.of_warps[Threads::row()][Threads::index() / kWarpSize] = own;
    __syncthreads();  // all warps' Stats are there
    if (looks()) {
      constexpr std::integral_constant<int, Threads::kWarps> kWarps;
      own = reduction_.over_lanes(kWarps, s_.of_warps[Threads::row()][lane_index() % Threads::kWarps]);
      if (is_there()) {
        if (lane_index() == 0) call_.meeting.publish(row_, takes_, block_, reduction_.word_of(own));
        const auto elements_of = [&](int block) { return elements(block); };
        own = call_.meeting.blocks <= kFewBlocks
                  ? call_.meeting.template read_all<kFewBlocks>(row_, takes_, reduction_, elements_of)
                  : call_.meeting.template read_all<kMostSplitBlocks>(row_, takes_, reduction_, elements_of);
      }
      const Found found = conclude(own);
      if (lane_index() == 0) s_.found[Threads::row()] = found;
    }
    ++takes_;
    meanwhile();
    __syncthreads();  // the whole rows' are there
    return s_.found[Threads::row()];
  }
  [[nodiscard]] __device__ __forceinline__ int takes() const { return takes_; }
  // Behind meet(): whether it holds for what was found of any of the block's rows, one that is not there included.
  template <class Holds>
  [[nodiscard]] __device__ __forceinline__ bool any(Holds holds) const {
    bool any = false;
#pragma unroll
    for (int row = 0; row < kRows; ++row) any = any || holds(s_.found[row]);
    return any;
  }

  // The last of it: store(r), and the words are left as they were.
  template <class Store>
  __device__ __forceinline__ void leave(Store store) {
    if (!is_there()) return;
    const auto blocks = static_cast<std::uint32_t>(call_.meeting.blocks);
    std::uint32_t before = 0;
    if (looks()) before = call_.meeting.count_reader(row_, blocks);
    store(static_cast<std::int64_t>(row_));
    if (looks()) call_.meeting.clear_if_last(row_, before, blocks, takes_);
  }

 private:
  static constexpr int kFewBlocks = 2 * kWarpSize;

  [[nodiscard]] __device__ __forceinline__ bool is_there() const { return kRows == 1 || row_ < call_.rows; }
  [[nodiscard]] __device__ __forceinline__ static bool looks() { return Threads::index() < kWarpSize; }
  [[nodiscard]] __device__ __forceinline__ const T* g_row() const { return call_.g_x + row_ * call_.x_pitch; }
  // Of this thread's row. Where its first vector hangs over the row's beginning, parts begin so much earlier.
  [[nodiscard]] __device__ __forceinline__ int elements(int block) const {
    const int skew =
        kWhole ? 0 : static_cast<int>(reinterpret_cast<std::uintptr_t>(g_row()) % kVecBytes / sizeof(T));
    const int from = block * call_.part * Row::kElements - skew;
    const int to = from + call_.part * Row::kElements;
    const int begin = from > 0 ? from : 0;
    const int end = to < call_.length ? to : call_.length;
    return end > begin ? end - begin : 0;
  }

  const Call& call_;
  Shared& s_;
  Reduction reduction_;
  int block_;
  int row_;
  int takes_ = 0;
};

// launch(config, first, rows) for the rows of each round: so many from `first` on. rows_of_block: of the cut's shape.
template <class Launch>
Status split_launches(const SplitCut& cut, int rows_of_block, std::int64_t rows, StreamRef stream,
                      Launch launch) {
  const std::int64_t at_once = std::int64_t{cut.groups} * rows_of_block;
  for (std::int64_t first = 0; first < rows; first += at_once) {
    const std::int64_t now = smaller(at_once, rows - first);
    const LaunchConfig config{.grid = dim3(static_cast<unsigned>(cut.blocks * ceil_div(now, rows_of_block))),
                              .block = dim3(kSplitThreads),
                              .shared_bytes = static_cast<std::size_t>(cut.shared_bytes),
                              .stream = stream,
                              .cooperative = true};
    if (Status status = launch(config, first, static_cast<int>(now)); !status.ok()) return status;
  }
  return {};
}

// body.operator()<kVectors, kRows>() of the shape that a cut has.
template <const auto& kShapes, std::size_t kShape = 0, class Body>
Status with_split_shape(int shape, Body&& body) {
  constexpr SplitShape kOf = kShapes[kShape];
  if (shape == static_cast<int>(kShape)) return body.template operator()<kOf.vectors, kOf.rows>();
  if constexpr (kShape + 1 < kShapes.size())
    return with_split_shape<kShapes, kShape + 1>(shape, std::forward<Body>(body));
  return unsupported("a longer row than the blocks have room for");
}

}  // namespace rooftile::ROOFTILE_TARGET
