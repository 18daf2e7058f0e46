// Results of products of a few rows, or columns.
#pragma once

#include <cstdint>

#include "rooftile/ops/gemm/gemm_few.h"
#include "rooftile/ops/gemm/rungs/rounded_output.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

// is_turned: the product is the transposed one, and out that of the call.
struct FewWay {
  RoundedWay rounded;
  bool is_turned = false;
};

// A tile of sums in shared memory as rows of out: `few` rows of a, `columns` of b, in the product as it is computed.
class FewTile {
 public:
  static constexpr int kPad = 4;  // floats behind a row: what a warp gathers at once is in banks of its own
  static constexpr int floats(int few, int columns) {
    const int rows = few * (columns + kPad);
    const int turned = columns * (few + kPad);
    return rows > turned ? rows : turned;
  }

  __device__ __forceinline__ FewTile(float* s_sums, int few, int columns, bool is_turned)
      : s_sums_(s_sums),
        rows_(is_turned ? columns : few),
        width_(is_turned ? few : columns),
        is_turned_(is_turned) {}
  // Of row i of a and column j of b.
  __device__ __forceinline__ float& at(int i, int j) const {
    return s_sums_[is_turned_ ? j * (width_ + kPad) + i : i * (width_ + kPad) + j];
  }
  [[nodiscard]] __device__ __forceinline__ int rows() const { return rows_; }  // of out
  [[nodiscard]] __device__ __forceinline__ int width() const { return width_; }
  [[nodiscard]] __device__ __forceinline__ float* row(int r) const { return s_sums_ + r * (width_ + kPad); }

  // By all kThreads threads of a block: rows `first` to `end`. column: of b, where the tile begins.
  template <class T, int kThreads>
  __device__ __forceinline__ void give(const Problem& out, const RoundedWay& way, std::int64_t batch,
                                       std::int64_t column, int first, int end) const {
    const RoundedOutput<T> output(out, way, batch);
    const std::int64_t first_row = is_turned_ ? column : 0;
    const std::int64_t first_column = is_turned_ ? 0 : column;
    with_elements(output, way, [&](auto elements, auto give_them) {
      constexpr int kEach = decltype(elements)::value;
      const int line = width_ / kEach;
#pragma unroll 1
      for (int v = static_cast<int>(threadIdx.x); v < (end - first) * line; v += kThreads) {
        const int r = first + v / line;
        const int c = v % line * kEach;
        give_them(row(r) + c, first_row + r, first_column + c);
      }
    });
  }

 private:
  float* s_sums_;
  int rows_;
  int width_;
  bool is_turned_;
};

inline FewWay few_way(const GemmArgs& args, const Problem& out) {
  return {.rounded = rounded_way(args, out), .is_turned = gemm_plan::is_turned(out)};
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
