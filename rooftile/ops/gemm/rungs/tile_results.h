// From a tile's sums to its results, or to a part's place in memory.
#pragma once

#include <cstdint>

#include "rooftile/ops/gemm/rungs/tile_product.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

// How results leave a kernel: known on the host, the same for all of a launch.
struct OutputWay {
  bool vectors = false;  // 16 bytes of a row of out may be written at once
  bool scaled = false;   // results are the sums times alpha, and a row's lie side by side
  bool plain = false;    // both, and no row ends within 16 bytes
};
template <class T>
OutputWay output_way(const Problem& p) {
  const bool vectors = has_vectors_of_out<T>(p);
  const bool scaled = p.out.column == 1 && p.c_data == nullptr && p.bias_data == nullptr &&
                      p.activation == GemmActivation::none;
  return {.vectors = vectors, .scaled = scaled, .plain = vectors && scaled && p.n % kVecElements<T> == 0};
}

// Which matrix of the batch a tile is of, and where it begins.
template <int kRows, int kColumns>
struct TilePlace {
  std::int64_t batch;
  std::int64_t row;
  std::int64_t column;
  __device__ __forceinline__ TilePlace(std::int64_t tile_rows, std::int64_t tile_columns, std::int64_t tile) {
    // There are fewer than 2^31, and 64-bit divisions would take as long as a step.
    const auto rows = static_cast<unsigned>(tile_rows);
    const unsigned tiles = rows * static_cast<unsigned>(tile_columns);
    const unsigned of_matrix = static_cast<unsigned>(tile) % tiles;
    batch = static_cast<unsigned>(tile) / tiles;
    row = std::int64_t{of_matrix % rows} * kRows;
    column = std::int64_t{of_matrix / rows} * kColumns;
  }
};
template <class Tile>
using PlaceOf = TilePlace<Tile::kRows, Tile::kColumns>;

// By all threads of a block; shared memory is free.
template <class Tile, class T>
class TileResults {
 public:
  using Vector = Vec<T, Tile::kVector>;
  static constexpr int kLine = Tile::kColumns / Tile::kVector;  // vectors of a row
  static constexpr int kVectors = Tile::kRows * kLine;
  static constexpr std::size_t kSharedBytes = sizeof(Vector) * kVectors * Tile::kSlices;
  static_assert(kVectors % Tile::kThreads == 0);

  __device__ __forceinline__ TileResults(Sums<Tile, T>& sums, T* s_memory) : sums_(sums), s_(s_memory) {}

  // g_part: where the sums of a part go, row by row; null: the tile is whole. goes_on: shared memory is to be free again behind it.
  __device__ __forceinline__ void give(const Problem& p, const PlaceOf<Tile>& place, const OutputWay& way,
                                       T* g_part, bool goes_on) const {
    const bool is_part = g_part != nullptr;
    // Large tiles that end outside of out take the long way: a check for each vector would cost the loop that made the sums registers.
    const bool fits = Tile::kSize != TileSize::large ||
                      (place.row + Tile::kRows <= p.m && place.column + Tile::kColumns <= p.n);
    const bool is_direct = is_part || (way.plain && fits);
    sums_.scale(is_part ? T{1} : static_cast<T>(p.alpha));
    T* g_tile = is_part ? g_part
                        : static_cast<T*>(p.out_data) + place.batch * p.out.batch + place.row * p.out.row +
                              place.column;
    const std::int64_t pitch = is_part ? Tile::kColumns : p.out.row;
    const auto is_inside = [&](int row, int column) {
      return is_part || Tile::kSize == TileSize::large ||
             (place.row + row < p.m && place.column + column < p.n);
    };
    if (Tile::kSlices == 1 && is_direct) {
#pragma unroll
      for (int i = 0; i < Tile::kThreadRows; ++i) {
        const int row = Tile::row(i / Tile::kVector) + i % Tile::kVector;
#pragma unroll
        for (int v = 0; v < Tile::kColumnVectors; ++v)
          if (is_inside(row, Tile::column(v)))
            store_vec<StorePolicy::no_allocate>(g_tile + row * pitch + Tile::column(v), sums_.vector(i, v));
      }
      return;
    }
    gather();
    if (is_direct) {
      give_vectors([&](const Vector& vec, int row, int column) {
        if (is_inside(row, column)) store_vec<StorePolicy::no_allocate>(g_tile + row * pitch + column, vec);
      });
    } else if (way.scaled) {
      // Times a stride that is 1, or the loop of large tiles gets registers that meet in banks (TRIED.md).
      const auto rows = static_cast<int>(smaller(p.m - place.row, Tile::kRows));
      give_elements<8>([&](T sum, int row, int column) {
        if (row < rows && place.column + column < p.n) g_tile[row * p.out.row + column * p.out.column] = sum;
      });
    } else {
      const Output<T> output(p, place.batch, T{1});
      give_elements<1>(
          [&](T sum, int row, int column) { output.give(sum, place.row + row, place.column + column); });
    }
    if (goes_on) __syncthreads();  // the sums have been read
  }

