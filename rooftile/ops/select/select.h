// select: the elements that something is true of, in their order, and how many they are.
//
//   flagged       out = in[i] for the i with flags[i] != 0
//   greater_than  out = in[i] for the i with in[i] > threshold
//   unique        out = in[i] for the i with i = 0 or in[i] != in[i - 1]: the first of each run of equal elements
//   partition     the chosen ones first (by flags where there are flags, else by threshold), the others behind them from the
//                 back: the last element of out is the first that was not chosen
//
// Shapes     in: [n]. flags: [n]. out: [n]: what is chosen is not known before. count: [1], how many were chosen, written on
//            the device. All without gaps. out[count] and what follows is left as it was, but by partition: in the form
//            that returns `out`, memory that nobody wrote.
// Dtypes     in: f64 f32 f16 bf16, i8 u8 i32 u32 i64 u64; out: in's. flags: u8. count: i64.
// Threshold  compared as a real number, whatever the dtype: i32 elements above 0.5 are those from 1 on. Where flags choose,
//            and of unique, it says nothing.
// Order      of the chosen: as they stand in `in`. With stable = false any: the lesson rung unordered_atomics serves no other.
// Alignment  that of an element.
// Aliasing   no two tensors overlap.
// Empty      count is 0.
// NaN, +-0   elements are moved bit for bit. NaN > x and x > NaN are false; NaN differs from itself: unique keeps each. -0
//            and +0 are equal.
// Size       64-bit index arithmetic; 2^31 elements and more are served.
// Determinism  run-to-run where stable.
// Source     Blelloch, "Prefix sums and their applications" (1990), split; Merrill and Garland, "Single-pass Parallel Prefix
//            Scan with Decoupled Look-back" (2016); partition's order of the others is that of CUB's DevicePartition.
//
// A condition of one's own: select_functor.h.
#pragma once

#include <array>
#include <string_view>

#include "rooftile/core/api.h"
#include "rooftile/core/enum_names.h"

namespace rooftile {

enum class SelectOp { flagged, greater_than, unique, partition };
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<SelectOp> = {"flagged", "greater_than", "unique",
                                                                         "partition"};

struct SelectArgs {
  ConstTensorView in{};
  ConstTensorView flags{};  // of flagged, and of partition where it is there
  TensorView out{};
  TensorView count{};
  SelectOp op = SelectOp::greater_than;
  double threshold = 0.0;
  bool stable = true;

  friend bool operator==(const SelectArgs&, const SelectArgs&) = default;
};

// auto [out, count] = select(context, in, {.op = SelectOp::unique}).value();
// auto [some, how_many] = select(context, in, {.flags = flags, .op = SelectOp::flagged}).value();
ROOFTILE_CALLS_OF_2(select, SelectArgs, in)

}  // namespace rooftile
