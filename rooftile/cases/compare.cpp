#include "rooftile/cases/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "rooftile/cases/elements.h"
#include "rooftile/cases/rounding.h"

namespace rooftile {
namespace {

class Mismatches {
 public:
  void add(std::int64_t index, const std::string& what) {
    if (count_++ == 0) first_ = fmt::format("element {}: {}", index, what);
  }
  [[nodiscard]] bool none() const { return count_ == 0; }
  [[nodiscard]] std::string text(std::int64_t numel) const {
    return count_ <= 1 ? first_ : fmt::format("{}; {} of {} elements differ", first_, count_, numel);
  }

 private:
  std::int64_t count_ = 0;
  std::string first_;
};

std::string integer_text(const HostTensor& tensor, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  switch (tensor.dtype()) {
    case DType::i64:
      return fmt::format("{}", tensor.as<std::int64_t>()[at]);
    case DType::u64:
      return fmt::format("{}", tensor.as<std::uint64_t>()[at]);
    default:
      return fmt::format("{:.0f}", tensor.at(i));
  }
}

// Of element i of the reference: which one of the output it is.
std::int64_t place_of(const Expected& expected, std::int64_t i) {
  return expected.indices.empty() ? i : expected.indices[static_cast<std::size_t>(i)];
}

std::string element_text(const HostTensor& tensor, std::int64_t i) {
  if (!is_float(tensor.dtype())) return integer_text(tensor, i);
  return fmt::format("{:.9g} (bits {:#x})", tensor.at(i), element_bits(tensor, i));
}

Comparison compare_bits(const HostTensor& out, const Expected& expected) {
  Comparison result;
  const HostTensor& exact = expected.exact;
  if (expected.indices.empty() &&
      (out.bytes() == 0 || std::memcmp(out.data(), exact.data(), out.bytes()) == 0))
    return result;
  Mismatches mismatches;
  for (std::int64_t i = 0; i < exact.numel(); ++i) {
    const std::int64_t at = place_of(expected, i);
    if (element_bits(out, at) == element_bits(exact, i)) continue;
    result.nan_bits_alone =
        (mismatches.none() || result.nan_bits_alone) && std::isnan(out.at(at)) && std::isnan(exact.at(i));
    mismatches.add(at,
                   fmt::format("got {}, expected exactly {}", element_text(out, at), element_text(exact, i)));
    if (const double error = std::abs(out.at(at) - exact.at(i)); std::isfinite(error))
      result.max_error = std::max(result.max_error, error);
  }
  result.mismatch = mismatches.text(exact.numel());
  return result;
}

Comparison compare_floats(const HostTensor& out, const Expected& expected) {
  Comparison result;
  Mismatches mismatches;
  const std::span<const double> exact = expected.exact.as<double>();
  const bool has_baseline = expected.same_precision.numel() > 0;
  for (std::int64_t i = 0; i < expected.exact.numel(); ++i) {
    const std::int64_t at = place_of(expected, i);
    const double got = out.at(at);
    const double want = exact[static_cast<std::size_t>(i)];
    const double place = rounded_to(out.dtype(), want);
    if (std::isnan(place)) {
      if (!std::isnan(got)) mismatches.add(at, fmt::format("got {:.9g}, expected NaN", got));
      continue;
    }
    if (std::isinf(place)) {
      if (!(got == place)) mismatches.add(at, fmt::format("got {:.9g}, expected {:.9g}", got, place));
      continue;
    }
    // A baseline that overflowed says nothing: the floor alone decides then.
    double baseline_error = 0.0;
    if (has_baseline) baseline_error = std::abs(expected.same_precision.at(i) - want);
    if (!std::isfinite(baseline_error)) baseline_error = 0.0;
    const double floor = expected.floors.numel() > 0 ? expected.floors.at(i) : expected.floor;
    const double tolerance = expected.factor * baseline_error + floor;
    const double error = std::abs(got - want);
    result.allowed.error = std::max(result.allowed.error, tolerance);
    result.allowed.largest = std::max(result.allowed.largest, std::abs(want));
    if (!(error <= tolerance) || !std::isfinite(tolerance)) {
      mismatches.add(
          at, fmt::format("got {:.9g}, expected {:.9g}, off by {:.3g} where {:.3g} is allowed ({})", got,
                          want, error, tolerance, expected.rule.empty() ? "the case's rule" : expected.rule));
    }
    if (std::isfinite(error)) result.max_error = std::max(result.max_error, error);
  }
  result.mismatch = mismatches.text(expected.exact.numel());
  return result;
}

}  // namespace

Comparison compare(const HostTensor& out, const Expected& expected) {
  const bool moved = is_float(out.dtype()) && expected.bitwise;
  const DType wanted = is_float(out.dtype()) && !moved ? DType::f64 : out.dtype();
  const bool sampled = !expected.indices.empty();
  const std::int64_t elements = sampled ? std::ssize(expected.indices) : out.numel();
  const bool inside = !sampled || (expected.indices.front() >= 0 && expected.indices.back() < out.numel() &&
                                   std::is_sorted(expected.indices.begin(), expected.indices.end()));
  if (expected.exact.dtype() != wanted || expected.exact.numel() != elements || !inside) {
    return {
        .mismatch = fmt::format(
            "the reference gives {}{} for an output of {}{}: it must be {} there (f64 for every float, an integer's "
            "own dtype), of as many elements",
            to_string(expected.exact.dtype()), expected.exact.shape().to_string(), to_string(out.dtype()),
            out.shape().to_string(), to_string(wanted))};
  }
  const HostTensor& baseline = expected.same_precision;
  if (baseline.numel() > 0 && (baseline.dtype() != DType::f64 || baseline.numel() != elements)) {
    return {.mismatch = fmt::format("the reference's same_precision is {}{}: it must be f64 of {} elements",
                                    to_string(baseline.dtype()), baseline.shape().to_string(), elements)};
  }
  const HostTensor& floors = expected.floors;
  if (floors.numel() > 0 && (floors.dtype() != DType::f64 || floors.numel() != elements)) {
    return {.mismatch = fmt::format("the reference's floors are {}{}: they must be f64 of {} elements",
                                    to_string(floors.dtype()), floors.shape().to_string(), elements)};
  }
  return wanted == DType::f64 && !moved && is_float(out.dtype()) ? compare_floats(out, expected)
                                                                 : compare_bits(out, expected);
}

}  // namespace rooftile
