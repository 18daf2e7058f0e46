// Rows that pass through rings in shared memory: each of a block's groups of warps has every so many-th row, in a ring of its own, and
// the sums of its columns in registers.
//
//   group's ring, two rows at once:   [row 4][row 5][row 6][row 7][row 2][row 3]
//                                      on their way . . . . . . . are read
//
// Rows are read twice: for the statistics and the sums that come together with them, and for dx. When the group's warps have met over the
// sums of some rows, each has done with the rows before, and asks for others in their place, in turns.
//
// Source: PTX ISA, cp.async.bulk, mbarrier.
#pragma once

#include <limits>

#include "rooftile/device/sm90a/dependent_launch.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/families/norm/norm_backward_ring_plan.h"
#include "rooftile/families/norm/rungs/backward_device.h"
#include "rooftile/families/norm/rungs/backward_group.h"
#include "rooftile/families/norm/rungs/backward_slots.h"
#include "rooftile/families/norm/rungs/backward_sums.h"

namespace rooftile::ROOFTILE_TARGET::norm::backward {

using norm_backward_plan::kMostRowSlots, norm_backward_plan::kRingThreads;

// A thread of a group, which has some vectors of each row.
template <class Norm, class T, int kThreads, int kVectors, int kRows>
class RingReader {
  static constexpr int kElements = kVecElements<T>;
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kSums = Sums<Norm>::kCount;
  static constexpr int kLanes = kWarpSize / kRows;  // that have one row's sums
  static constexpr int kAskers = kWarps < kRows ? kWarps : kRows;
  using Floats = Vec<float, kElements>;
  // Else it comes from L1, again and again.
  static constexpr bool kKeepsWeight = kVectors * kElements <= 16;

 public:
  using RowMeeting = Meeting<kWarps, kRows * kSums>;

