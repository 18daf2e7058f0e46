// The host's bits against a device's, for every dtype and fill, at sizes around a group of elements.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "rooftile/cases/fill.h"
#include "rooftile/core/host_tensor.h"

namespace rooftile::lab::test {

// Fills `bytes` as the device does.
using DrawBytes = std::function<void(std::vector<unsigned char>& bytes, DType dtype, std::int64_t count,
                                     Fill fill, std::uint64_t seed, std::uint64_t tensor_index)>;

inline void expect_same_bits(const DrawBytes& draw, const std::vector<std::int64_t>& counts) {
  for (const DType dtype : all_dtypes()) {
    for (const Fill fill : all_fills()) {
      for (const std::int64_t count : counts) {
        Result<HostTensor> tensor = HostTensor::create(dtype, Extents{count});
        ASSERT_TRUE(tensor.ok());
        fill_tensor(*tensor, fill, 7, 3);
        std::vector<unsigned char> bytes(tensor->bytes() + 1, 0xA5);
        draw(bytes, dtype, count, fill, 7, 3);
        const auto* expected = static_cast<const unsigned char*>(tensor->data());
        const auto differs = std::mismatch(expected, expected + tensor->bytes(), bytes.begin()).first;
        EXPECT_EQ(differs - expected, static_cast<std::ptrdiff_t>(tensor->bytes()))
            << to_string(dtype) << " " << to_string(fill) << " " << count << ": the first byte that differs";
        EXPECT_EQ(bytes.back(), 0xA5) << to_string(dtype) << " " << count << ": wrote past the end";
      }
    }
  }
}

}  // namespace rooftile::lab::test
