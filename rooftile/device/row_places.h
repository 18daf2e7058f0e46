// Where each row of a call's tensors begins (core/rows.h), without a division.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/integers.h"
#include "rooftile/core/rows.h"
#include "rooftile/device/fast_divide.h"

namespace rooftile::ROOFTILE_TARGET {

template <std::size_t kTensors>
struct RowPlaces {
  Rows<kTensors> rows;
  FastDivisor<std::uint64_t> by_inner;

  static RowPlaces of(const Rows<kTensors>& rows) {
    return {rows, FastDivisor<std::uint64_t>(static_cast<std::uint64_t>(larger(1, rows.inner)))};
  }
  // In elements, from where the tensor's first row begins.
  [[nodiscard]] __device__ __forceinline__ std::int64_t offset(std::size_t tensor, std::int64_t row) const {
    const RowPitch& place = rows.tensors[tensor];
    if (rows.inner == rows.count) return row * place.pitch;
    const auto parts = by_inner.divide_with_remainder(static_cast<std::uint64_t>(row));
    return static_cast<std::int64_t>(parts.quotient) * place.outer_pitch +
           static_cast<std::int64_t>(parts.remainder) * place.pitch;
  }
};

}  // namespace rooftile::ROOFTILE_TARGET
