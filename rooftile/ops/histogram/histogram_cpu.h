// What the CPU rungs share: elements as what bins are computed from, and sums over a part of them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/element.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/histogram/histogram_bins.h"
#include "rooftile/ops/histogram/histogram_plan.h"

namespace rooftile::cpu::histogram_rungs {

// Adds elements first ... last - 1 to counts[bin].
template <class T, class Count>
void count_part(const HistogramArgs& args, std::int64_t first, std::int64_t last, Count* counts) {
  const T* elements = static_cast<const T*>(args.in.data);
  const auto add = [&](std::int64_t i, int bin) {
    if (bin == kNoBin) return;
    if constexpr (std::is_same_v<Count, double>) {
      counts[bin] += args.weights.dtype == DType::f64 ? static_cast<const double*>(args.weights.data)[i]
                                                      : static_cast<const float*>(args.weights.data)[i];
    } else {
      ++counts[bin];
    }
  };
  if constexpr (std::is_integral_v<T>) {
    const WholeBins bins = whole_bins(args);
    const std::uint64_t sign = sign_of(args.in.dtype);
    for (std::int64_t i = first; i < last; ++i)
      add(i, bins.bin(static_cast<std::make_unsigned_t<T>>(elements[i]) ^ sign));
  } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>) {
    const auto bins = RealBins<T>::of(args);
    for (std::int64_t i = first; i < last; ++i) add(i, bins.bin(elements[i]));
  } else {
    const auto bins = RealBins<float>::of(args);
    for (std::int64_t i = first; i < last; ++i) add(i, bins.bin(to_float(elements[i])));
  }
}

// Count: double or std::int64_t.
template <class Count>
Status count_elements(const HistogramArgs& args, std::int64_t first, std::int64_t last, Count* counts) {
  using Types = DTypes<double, float, Float16, BFloat16, std::int8_t, std::uint8_t, std::int32_t,
                       std::uint32_t, std::int64_t, std::uint64_t>;
  return dispatch(Types{}, args.in.dtype, [&]<class T>() -> Status {
    count_part<T>(args, first, last, counts);
    return {};
  });
}

template <class Count>
void store_counts(const HistogramArgs& args, const Count* counts) {
  for (std::int64_t b = 0; b < args.bins; ++b) {
    if (args.counts.dtype == DType::u32) {
      static_cast<std::uint32_t*>(args.counts.data)[b] = static_cast<std::uint32_t>(counts[b]);
    } else {
      static_cast<Count*>(args.counts.data)[b] = counts[b];
    }
  }
}

// Calls body.operator()<Count>().
template <class Body>
Status dispatch_counts(const HistogramArgs& args, Body&& body) {
  return histogram_plan::is_weighted(args) ? body.template operator()<double>()
                                           : body.template operator()<std::int64_t>();
}

}  // namespace rooftile::cpu::histogram_rungs
