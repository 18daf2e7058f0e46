// Selections by a condition of one's own: for kernel sources (.cu), compiled by nvcc or for the simulated SM.
//
// A condition is a trivially copyable type:
//
//   struct IsBetween {
//     float low, high;
//     __device__ bool operator()(float x) const { return low <= x && x < high; }
//   };
//   select_with(IsBetween{0, 1}, stream, n, g_in, SelectResults<float>{g_out, g_count}, workspace);
//
// It depends on the element alone: it may be asked twice. The chosen elements keep their order; the same results in every run.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/core/workspace.h"
#include "rooftile/device/target.h"
#include "rooftile/ops/select/select_tiles.h"

namespace rooftile::ROOFTILE_TARGET {

namespace select_rungs {

template <class Condition, class T>
struct ByCondition {
  using In = T;
  Condition condition;
  __device__ __forceinline__ bool chosen(const Elements<In>&, std::int64_t, In x) const {
    return condition(x);
  }
};

}  // namespace select_rungs

// Where select_with writes: g_out has room for n elements, g_count for one.
template <class T>
struct SelectResults {
  T* g_out = nullptr;
  std::int64_t* g_count = nullptr;
  bool keeps_others = false;  // those that were not chosen stand behind the chosen ones, from the back
};

// The workspace of select_with for n elements of T.
template <class T>
[[nodiscard]] WorkspaceSpec select_with_workspace(std::int64_t n) {
  return select_plan::tile_workspace(
      select_plan::cut_of(n, sizeof(T), select_plan::large_vectors(sizeof(T))).tiles);
}

// One launch, no allocation, no synchronisation. g_in is aligned to the size of an element, g_out to the
// element; they do not overlap.
template <class T, class Condition>
[[nodiscard]] Status select_with(const Condition& condition, StreamRef stream, std::int64_t n, const T* g_in,
                                 const SelectResults<T>& results, const Workspace& workspace) {
  static_assert(std::is_trivially_copyable_v<Condition>, "a condition is passed to the kernel as bytes");
  static_assert(
      16 % sizeof(T) == 0 && std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>,
      "elements of 1, 2, 4, 8 or 16 bytes, which are moved as bytes");
  if (reinterpret_cast<std::uintptr_t>(g_in) % sizeof(T) != 0)
    return invalid_argument("select_with: g_in is not aligned to the size of an element");
  if (n < 0) return invalid_argument("select_with: n is negative");
  if (!workspace.covers(select_with_workspace<T>(n)))
    return invalid_argument("select_with: the workspace is smaller than select_with_workspace() asks for");
  const std::int64_t tiles = select_plan::cut_of(n, sizeof(T), select_plan::large_vectors(sizeof(T))).tiles;
  return select_rungs::launch_select_tiles<select_plan::large_vectors(sizeof(T))>(
      select_rungs::ByCondition<Condition, T>{condition}, stream, tiles, select_rungs::Elements<T>{g_in, n},
      select_rungs::Results<T>{results.g_out, results.g_count, results.keeps_others}, workspace);
}

}  // namespace rooftile::ROOFTILE_TARGET
