// Rows that pass through a ring in shared memory: read once, whatever is made of them.
//
//   __shared__ RowRingShared<kWarps, Stats> s;
//   ROOFTILE_DYN_SHARED(uint4, s_ring);                       // stages of ring_stage_bytes(kWarps)
//   RowRing<T, kWarps, Stats, kClustered> ring(s, s_ring, plan);
//   if (ring.is_producer()) ring.load(rows, first, step, n, place_of);  // place_of(row): where it begins
//   else for (row = first; row < rows; row += step) {
//     ring.begin(place_of(row), n);
//     Stats own = identity;
//     ring.for_each_arriving(filler, [&](const Vec<T, k>& vec) { ... });
//     const Stats all = ring.all_reduce(own, identity, combine, over_lanes);
//     ring.write(g_out, filler, [&](const Vec<T, k>& vec) { return ...; });
//   }
//   ring.finish();
//
// One warp asks for the vectors of a row, and of the next rows behind it, stage by stage as room becomes free: what is on its
// way never runs dry while others of the block's warps compute. A cluster's blocks have equal parts of each row; what their
// warps found goes to all of them through distributed shared memory. Elements in front of a row's first aligned vector and
// behind its last are the first warp's of the first block. The output lies to 16 bytes as the input does, and may be it.
// Every row has an aligned vector for each block at least: what warps found of a row is written over two rows later, and
// write() is where a warp's lanes have all read it.
//
// Source: PTX ISA, cp.async.bulk, st.async, mbarrier.
#pragma once

#include <cstdint>

#include "rooftile/core/row_ring_plan.h"
#include "rooftile/device/raw_vector.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/cluster.h"
#include "rooftile/device/sm90a/cluster_reduce.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET {

template <int kWarps, class Stats>
struct RowRingShared {
  Mbarrier full[kMostRingStages];        // the stage's vectors have landed
  Mbarrier empty[kMostRingStages];       // every warp has read them for the last time
  ClusterFound<Stats, kWarps> found[2];  // of even rows, of odd ones
};

// kClustered: plan.blocks may be more than 1.
template <class T, int kWarps, class Stats, bool kClustered>
class RowRing {
 public:
  static constexpr int kElements = kVecElements<T>;
  static constexpr int kReaders = kWarps * kWarpSize;
  static constexpr int kThreads = kReaders + kWarpSize;  // of the block: the last warp loads
  using Vector = Vec<T, kElements>;

