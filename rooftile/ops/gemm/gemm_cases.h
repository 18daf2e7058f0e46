// A case of gemm as numbers: what its cases and its reference share.
#pragma once

#include <cstdint>
#include <string_view>

#include "rooftile/core/case.h"

namespace rooftile {

struct GemmSizes {
  std::int64_t batches = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};
[[nodiscard]] GemmSizes gemm_sizes(const Case& c);
[[nodiscard]] Extents gemm_output_shape(const Case& c);
// Of c, bias and out.
[[nodiscard]] DType gemm_out_dtype(const Case& c);

}  // namespace rooftile