  // By way of shared memory, where the sums of warps that share elements are added up in the order of their slices, and from where
  // neighbours give vectors side by side: what becomes of a sum is written down once, not 128 times.
  __device__ __forceinline__ void gather() const {
    T* s_slice = s_ + Tile::slice() * (kVectors * Tile::kVector);
#pragma unroll
    for (int i = 0; i < Tile::kThreadRows; ++i)
#pragma unroll
      for (int v = 0; v < Tile::kColumnVectors; ++v)
        store_vec(
            s_slice + at(Tile::row(i / Tile::kVector) + i % Tile::kVector, Tile::column(v) / Tile::kVector),
            sums_.vector(i, v));
    __syncthreads();  // the sums are there
  }
  // Of what was gathered: vector `v` of the tile, row by row, is at place_of(v) of each slice; sum_of(v) has all slices.
  [[nodiscard]] __device__ __forceinline__ T* place_of(int v) const { return s_ + at(v / kLine, v % kLine); }
  [[nodiscard]] __device__ __forceinline__ Vector sum_of(int v) const {
    const T* s_first = place_of(v);
    Vector vec = load_vec(s_first);
#pragma unroll
    for (int slice = 1; slice < Tile::kSlices; ++slice) {
      const Vector other = load_vec(s_first + slice * (kVectors * Tile::kVector));
#pragma unroll
      for (int e = 0; e < Tile::kVector; ++e) vec[e] += other[e];
    }
    return vec;
  }

 private:
  // give(sums, row, column), a vector at a time.
  template <class Give>
  __device__ __forceinline__ void give_vectors(Give give) const {
#pragma unroll
    for (int i = 0; i < kVectors / Tile::kThreads; ++i) {
      const int vector = i * Tile::kThreads + static_cast<int>(threadIdx.x);
      give(sum_of(vector), vector / kLine, vector % kLine * Tile::kVector);
    }
  }
  // give(sum, row, column) of single elements: a warp's side by side, a thread's below each other.
  template <int kAtOnce, class Give>
  __device__ __forceinline__ void give_elements(Give give) const {
    constexpr int kStep = Tile::kThreads / Tile::kColumns;
    static_assert(kStep * Tile::kColumns == Tile::kThreads);
    const int column = static_cast<int>(threadIdx.x) % Tile::kColumns;
#pragma unroll 1
    for (int first = static_cast<int>(threadIdx.x) / Tile::kColumns; first < Tile::kRows;
         first += kAtOnce * kStep) {
      T sums[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const T* s_first = s_ + at(first + i * kStep, column / Tile::kVector) + column % Tile::kVector;
        sums[i] = s_first[0];
#pragma unroll
        for (int slice = 1; slice < Tile::kSlices; ++slice)
          sums[i] += s_first[slice * (kVectors * Tile::kVector)];
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) give(sums[i], first + i * kStep, column);
    }
  }

  // Lanes that store at once have a vector each of 8 rows, kVector rows apart: in banks of their own, where a row has so many vectors.
  __device__ __forceinline__ static int at(int row, int vector) {
    return (row * kLine + (vector ^ (row / Tile::kVector % (kLine < 8 ? kLine : 8)))) * Tile::kVector;
  }

  Sums<Tile, T>& sums_;
  T* s_;
};

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
