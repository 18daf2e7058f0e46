#include <cmath>
#include <string>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/scan/scan_table.h"

namespace rooftile {
namespace {

const DTypeSet kDTypes = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8,
                          DType::u8,  DType::i32, DType::u32, DType::i64,  DType::u64};

// The largest double that an initial value of an integer dtype may be: all whole numbers up to it are the dtype's.
double most_of(DType dtype) {
  const int bits = 8 * static_cast<int>(size_of(dtype)) - (is_signed(dtype) ? 1 : 0);
  return bits > 53 ? 0x1p53 : std::ldexp(1.0, bits) - 1;
}

Status check(const ScanArgs& args) {
  if (!args.initial || is_float(args.in.dtype)) return {};
  const DType dtype = args.in.dtype;
  const double most = most_of(dtype);
  const double least = !is_signed(dtype) ? 0 : most == 0x1p53 ? -most : -most - 1;
  const double x = *args.initial;
  if (x >= least && x <= most && x == std::floor(x)) return {};
  return invalid_argument("initial must be a whole number that " + std::string(to_string(dtype)) +
                          " holds, of at most 2^53");
}

}  // namespace

const OperatorDescriptor& scan_operator() {
  static const OperatorDescriptor op = describe<ScanArgs>(
      {.name = "scan",
       .summary = "prefix sums, minima and maxima along the last axis, inclusive or exclusive",
       .maths =
           "inclusive: y[i] = initial o x[0] o ... o x[i]; exclusive: the same without x[i]. o is associative: addition, "
           "minimum or maximum; any tree over the elements in front gives a result, up to rounding.",
       .model =
           "reads every element once and writes it once, one operation for each: bound by memory everywhere.",
       .source =
           "Blelloch, Prefix sums and their applications (1990); Merrill and Garland, Single-pass Parallel Prefix Scan with "
           "Decoupled Look-back (2016)",
       .slots =
           {in("in", &ScanArgs::in,
               {.dtypes = kDTypes, .min_rank = 1, .dense = true, .doc = "rows along the last axis"}),
            out("out", &ScanArgs::out,
                {.dtype_of = "in", .shape_of = "in", .dense = true, .may_alias = "in", .doc = "in's shape"})},
       .params = {param("op", &ScanArgs::op, {.doc = "what combines two elements"}),
                  param("exclusive", &ScanArgs::exclusive,
                        {.doc = "an element's result is of those in front of it alone"}),
                  param("initial", &ScanArgs::initial,
                        {.doc =
                             "what stands in front of every row; default: 0 for sum, nothing for min and max",
                         .none = "default"})},
       .check = check,
       .choose = scan_choose,
       .rungs = scan_rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS(scan, ScanArgs, in)

}  // namespace rooftile
