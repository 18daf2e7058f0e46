#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/histogram/histogram_bins.h"
#include "rooftile/ops/histogram/histogram_plan.h"
#include "rooftile/ops/histogram/histogram_table.h"

namespace rooftile {
namespace {

const DTypeSet kDTypes = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8,
                          DType::u8,  DType::i32, DType::u32, DType::i64,  DType::u64};

Status spec_of_counts(const HistogramArgs& args, TensorSpec& counts) {
  const DType wanted = histogram_plan::is_weighted(args) ? DType::f64 : DType::i64;
  counts = {args.counts_dtype.value_or(wanted), Extents{args.bins}};
  const bool is_whole = counts.dtype == DType::i64 || counts.dtype == DType::u32;
  if (histogram_plan::is_weighted(args) ? counts.dtype == DType::f64 : is_whole) return {};
  return invalid_argument(histogram_plan::is_weighted(args)
                              ? "counts_dtype must be f64 where there are weights"
                              : "counts_dtype must be i64 or u32");
}

// The least and the largest bound of integers: of 32 bits and less whatever a double has exactly.
double least_bound(DType dtype) {
  if (size_of(dtype) < 8) return -0x1p53;
  return dtype == DType::i64 ? -0x1p63 : 0.0;
}
double largest_bound(DType dtype) {
  if (size_of(dtype) < 8) return 0x1p53;
  return dtype == DType::i64 ? 0x1p63 : 0x1p64;
}

// Whether bins can be computed in Real.
template <class Real>
bool are_apart(const HistogramArgs& args) {
  const auto bins = RealBins<Real>::of(args);
  const auto upper = static_cast<Real>(args.upper);
  return bins.lower < upper && std::isfinite(upper - bins.lower) && std::isfinite(bins.scale) &&
         bins.scale > 0;
}

Status check(const HistogramArgs& args) {
  const bool is_finite = std::isfinite(args.lower) && std::isfinite(args.upper);
  if (!is_finite || !(args.lower < args.upper))
    return invalid_argument("lower is " + std::to_string(args.lower) + " and upper " +
                            std::to_string(args.upper) + ": give finite bounds, the lower one first");
  const DType dtype = args.in.dtype;
  if (!is_float(dtype)) {
    const bool is_whole = args.lower == std::floor(args.lower) && args.upper == std::floor(args.upper);
    if (!is_whole || args.lower < least_bound(dtype) || args.upper > largest_bound(dtype)) {
      return invalid_argument("bounds of " + std::string(to_string(dtype)) +
                              " elements are whole numbers from " + std::to_string(least_bound(dtype)) +
                              " to " + std::to_string(largest_bound(dtype)));
    }
  } else if (dtype == DType::f64 ? !are_apart<double>(args) : !are_apart<float>(args)) {
    return invalid_argument(std::string("the bounds are rounded to ") +
                            (dtype == DType::f64 ? "f64" : "f32") +
                            ", where their difference, and the bins to a unit, must be finite and not 0");
  }
  if (args.counts.dtype == DType::u32 && args.in.numel() > std::numeric_limits<std::uint32_t>::max())
    return invalid_argument("counts of 2^32 elements and more are i64");
  return {};
}

}  // namespace

const OperatorDescriptor& histogram_operator() {
  static const OperatorDescriptor op = describe<HistogramArgs>(
      {.name = "histogram",
       .summary = "how many elements lie in each of some bins of equal width",
       .maths =
           "counts[b] = the number (or the weights' sum) of the x with floor((x - lower) bins / (upper - lower)) = b.",
       .model =
           "reads every element once (and its weight), adds one to a counter: bound by memory, or by the additions.",
       .source =
           "Podlozhnyuk, Histogram calculation in CUDA (2007); Gómez-Luna et al., An optimized approach to histogram computation "
           "on GPU (2013)",
       .slots = {in("in", &HistogramArgs::in, {.dtypes = kDTypes, .dense = true, .doc = "any shape"}),
                 in("weights", &HistogramArgs::weights,
                    {.dtypes = {DType::f64, DType::f32},
                     .shape_of = "in",
                     .dense = true,
                     .optional = true,
                     .doc = "what an element counts; none: one"}),
                 out("counts", &HistogramArgs::counts, spec_of_counts,
                     {.dtypes = {DType::i64, DType::u32, DType::f64}, .dense = true, .doc = "of each bin"})},
       .params =
           {param(
                "bins", &HistogramArgs::bins,
                {.doc = "how many", .minimum = 1, .maximum = static_cast<double>(histogram_plan::kMostBins)}),
            param("lower", &HistogramArgs::lower, {.doc = "where the first bin begins"}),
            param("upper", &HistogramArgs::upper, {.doc = "where the last bin ends"}),
            param("closed", &HistogramArgs::closed, {.doc = "the last bin has upper, too"}),
            param("counts_dtype", &HistogramArgs::counts_dtype,
                  {.doc = "i64 or u32, with weights f64; default: i64", .none = "default"}),
            case_param<HistogramArgs>(
                "weighted", {.doc = "the bytes of a weight that a case draws: 4 or 8; none: no weights",
                             .minimum = 4,
                             .maximum = 8}),
            case_param<HistogramArgs>(
                "distinct",
                {.doc = "the share of the bins that a case's elements are drawn from; none: the fill's",
                 .minimum = 0,
                 .maximum = 1}),
            case_param<HistogramArgs>(
                "zipf", {.doc = "the exponent of Zipf's law that a case's bins are drawn by; none: all alike",
                         .minimum = 0,
                         .maximum = 4})},
       .check = check,
       .choose = histogram_choose,
       .rungs = histogram_rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS(histogram, HistogramArgs, in)

}  // namespace rooftile
