// From an element to its bin: the same arithmetic on host and device.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "rooftile/core/host_device.h"
#include "rooftile/ops/histogram/histogram.h"

namespace rooftile {

inline constexpr int kNoBin = -1;

// Of floats, computed in Real. Without a branch, as the place of what is in no bin is computed, too.
template <class Real>
struct RealBins {
  Real lower;
  Real end;    // the first number beyond the range
  Real scale;  // bins per unit
  int last;

  static RealBins of(const HistogramArgs& args) {
    const auto lower = static_cast<Real>(args.lower);
    const auto upper = static_cast<Real>(args.upper);
    const double scale =
        static_cast<double>(args.bins) / (static_cast<double>(upper) - static_cast<double>(lower));
    const Real beyond = std::nextafter(upper, std::numeric_limits<Real>::infinity());
    return {lower, args.closed ? beyond : upper, static_cast<Real>(scale), static_cast<int>(args.bins) - 1};
  }
  // NaN is in none.
  [[nodiscard]] ROOFTILE_HOST_DEVICE int bin(Real x) const {
    const auto most = static_cast<Real>(last);
    Real place = (x - lower) * scale;
    place = place > 0 ? place : Real{0};
    const int b = place < most ? static_cast<int>(place) : last;
    return x >= lower && x < end ? b : kNoBin;
  }
};

// Of integers as 64-bit numbers that rise with them. A key is `offset` above the first number of the range, whose `width`
// numbers lie evenly in the bins: bin = floor(offset bins / width), without a division.
struct WholeBins {
  __extension__ using Wide = unsigned __int128;
  __extension__ using WideSigned = __int128;
  enum class Kind {
    shift,     // width / bins is a power of two
    multiply,  // width of at most 2^32
    estimate,  // wider
  };

  std::uint64_t first;        // of the range
  std::uint64_t last_offset;  // that is in the range
  std::uint64_t width_low;    // width = 2^64 width_high + width_low
  std::uint64_t multiplier;
  std::uint32_t width_high;
  std::uint32_t bins;
  std::uint32_t per_number;  // whole bins to a number, of `multiply`
  Kind kind;
  int shift;

  // `key_of_lower`: the key of the number args.lower, modulo 2^64.
  static WholeBins of(const HistogramArgs& args, std::uint64_t key_of_lower) {
    // Whole numbers, so that the differences are exact.
    const auto width =
        static_cast<Wide>(static_cast<WideSigned>(args.upper) - static_cast<WideSigned>(args.lower));
    const auto bins = static_cast<std::uint32_t>(args.bins);
    WholeBins result{.first = key_of_lower,
                     .last_offset = static_cast<std::uint64_t>(width - 1),
                     .width_low = static_cast<std::uint64_t>(width),
                     .multiplier = 0,
                     .width_high = static_cast<std::uint32_t>(width >> 64),
                     .bins = bins,
                     .per_number = 0,
                     .kind = Kind::shift,
                     .shift = 0};
    // The number one beyond those of 64 bits is nobody's, and its key is that of the lowest.
    const bool has_upper =
        size_of(args.in.dtype) < sizeof(std::uint64_t) || key_of_lower + result.width_low != 0;
    if (args.closed && has_upper) ++result.last_offset;
    const Wide ratio = width / bins;
    if (width % bins == 0 && (ratio & (ratio - 1)) == 0) {
      // Of a single bin of 2^64 numbers 63: what is too large is in the last one.
      while (result.shift < 63 && Wide{1} << result.shift < ratio) ++result.shift;
      return result;
    }
    // The reciprocal is too large by less than 1 / width of 2^64: of offsets up to 2^32 the product is never as much as a bin
    // too large, of larger ones by one bin at most.
    result.kind = width <= Wide{1} << 32 ? Kind::multiply : Kind::estimate;
    result.per_number = static_cast<std::uint32_t>(bins / width);
    result.multiplier = reciprocal(args, width);
    return result;
  }
  // floor(2^64 (bins modulo width) / width) + 1.
  static std::uint64_t reciprocal(const HistogramArgs& args, Wide width) {
    const Wide rest = static_cast<std::uint32_t>(args.bins) % width;
    return static_cast<std::uint64_t>((rest << 64) / width + 1);
  }

