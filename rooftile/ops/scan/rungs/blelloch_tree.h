// Blelloch's exclusive scan of 2048 elements in shared memory by 1024 threads, for several lesson rungs.
#pragma once

#include "rooftile/device/target.h"
#include "rooftile/ops/scan/scan_plan.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {

// Where element i stands. Side by side, pairs at a distance of 32 and more meet in one bank; with a gap behind every 32
// elements, and one more behind every 1024, they do not.
struct SideBySide {
  static constexpr int kWords = scan_plan::kTreeElements;
  __device__ __forceinline__ static int at(int i) { return i; }
};
struct WithGaps {
  __device__ __forceinline__ static constexpr int at(int i) { return i + (i >> 5) + (i >> 10); }
  static constexpr int kWords = scan_plan::kTreeElements + (scan_plan::kTreeElements >> 5) + 2;
};

// s_tree: 2048 elements, ready behind a barrier; exclusive sums of them behind one afterwards. Thread 0 returns the total.
template <class Place, class Acc, class Combine>
__device__ __forceinline__ Acc scan_tree(Acc* s_tree, Acc identity, Combine combine) {
  const auto thread = static_cast<int>(threadIdx.x);
  // Up: the right one of two neighbours on a level becomes their sum.
  int distance = 1;
  for (int pairs = scan_plan::kTreeThreads; pairs > 0; pairs /= 2) {
    if (thread < pairs) {
      const int left = Place::at(distance * (2 * thread + 1) - 1);
      const int right = Place::at(distance * (2 * thread + 2) - 1);
      s_tree[right] = combine(s_tree[left], s_tree[right]);
    }
    distance *= 2;
    __syncthreads();
  }
  Acc total = identity;
  if (thread == 0) {  // which takes the first step down, too
    Acc& root = s_tree[Place::at(scan_plan::kTreeElements - 1)];
    total = root;
    root = identity;
  }
  // Down: the left child gets what stands in front of the parent, the right one that and the left child's sum.
  for (int pairs = 1; pairs <= scan_plan::kTreeThreads; pairs *= 2) {
    distance /= 2;
    if (thread < pairs) {
      const int left = Place::at(distance * (2 * thread + 1) - 1);
      const int right = Place::at(distance * (2 * thread + 2) - 1);
      const Acc of_left = s_tree[left];
      s_tree[left] = s_tree[right];
      s_tree[right] = combine(s_tree[right], of_left);
    }
    __syncthreads();
  }
  return total;
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