  // The group's rows are first, first + step ...
  __device__ __forceinline__ RingReader(const Operands<T>& call, RowMeeting& s_meeting, const GroupRing& ring,
                                        std::int64_t first, std::int64_t step)
      : call_(call),
        s_meeting_(s_meeting),
        ring_(ring),
        next_row_(first + warp() * step),
        step_(step),
        read_{ring.s_rows + thread()},
        asked_{ring.s_rows},
        inverse_length_(1.0f / static_cast<float>(call.length())) {
    if (warp() < kAskers) {
      for (int i = 0; i < warp(); ++i) asked_.advance(ring_);
      ask(ring_.slots);
    }
    if constexpr (kKeepsWeight) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        weight_[v] = weight_at(v);
        keep(weight_[v]);
      }
    }
  }

  __device__ __forceinline__ void read_all(std::int64_t first) {
    std::int64_t left = ceil_div(call_.count() - first, step_);
    for (bool is_first = true; left > 0; left -= kRows, is_first = false) {
      const int rows = static_cast<int>(smaller(kRows, left));
      SlotWalk behind = read_;
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        if (i < rows) {
          mbarrier_wait(&ring_.s_slots[behind.slot].full, behind.parity);
          behind.advance(ring_);
        }
      }
      const Gradient found = gradient(rows);
      // All have done with the rows before these.
      if (!is_first && warp() < kAskers) ask(kRows);
#pragma unroll 1
      for (int i = 0; i < rows; ++i) {
        write(shuffle(found, i * kLanes));
        read_.advance(ring_);
      }
    }
  }

  // The columns' sums of this group, to s_sums: n for dweight, n for dbias.
  __device__ __forceinline__ void leave_sums(float* s_sums) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (!has(v)) continue;
      leave(s_sums + vector(v) * kElements, dweight_[v]);
      leave(s_sums + call_.length() + vector(v) * kElements, dbias_[v]);
    }
  }

 private:
  __device__ __forceinline__ static int thread() { return static_cast<int>(threadIdx.x) % kThreads; }
  __device__ __forceinline__ static int warp() { return thread() / kWarpSize; }
  __device__ __forceinline__ static int vector(int v) { return thread() + v * kThreads; }
  // Shorter rows have a shape with half as many vectors.
  [[nodiscard]] __device__ __forceinline__ bool has(int v) const {
    return v < kVectors / 2 || vector(v) < ring_.vectors;
  }
  [[nodiscard]] __device__ __forceinline__ static Floats x(const SlotWalk& row, int v) {
    return as_floats(load_vec(reinterpret_cast<const T*>(row.s_vector + v * kThreads)));
  }
  [[nodiscard]] __device__ __forceinline__ Floats dy(const SlotWalk& row, int v) const {
    return as_floats(load_vec(reinterpret_cast<const T*>(row.s_vector + ring_.vectors + v * kThreads)));
  }
  [[nodiscard]] __device__ __forceinline__ Floats weight_at(int v) const {
    RawVector raw = filled(rounded<T>(1.0f));
    if (has(v) && call_.g_weight != nullptr)
      raw = load_bytes<kVecBytes>(call_.g_weight + vector(v) * kElements);
    return as_floats(as_vector<T>(raw));
  }
  // As they are: they are not to be made again of fewer registers.
  __device__ __forceinline__ static void keep([[maybe_unused]] Floats& floats) {
#if !defined(ROOFTILE_SIM)
#pragma unroll
    for (int e = 0; e < kElements; ++e) asm("" : "+f"(floats[e]));
#endif
  }
  [[nodiscard]] __device__ __forceinline__ Floats weight(int v) const {
    if constexpr (kKeepsWeight) {
      return weight_[v];
    } else {
      return weight_at(v);
    }
  }
  // For this warp's part of so many rows more, as far as there are: the first warps ask in turns.
  __device__ __forceinline__ void ask(int rows) {
    for (int i = warp(); i < rows; i += kAskers) {
      if (lane_index() == 0 && next_row_ < call_.count()) ask_for_row(ring_, asked_, call_, next_row_);
      next_row_ += kAskers * step_;
#pragma unroll
      for (int passed = 0; passed < kAskers; ++passed) asked_.advance(ring_);
    }
  }
  __device__ __forceinline__ static void leave(float* s_sums, const Floats& sums) {
    constexpr int kOfAccess = kVecElements<float>;
#pragma unroll
    for (int e = 0; e < kElements; e += kOfAccess) {
      Vec<float, kOfAccess> some;
#pragma unroll
      for (int i = 0; i < kOfAccess; ++i) some[i] = sums[e + i];
      store_vec(s_sums + e, some);
    }
  }

  // The mean of a row's first elements, times scale.
  [[nodiscard]] __device__ __forceinline__ float first_mean(const SlotWalk& row, float scale) const {
    constexpr int kFirst = 4;
    const auto first = as_floats(load_vec<LoadPolicy::cached, kFirst* static_cast<int>(sizeof(T))>(
        reinterpret_cast<const T*>(row.s_vector - thread())));
    float sum = 0;
#pragma unroll
    for (int e = 0; e < kFirst; ++e) sum = fmaf(first[e], scale * (1.0f / kFirst), sum);
    return sum;
  }
  [[nodiscard]] __device__ __forceinline__ Sums<Norm> own_sums(const SlotWalk& row, float scale,
                                                               float about) const {
    Sums<Norm> sums{};
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (!has(v)) continue;
      const Floats values = x(row, v);
      const Floats gradients = dy(row, v);
      const Floats w = weight(v);
#pragma unroll
      for (int e = 0; e < kElements; ++e) sums.add(fmaf(values[e], scale, -about), gradients[e] * w[e]);
    }
    return sums;
  }

  // Of row lane / kLanes, of elements times `scale`, about `known` (NaN: about its first ones), both as the lane has them for it.
  __device__ __forceinline__ Found total(int rows, float scale, float known, bool& is_far) {
    float own[kRows * kSums];
    float row_about = 0;
    SlotWalk walk = read_;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      // A row that is not there has the sums of the one before: nobody asks for them.
      if (i > 0 && i < rows) walk.advance(ring_);
      const float row_scale = shuffle(scale, i * kLanes);
      float about = 0;
      if constexpr (Norm::kHasMean) {
        about = shuffle(known, i * kLanes);
        if (isnan(about)) about = first_mean(walk, row_scale);
        if (i == lane_index() / kLanes) row_about = about;
      }
      const Sums<Norm> sums = own_sums(walk, row_scale, about);
#pragma unroll
      for (int q = 0; q < kSums; ++q) own[i * kSums + q] = sums.values[q];
    }
    const float sum = s_meeting_.all_reduce(round_++, warp(), lanes_sum_each<kRows * kSums>(own));
    Sums<Norm> sums;
