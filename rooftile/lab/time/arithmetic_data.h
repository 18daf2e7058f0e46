// The numbers that the kernels of arithmetic.h multiply.
#pragma once

#include <cstdint>

#include "rooftile/core/host_device.h"

namespace rooftile::lab {

// Near enough to a normal distribution of mean 0 and variance 1: the sum of four uniform bytes of a hash.
ROOFTILE_HOST_DEVICE inline float normal_number(std::uint32_t at) {
  std::uint32_t word = at * 2654435761u;
  word ^= word >> 15;
  word *= 2246822519u;
  word ^= word >> 13;
  const std::uint32_t sum = (word & 0xFF) + (word >> 8 & 0xFF) + (word >> 16 & 0xFF) + (word >> 24);
  return (static_cast<float>(sum) - 510.0f) * (1.0f / 147.8f);
}

}  // namespace rooftile::lab