  [[nodiscard]] ROOFTILE_HOST_DEVICE int bin(std::uint64_t key) const {
    const std::uint64_t offset = key - first;
    if (offset > last_offset) return kNoBin;
    std::uint64_t b = offset >> shift;
    if (kind != Kind::shift) {
      b = offset * per_number + static_cast<std::uint64_t>(Wide{offset} * multiplier >> 64);
      if (kind == Kind::estimate && is_behind(b, offset)) --b;
    }
    return b < bins ? static_cast<int>(b) : static_cast<int>(bins) - 1;  // upper itself
  }

 private:
  // Whether bin b begins behind the offset: b width > offset bins.
  [[nodiscard]] ROOFTILE_HOST_DEVICE bool is_behind(std::uint64_t b, std::uint64_t offset) const {
    return Wide{b} * width_low + (Wide{b} * width_high << 64) > Wide{offset} * bins;
  }
};

// The same of keys of 32 bits in a range that 32 bits hold: three multiplications and no branch. GPUs multiply words of 32 bits.
struct NarrowBins {
  std::uint64_t multiplier;
  std::uint32_t first;
  std::uint32_t last_offset;
  std::uint32_t per_number;
  std::uint32_t last;

  // Of a range within the keys.
  static NarrowBins of(const HistogramArgs& args, const WholeBins& bins) {
    const WholeBins::Wide width = (WholeBins::Wide{bins.width_high} << 64) + bins.width_low;
    // Behind the last key of 32 bits there is none: offsets do not come round.
    const std::uint64_t most = 0xffffffffu - bins.first;
    return {.multiplier = WholeBins::reciprocal(args, width),
            .first = static_cast<std::uint32_t>(bins.first),
            .last_offset = static_cast<std::uint32_t>(bins.last_offset < most ? bins.last_offset : most),
            .per_number = static_cast<std::uint32_t>(bins.bins / width),
            .last = bins.bins - 1};
  }
  [[nodiscard]] ROOFTILE_HOST_DEVICE int bin(std::uint32_t key) const {
    const std::uint32_t offset = key - first;
    // The upper word of offset multiplier / 2^32.
    const std::uint64_t low = std::uint64_t{offset} * static_cast<std::uint32_t>(multiplier) >> 32;
    const std::uint64_t product = std::uint64_t{offset} * (multiplier >> 32) + low;
    const std::uint32_t b = offset * per_number + static_cast<std::uint32_t>(product >> 32);
    const int inside = static_cast<int>(b < last ? b : last);  // upper itself
    return offset <= last_offset ? inside : kNoBin;
  }
};

// What the keys of a dtype's integers are made by: their bits, and those of the signed ones with the sign turned over.
inline std::uint64_t sign_of(DType dtype) {
  return is_signed(dtype) ? std::uint64_t{1} << (8 * size_of(dtype) - 1) : 0;
}
// Whether an integer dtype holds all numbers from lower to below upper.
inline bool holds_bounds(DType dtype, double lower, double upper) {
  const double numbers = std::ldexp(1.0, 8 * static_cast<int>(size_of(dtype)));
  const double least = is_signed(dtype) ? -numbers / 2 : 0.0;
  return lower >= least && upper <= least + numbers;
}
inline WholeBins whole_bins(const HistogramArgs& args) {
  const auto lower = static_cast<WholeBins::WideSigned>(args.lower) +
                     static_cast<WholeBins::WideSigned>(sign_of(args.in.dtype));
  return WholeBins::of(args, static_cast<std::uint64_t>(lower));
}

}  // namespace rooftile