#pragma unroll
    for (int q = 0; q < kSums; ++q)
      sums.values[q] = shuffle(sum, lane_index() / kLanes * kLanes + q * RowMeeting::kLanes);
    const Found found = sums.found(row_about, inverse_length_);
    is_far = sums.is_far(found);
    return found;
  }

  // Of row lane / kLanes. Taken once more where squares leave the range of f32, and where the first elements were far from the mean.
  __device__ __forceinline__ Gradient gradient(int rows) {
    const auto length = static_cast<float>(call_.length());
    const bool is_row = lane_index() / kLanes < rows;
    float scale = 1;
    float known = std::numeric_limits<float>::quiet_NaN();
    Found found{};
#pragma unroll 1
    for (bool is_again = true; is_again;) {
      bool is_far = false;
      found = total(rows, scale, known, is_far);
      float next_scale = scale;
      if (is_row && scale == 1.0f)
        next_scale = Range::scale_for(found.squares, found.mean, length, call_.eps);
      const bool rescales = next_scale != scale;
      const bool recentres = is_row && !rescales && is_far && isnan(known);
      scale = next_scale;
      if (rescales) known = std::numeric_limits<float>::quiet_NaN();
      if (recentres) known = found.mean;
      is_again = __any_sync(kFullMask, rescales || recentres) != 0;  // the same in all warps
    }
    const float inverse_deviation = rsqrtf(fmaf(found.squares, inverse_length_, call_.eps * scale * scale));
    return {{scale, found.mean, inverse_deviation},
            found.g * inverse_length_,
            found.gx * inverse_deviation * inverse_length_};
  }

  // dx of the row that is read, and its part of the columns' sums.
  __device__ __forceinline__ void write(const Gradient& gradient) {
    const Results& results = gradient.results;
    const RowSlot& s_slot = ring_.s_slots[read_.slot];
    T* g_dx = call_.g_dx + s_slot.dx + thread() * kElements;
    const T* g_dsum = call_.g_dsum == nullptr ? nullptr : call_.g_dsum + s_slot.dsum;
    const bool is_special = g_dsum != nullptr || results.scale != 1.0f;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (!has(v)) continue;
      const Floats values = x(read_, v);
      const Floats gradients = dy(read_, v);
      const Floats w = weight(v);
      Floats made;
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        const float normalised = results.of(values[e]);
        dweight_[v][e] = fmaf(gradients[e], normalised, dweight_[v][e]);
        if constexpr (Norm::kHasMean) dbias_[v][e] += gradients[e];
        const float g = Norm::kHasMean ? fmaf(gradients[e], w[e], -gradient.mean_g) : gradients[e] * w[e];
        made[e] = fmaf(-gradient.mean_gx, normalised, g) * results.inverse_deviation;
      }
      if (is_special) {
        Floats past{};
        if (g_dsum != nullptr)
          past = as_floats(as_vector<T>(load_bytes<kVecBytes>(g_dsum + vector(v) * kElements)));
#pragma unroll
        for (int e = 0; e < kElements; ++e) made[e] = fmaf(made[e], results.scale, past[e]);
      }
      Vec<T, kElements> out;
#pragma unroll
      for (int e = 0; e < kElements; ++e) out[e] = rounded<T>(made[e]);
      store_vec(g_dx + v * kThreads * kElements, out);
    }
  }

  const Operands<T>& call_;
  RowMeeting& s_meeting_;
  GroupRing ring_;
  std::int64_t next_row_;  // to be asked for
  std::int64_t step_;
  SlotWalk read_;
  SlotWalk asked_;
  std::uint32_t round_ = 0;
  float inverse_length_;
  Floats weight_[kKeepsWeight ? kVectors : 1];
  Floats dweight_[kVectors]{};
  Floats dbias_[kVectors]{};
};

