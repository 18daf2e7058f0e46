// Rows as their elements' differences from one of them, the pivot, which all blocks of a row know: their sums are of the same kind, and are
// added up. Sums about each part's own mean (row_parts.h) cost one more walk over the row, a division and three exchanges: 0.4 us of 11.
//
//   Origin from{1.0f, an element};
//   row.take(from);
//   taken = DifferencesTaken::of(sums of the whole row, from, length, eps);
//   while (taken.again) ...  // twice at most: load the row again and take it from taken.next
//
// Source: Chan, Golub and LeVeque, "Algorithms for computing the sample variance" (1983), of shifted data.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "rooftile/families/norm/rungs/norm_device.h"

namespace rooftile::ROOFTILE_TARGET::norm {

// What differences are of and from: x * scale - pivot.
struct Origin {
  float scale;
  float pivot;
};

// A row as its differences, in place of what was loaded.
template <class Row>
class DifferenceRow : public Row {
 public:
  using Vector = Vec<float, Row::kElements>;

  // Behind load().
  __device__ __forceinline__ void take(const Origin& from) {
#pragma unroll
    for (int v = 0; v < Row::kVectors; ++v) {
      differences_[v] = as_floats(Row::vector(v));
#pragma unroll
      for (int e = 0; e < Row::kElements; ++e) {
        differences_[v][e] = fmaf(differences_[v][e], from.scale, -from.pivot);
#if !defined(ROOFTILE_SIM)
        asm("" : "+f"(differences_[v][e]));  // nvcc would keep what was loaded, and make them twice
#endif
      }
    }
  }
  __device__ __forceinline__ Vector vector(int v) const { return differences_[v]; }

  [[nodiscard]] __device__ __forceinline__ Differences sums() const {
    Differences found;
#pragma unroll
    for (int v = 0; v < Row::kVectors; ++v) {
      if (!Row::has_all(Row::first(v))) continue;
#pragma unroll
      for (int e = 0; e < Row::kElements; ++e) found.add(differences_[v][e]);
    }
    return found;
  }

 private:
  Vector differences_[Row::kVectors];
};

// How parts' sums become a row's: all are of differences from the same number, so that they are added up, and nothing else. Squares are not
// negative: with their sign bit set the word is not 0, which stands for nothing yet.
struct DifferenceWords {
  struct Stats {
    float sum;
    float squares;
  };
  static constexpr int kTakes = norm_plan::kTakes;
  static constexpr std::uint32_t kIsThere = 0x80000000u;

  template <class T>
  __device__ __forceinline__ static T filler() {
    return T{};
  }
  template <class Lanes>
  __device__ __forceinline__ static Stats over_lanes(Lanes lanes, const Stats& own) {
    return {lanes_sum(lanes, own.sum), lanes_sum(lanes, own.squares)};
  }
  __device__ __forceinline__ static std::uint64_t word_of(const Stats& stats) {
    return std::uint64_t{__float_as_uint(stats.sum)} << 32 | (__float_as_uint(stats.squares) | kIsThere);
  }
  __device__ __forceinline__ static Stats stats_in(std::uint64_t word, float) {
    return {__uint_as_float(static_cast<std::uint32_t>(word >> 32)),
            __uint_as_float(static_cast<std::uint32_t>(word) & ~kIsThere)};
  }
  template <int kOwn>
  __device__ __forceinline__ static Stats of_parts(const Stats (&own)[kOwn]) {
    Stats all = own[0];
#pragma unroll
    for (int k = 1; k < kOwn; ++k) {
      all.sum += own[k].sum;
      all.squares += own[k].squares;
    }
    return over_lanes(std::integral_constant<int, kWarpSize>{}, all);
  }
};

// What one take of a row says: from differences to results, and whether others are to be taken. Where squares leave the range, by elements
// that are scaled; where the pivot is so far from the mean that its distance is most of the squares, from that mean. A row may need the
// one and then the other, in this order.
struct DifferencesTaken {
  // The largest (mean - pivot)^2 / variance that is good enough: a pivot four deviations from the mean, which few rows have, costs four bits.
  static constexpr float kFar = 16;

  Results results;
  Origin next;
  bool again;

  __device__ __forceinline__ static DifferencesTaken of(const DifferenceWords::Stats& found,
                                                        const Origin& from, float length, float eps) {
    const auto stats = Centred::about(0.0f, length, {found.sum, found.squares});
    const float off = stats.mean;
    const float mean = from.pivot + off;
    DifferencesTaken taken{Results::of<Centred>(stats, from.scale, length, eps), from, false};
    taken.results.scale = 1.0f;  // differences are of scaled elements
    const float scale = from.scale == 1.0f ? Range::scale_for(stats.squares, mean, length, eps) : 1.0f;
    if (scale != 1.0f) {
      const bool is_number = fabsf(mean) <= std::numeric_limits<float>::max();
      taken.next = {scale, (is_number ? mean : from.pivot) * scale};
      taken.again = true;
    } else if (off * off * length > kFar * stats.squares) {
      taken.next = {from.scale, mean};
      taken.again = true;
    }
    return taken;
  }
};

}  // namespace rooftile::ROOFTILE_TARGET::norm
