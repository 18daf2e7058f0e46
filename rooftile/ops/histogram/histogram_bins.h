// From an element to its bin: the same arithmetic on host and device.
#pragma once

#include <cstdint>

#include "rooftile/core/host_device.h"
#include "rooftile/ops/histogram/histogram.h"

namespace rooftile {

inline constexpr int kNoBin = -1;

// Of floats, computed in Real.
template <class Real>
struct RealBins {
  Real lower;
  Real upper;
  Real scale;  // bins per unit
  int last;
  bool closed;

  static RealBins of(const HistogramArgs& args) {
    const auto lower = static_cast<Real>(args.lower);
    const auto upper = static_cast<Real>(args.upper);
    const double scale =
        static_cast<double>(args.bins) / (static_cast<double>(upper) - static_cast<double>(lower));
    return {lower, upper, static_cast<Real>(scale), static_cast<int>(args.bins) - 1, args.closed};
  }
  // NaN is in none.
  [[nodiscard]] ROOFTILE_HOST_DEVICE int bin(Real x) const {
    if (!(x >= lower && x < upper)) return closed && x == upper ? last : kNoBin;
    const Real place = (x - lower) * scale;
    return place < static_cast<Real>(last) ? static_cast<int>(place) : last;
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
    // multiplier = floor(2^64 rest / width) + 1 is too large by less than 1 / width of 2^64: of offsets up to 2^32 the
    // product is never as much as a bin too large, of larger ones by one bin at most.
    result.kind = width <= Wide{1} << 32 ? Kind::multiply : Kind::estimate;
    result.per_number = static_cast<std::uint32_t>(bins / width);
    result.multiplier =
        static_cast<std::uint64_t>((Wide{static_cast<std::uint64_t>(bins % width)} << 64) / width + 1);
    return result;
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

// What the keys of a dtype's integers are made by: their bits, and those of the signed ones with the sign turned over.
inline std::uint64_t sign_of(DType dtype) {
  return is_signed(dtype) ? std::uint64_t{1} << (8 * size_of(dtype) - 1) : 0;
}
inline WholeBins whole_bins(const HistogramArgs& args) {
  const auto lower = static_cast<WholeBins::WideSigned>(args.lower) +
                     static_cast<WholeBins::WideSigned>(sign_of(args.in.dtype));
  return WholeBins::of(args, static_cast<std::uint64_t>(lower));
}

}  // namespace rooftile
