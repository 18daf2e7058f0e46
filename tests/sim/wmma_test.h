// Matrices in memory, for the tests of a warp's matrix operations.
#pragma once

#include <cstring>
#include <functional>

#include "rooftile/core/dtype.h"
#include "tests/sim/sim_test.h"
#include "tests/sim/wmma_kernels.h"

namespace rooftile::sim_testing {

using namespace sim::sim_tests;

inline constexpr unsigned kMatrixBytes = 4096;

// Memory that starts at a multiple of 256 bytes, as device memory does.
class Matrix {
 public:
  Matrix() { std::memset(bytes_, 0x7b, sizeof bytes_); }  // no small integer in any type
  [[nodiscard]] unsigned char* data() { return bytes_; }
  [[nodiscard]] const unsigned char* data() const { return bytes_; }

 private:
  alignas(256) unsigned char bytes_[kMatrixBytes];
};

inline DType dtype_of(WmmaType type) {
  constexpr DType kTypes[] = {DType::f16, DType::bf16, DType::f32, DType::i8, DType::u8};
  return kTypes[static_cast<int>(type)];
}
inline DType dtype_of(WmmaSum type) {
  constexpr DType kTypes[] = {DType::f16, DType::f32, DType::i32};
  return kTypes[static_cast<int>(type)];
}

// Rows by columns, in memory.
struct Placed {
  DType type;
  int rows, columns;
  bool row_major;
  unsigned stride;

  [[nodiscard]] std::size_t offset(int row, int column) const {
    const auto outer = static_cast<std::size_t>(row_major ? row : column);
    const auto inner = static_cast<std::size_t>(row_major ? column : row);
    return (outer * stride + inner) * size_of(type);
  }
  [[nodiscard]] unsigned bytes() const {
    return static_cast<unsigned>(offset(rows - 1, columns - 1) + size_of(type));
  }
  void fill(Matrix& matrix, const std::function<double(int, int)>& value) const {
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        store_from_double(matrix.data() + offset(row, column), type, value(row, column));
      }
    }
  }
  [[nodiscard]] double at(const Matrix& matrix, int row, int column) const {
    return load_as_double(matrix.data() + offset(row, column), type);
  }
};

inline Placed placed(DType type, int rows, int columns, bool row_major, bool padded) {
  const int inner = row_major ? columns : rows;
  const unsigned gap = padded ? 16 / static_cast<unsigned>(size_of(type)) : 0;
  return {type, rows, columns, row_major, static_cast<unsigned>(inner) + gap};
}

inline constexpr WmmaShape kSixteen{16, 16, 16};
inline constexpr WmmaShape kTall{32, 8, 16};
inline constexpr WmmaShape kWide{8, 32, 16};
inline constexpr WmmaShape kTf32{16, 16, 8};

}  // namespace rooftile::sim_testing
