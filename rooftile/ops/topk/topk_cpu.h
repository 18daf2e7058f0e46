// What the CPU rungs share: which of two elements comes first, and heaps of the best.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "rooftile/core/element.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/topk/topk.h"
#include "rooftile/ops/topk/topk_plan.h"

namespace rooftile::cpu::topk_rungs {

using Types = DTypes<double, float, Float16, BFloat16, std::int8_t, std::uint8_t, std::int32_t, std::uint32_t,
                     std::int64_t, std::uint64_t>;

// Whether element i of a row comes before element j.
template <class T>
struct Before {
  const T* row;
  bool largest;

  bool operator()(std::int64_t i, std::int64_t j) const {
    const auto a = number(row[i]);
    const auto b = number(row[j]);
    if constexpr (std::is_floating_point_v<decltype(a)>) {
      if (std::isnan(a) || std::isnan(b)) {
        if (std::isnan(a) && std::isnan(b)) return i < j;
        return std::isnan(a) == largest;
      }
    }
    if (a == b) return i < j;
    return (a > b) == largest;
  }

 private:
  static auto number(T x) {
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      return to_float(x);
    } else {
      return x;
    }
  }
};

// The first `k` of indices(0) ... indices(count - 1), count at least k, as a heap whose top is the last of them.
template <class T, class Indices>
void keep_best(const Before<T>& before, std::int64_t k, std::int64_t count, Indices indices,
               std::int64_t* best) {
  for (std::int64_t i = 0; i < k; ++i) best[i] = indices(i);
  std::make_heap(best, best + k, before);
  for (std::int64_t i = k; i < count; ++i) {
    const std::int64_t index = indices(i);
    if (!before(index, best[0])) continue;
    std::pop_heap(best, best + k, before);
    best[k - 1] = index;
    std::push_heap(best, best + k, before);
  }
}

// Calls body(in, values, indices) with the call's element type. Nothing is to be done where k is 0.
template <class Body>
Status dispatch_rows(const TopkArgs& args, Body&& body) {
  if (args.k == 0 || topk_plan::rows_of(args).count == 0) return {};
  return dispatch(Types{}, args.in.dtype, [&]<class T>() -> Status {
    body(static_cast<const T*>(args.in.data), static_cast<T*>(args.values.data),
         static_cast<std::int64_t*>(args.indices.data));
    return {};
  });
}

}  // namespace rooftile::cpu::topk_rungs