template <class Norm, class T, int kThreads, int kVectors, int kRows>
__global__ void __launch_bounds__(kRingThreads, 1) ring_kernel(Operands<T> call, int slots) {
  constexpr int kGroups = kRingThreads / kThreads;
  using Reader = RingReader<Norm, T, kThreads, kVectors, kRows>;
  __shared__ RowSlot s_slots[kMostRowSlots];
  __shared__ typename Reader::RowMeeting s_meetings[kGroups];
  ROOFTILE_DYN_SHARED(RawVector, s_rows);
  const auto n = static_cast<int>(call.length());
  const int vectors = n / kVecElements<T>;
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < kGroups * slots; ++slot) mbarrier_init(&s_slots[slot].full, 1);
    for (auto& s_meeting : s_meetings) s_meeting.init();
    fence_mbarrier_init();
  }
  __syncthreads();  // the barriers are ready
  const int group = static_cast<int>(threadIdx.x) / kThreads;
  const std::int64_t first = blockIdx.x + group * call.parts;
  Reader reader(call, s_meetings[group],
                GroupRing{s_slots + group * slots, s_rows + group * slots * 2 * vectors, slots, vectors},
                first, kGroups * call.parts);
  reader.read_all(first);
  __syncthreads();  // every row has been read for the last time
  auto* s_sums = reinterpret_cast<float*>(s_rows);
  reader.leave_sums(s_sums + group * 2 * n);
  __syncthreads();  // every group's sums are there
  float* g_part = call.g_parts + std::int64_t{blockIdx.x} * 2 * n;
  for (int i = static_cast<int>(threadIdx.x); i < 2 * n; i += kRingThreads) {
    float sum = 0;
#pragma unroll
    for (int of_group = 0; of_group < kGroups; ++of_group) sum += s_sums[of_group * 2 * n + i];
    g_part[i] = sum;
  }
}

// Launched while the rings' kernel still runs, and held back until that ends: what a launch takes has passed by then.
template <class T>
__global__ void __launch_bounds__(kSumThreads) sum_parts_behind_kernel(Operands<T> call) {
  __shared__ PartSums s_sums;
  wait_for_prerequisites();
  add_parts(call, s_sums);
}

template <class Norm, class T, std::size_t kShape = 0, class Args>
Status launch_ring_shape(const Call<Args>& call) {
  constexpr norm_backward_plan::RingShape kOf = norm_backward_plan::kRingShapes[kShape];
  if (call.template config<Cut>().shape == static_cast<int>(kShape)) {
    const Operands<T> operands = operands_of<T>(call);
    if (operands.places.rows.length == 0) return {};
    if (operands.parts > 0) {
      const std::int64_t row_bytes = norm_backward_plan::row_bytes(call.args);
      const int slots = norm_backward_plan::row_slots(kOf, row_bytes, call.device);
      ROOFTILE_TRY(launch(
          ring_kernel<Norm, T, kOf.threads, kOf.vectors, kOf.rows>,
          {.grid = dim3(static_cast<unsigned>(operands.parts)),
           .block = dim3(kRingThreads),
           .shared_bytes = norm_backward_plan::ring_bytes(slots, kOf, row_bytes, operands.places.rows.length),
           .stream = call.stream},
          operands, slots));
    }
    return sum_parts_by(sum_parts_behind_kernel<T>, call.stream, operands, true);
  }
  if constexpr (kShape + 1 < norm_backward_plan::kRingShapes.size())
    return launch_ring_shape<Norm, T, kShape + 1>(call);
  return unsupported("a longer row than a ring has room for");
}

template <class Norm, class Args>
Status launch_ring(const Call<Args>& call) {
  return dispatch_floats<DTypes<float, __half>>(call.args,
                                                [&]<class T>() { return launch_ring_shape<Norm, T>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm::backward
