// Inputs of a case: Philox words by (seed, tensor, group of elements), rounded to the tensor's dtype.
//
// An element depends on nothing else: not on threads, not on the tensor's size, not on the machine.
#pragma once

#include <cstdint>

#include "rooftile/core/case.h"
#include "rooftile/core/host_tensor.h"

namespace rooftile {

// Draws every element of `tensor`, the tensor_index-th input of a case.
//
// Fill::uniform: floats in [-1, 1) before rounding; i8 and u8 their full range, wider integers [-1000, 1000]
// or [0, 1000]. Fill::special: one element in 16 is an infinity, a signed zero, the smallest denormal or the
// largest finite value (f8e4m3, which has no infinity, gets its largest finite value instead); an integer's
// extremes, 0 and 1. Fill::nan_at_last, nan_inside and inf_inside leave integers uniform. Fill::rising and falling span
// uniform's range.
void fill_tensor(HostTensor& tensor, Fill fill, std::uint64_t seed, std::uint64_t tensor_index);

// The first element that fill_tensor would have drawn otherwise, of a thousand groups from the first to the last; -1:
// none. A GPU's draw is not believed unseen: the reference computes with it.
[[nodiscard]] std::int64_t first_wrong_draw(const HostTensor& tensor, Fill fill, std::uint64_t seed,
                                            std::uint64_t tensor_index);

}  // namespace rooftile
