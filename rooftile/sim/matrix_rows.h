// ldmatrix and stmatrix of the simulated SM: what device/sm80/ldmatrix.h and device/sm90a/stmatrix.h call.
//
// All 32 lanes make the same call. A lane of the first eight for each matrix accesses the row that it names, 16
// bytes; like shuffles the calls order no accesses.
#pragma once

#include <cstdint>
#include <source_location>

namespace rooftile::simt::detail {

struct MatrixRows {
  unsigned matrices;  // 1, 2 or 4
  bool transposed;
  friend bool operator==(const MatrixRows&, const MatrixRows&) = default;
};

// registers[i]: the calling lane's part of matrix i.
void load_matrix_rows(std::uint32_t* registers, const void* s_row, const MatrixRows& rows,
                      std::source_location where);
void store_matrix_rows(void* s_row, const std::uint32_t* registers, const MatrixRows& rows,
                       std::source_location where);

}  // namespace rooftile::simt::detail