  // By all threads of all blocks of the cluster.
  __device__ __forceinline__ RowRing(RowRingShared<kWarps, Stats>& s, uint4* s_ring, const RowRingPlan& plan)
      : s_(s), s_ring_(s_ring), part_(plan.part), stages_(plan.stages) {
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages_; ++stage) {
        mbarrier_init(&s_.full[stage], 1);
        mbarrier_init(&s_.empty[stage], kWarps);
      }
      for (auto& found : s_.found) mbarrier_init(&found.there, is_alone() ? kWarps : 1);
      fence_mbarrier_init();
    }
    if (is_alone()) {
      __syncthreads();  // the barriers are ready
    } else {
      cluster_sync();  // those of all blocks are
    }
  }

  __device__ __forceinline__ static bool is_producer() { return warp_index() == kWarps; }

  // By the last warp: the parts of rows first, first + step ... that are this block's.
  template <class PlaceOf>
  __device__ __forceinline__ void load(std::int64_t rows, std::int64_t first, std::int64_t step,
                                       std::int64_t n, PlaceOf place_of) {
    if (lane_index() != 0) return;
    for (std::int64_t row = first; row < rows; row += step) {
      begin(place_of(row), n);
      for (int left = vectors_; left > 0; left -= kReaders) {
        mbarrier_wait(&s_.empty[stage_], parity_ ^ 1u);
        const auto bytes = static_cast<std::uint32_t>(left < kReaders ? left : kReaders) * kVecBytes;
        mbarrier_arrive_expect_tx(&s_.full[stage_], bytes);
        bulk_load(s_ring_ + stage_ * kReaders, g_part_ + (vectors_ - left) * kElements, bytes,
                  &s_.full[stage_]);
        advance();
      }
    }
  }

  // The next row, of n elements, begins at g_row.
  __device__ __forceinline__ void begin(const T* g_row, std::int64_t n) {
    const std::int64_t head = elements_to_alignment(g_row, n);
    const std::int64_t all = (n - head) / kElements;
    const std::int64_t first = is_alone() ? 0 : cluster_rank() * part_;
    const std::int64_t left = all - first;
    vectors_ = static_cast<int>(left < 0 ? 0 : left < part_ ? left : part_);
    offset_ = head + first * kElements;
    g_part_ = g_row + offset_;
    edge_ = -1;
    if (warp_index() == 0 && (is_alone() || cluster_rank() == 0)) {
      const int lane = lane_index();
      const std::int64_t tail = head + all * kElements + lane - kWarpSize / 2;
      if (lane < head) edge_ = lane;
      if (lane >= kWarpSize / 2 && tail < n) edge_ = tail;
    }
    edge_value_ = edge_ < 0 ? T{} : g_row[edge_];
  }

  // visit(vector) with what is this thread's, as it comes; elements that there are not are the filler.
  template <class Visit>
  __device__ __forceinline__ void for_each_arriving(T filler, Visit visit) {
    const int stage = stage_;
    const std::uint32_t parity = parity_;
    for (int at = thread(); at - thread() < vectors_; at += kReaders) {
      mbarrier_wait(&s_.full[stage_], parity_);
      if (at < vectors_) visit(as_vector<T>(s_ring_[stage_ * kReaders + thread()]));
      advance();
    }
    stage_ = stage;  // once more for write()
    parity_ = parity;
    if (edge_ >= 0) visit(edge_vector(filler));
  }

  // The combination of what all threads of the cluster bring, in every one of them.
  template <class Combine, class OverLanes>
  __device__ __forceinline__ Stats all_reduce(Stats own, Stats identity, Combine combine,
                                              OverLanes over_lanes) {
    const std::uint32_t parity = row_ / 2 % 2;
    ClusterFound<Stats, kWarps>& s_found = s_.found[row_ % 2];
    ++row_;
    if constexpr (kClustered) {
      return cluster_all_reduce(s_found, parity, own, identity, combine, over_lanes);
    } else {
      constexpr std::integral_constant<int, kWarpSize> kWarp;
      own = over_lanes(kWarp, own);
      if (lane_index() == 0) {
        s_found.values[warp_index()] = own;
        mbarrier_arrive(&s_found.there);
      }
      mbarrier_wait(&s_found.there, parity);
      return over_lanes(kWarp, lane_index() < kWarps ? s_found.values[lane_index()] : identity);
    }
  }

  // make(vector) of each vector once more, to where it stands in the row that begins at g_row; makes room for what comes.
  template <StorePolicy kPolicy = StorePolicy::cached, class Make>
  __device__ __forceinline__ void write(T* g_row, T filler, Make make) {
    if (edge_ >= 0) g_row[edge_] = make(edge_vector(filler))[0];
    T* g_own = g_row + offset_ + thread() * kElements;
    for (int at = thread(); at - thread() < vectors_; at += kReaders, g_own += kReaders * kElements) {
      Vector vec;
      if (at < vectors_) vec = as_vector<T>(s_ring_[stage_ * kReaders + thread()]);
      __syncwarp();  // all lanes have read before lane 0 says so
      if (lane_index() == 0) mbarrier_arrive(&s_.empty[stage_]);
      if (at < vectors_) store_vec<kPolicy>(g_own, make(vec));
      advance();
    }
  }

  // By all threads, at the end: nobody writes into a block that has gone.
  __device__ __forceinline__ void finish() {
    if (!is_alone()) cluster_sync();
  }

 private:
  __device__ __forceinline__ static bool is_alone() { return !kClustered; }
  __device__ __forceinline__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ __forceinline__ void advance() {
    if (++stage_ < stages_) return;
    stage_ = 0;
    parity_ ^= 1u;
  }
  __device__ __forceinline__ Vector edge_vector(T filler) const {
    Vector vec;
#pragma unroll
    for (int e = 0; e < kElements; ++e) vec[e] = e == 0 ? edge_value_ : filler;
    return vec;
  }

  RowRingShared<kWarps, Stats>& s_;
  uint4* s_ring_;
  std::int64_t part_;
  int stages_;
  int stage_ = 0;
  std::uint32_t parity_ = 0;
  std::uint32_t row_ = 0;    // counts the rows that were reduced
  int vectors_ = 0;          // of this row, in this block
  std::int64_t offset_ = 0;  // of the first of them in the row
  const T* g_part_ = nullptr;
  std::int64_t edge_ = -1;  // this thread's element beside the vectors
  T edge_value_{};
};

}  // namespace rooftile::ROOFTILE_TARGET
