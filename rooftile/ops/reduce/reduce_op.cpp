#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/reduce/reduce.h"
#include "rooftile/ops/reduce/reduce_plan.h"
#include "rooftile/ops/reduce/reduce_table.h"

namespace rooftile {
namespace {

using reduce_plan::Geometry;
using reduce_plan::Pattern;

constexpr DTypeSet kFloats = {DType::f64, DType::f32, DType::f16, DType::bf16};
constexpr DTypeSet kInputs = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8,  DType::i16,
                              DType::i32, DType::i64, DType::u8,  DType::u16,  DType::u32, DType::u64};

// The dtypes that the result may have.
DTypeSet out_dtypes(ReduceOp op, DType in) {
  switch (op) {
    case ReduceOp::sum:
      if (is_float(in)) return kFloats;
      return is_signed(in) ? DTypeSet{DType::i64} : DTypeSet{DType::u64};
    case ReduceOp::mean:
      return is_float(in) ? kFloats : DTypeSet{DType::f64, DType::f32};
    case ReduceOp::min:
    case ReduceOp::max:
      return {in};
    case ReduceOp::argmin:
    case ReduceOp::argmax:
      return {DType::i64};
  }
  return {};
}

Status check_out_dtype(const ReduceArgs& args, DType out) {
  const DTypeSet legal = out_dtypes(args.op, args.in.dtype);
  if (legal.contains(out)) return {};
  return invalid_argument("out must be " + legal.to_string() + " for this op and input");
}

Status result_of(const ReduceArgs& args, TensorSpec& out) {
  ROOFTILE_TRY(check_axes(args.axes, args.in.rank(), "in"));
  if (args.out_dtype) {
    ROOFTILE_TRY(check_out_dtype(args, *args.out_dtype));
    out.dtype = *args.out_dtype;
  } else {
    out.dtype = reduce_out_dtype(args.op, args.in.dtype);
  }
  append_without(args.in.shape, AxisSet(args.axes, args.in.rank()), args.keepdims, out.shape);
  return {};
}

Status check(const ReduceArgs& args) {
  if (args.out_dtype && args.out.dtype != *args.out_dtype) {
    return invalid_argument("out_dtype is " + std::string(to_string(*args.out_dtype)) +
                            " and out is another: leave out_dtype to a call without out");
  }
  ROOFTILE_TRY(check_out_dtype(args, args.out.dtype));
  if (args.op != ReduceOp::sum && args.in.numel() == 0 && args.out.numel() > 0) {
    return invalid_argument(std::string(enum_name(args.op)) +
                            " of an empty input has no value: give at least one element");
  }
  return {};
}

bool is_arg(ReduceOp op) { return op == ReduceOp::argmin || op == ReduceOp::argmax; }

bool runs_here(std::string_view rung, const DeviceProperties& device) {
  return unavailable_reason(*reduce_operator().find_rung(rung), device).empty();
}

std::string_view choose(const ReduceArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  const Geometry shape = reduce_plan::geometry(args);
  const auto size = static_cast<std::int64_t>(size_of(args.in.dtype));
  switch (shape.pattern) {
    case Pattern::all:
      if (reduce_plan::serves_single_wave(args, device)) return "single_wave";
      // An index beside each value is bound by instructions, not by how the bytes come.
      if (is_arg(args.op) ||
          shape.reduced * size < reduce_plan::ring_from_bytes(args.op, size_of(args.in.dtype)))
        return "no_allocate_loads";
      return runs_here("bulk_ring", device) ? "bulk_ring" : "no_allocate_loads";
    case Pattern::rows:
      return shape.reduced <= reduce_plan::kWarpRowBytes / size ? "warp_per_row" : "no_allocate_loads";
    case Pattern::columns:
      return reduce_plan::serves_column_tiles(args) ? "column_tiles" : "strided_gather";
    case Pattern::strided:
      break;
  }
  return "strided_gather";
}

}  // namespace

const OperatorDescriptor& reduce_operator() {
  static const OperatorDescriptor op = describe<ReduceArgs>(
      {.name = "reduce",
       .summary =
           "the elements of a tensor, or of some of its axes, to one value: sum, mean, min, max, argmin, argmax",
       .maths =
           "y = x[0] o x[1] o ... o x[n-1] with an associative o: addition, minimum, maximum, or the better of two "
           "(value, index) pairs. Any tree over the elements gives the result, up to the rounding of a "
           "floating-point sum. mean is the sum divided by n.",
       .model =
           "reads every element once and writes one value per output; one operation per element. At a quarter of "
           "an operation per byte (f32) it is bound by memory everywhere: the roofline is the streaming read rate.",
       .source =
           "Harris, Optimizing Parallel Reduction in CUDA (2007); Luitjens, Faster Parallel Reductions on Kepler "
           "(2014)",
       .slots =
           {in("in", &ReduceArgs::in, {.dtypes = kInputs, .doc = "any shape and strides"}),
            out("out", &ReduceArgs::out, result_of,
                {.dtypes = kInputs, .dense = true, .free_ones = true, .doc = "in's shape without the axes"})},
       .params = {param("op", &ReduceArgs::op, {.doc = "what combines two elements"}),
                  param("axes", &ReduceArgs::axes,
                        {.doc = "the axes that are reduced, divided by commas, or all; -1 is the last",
                         .minimum = -kMaxRank,
                         .maximum = kMaxRank - 1,
                         .none = "all"}),
                  param("keepdims", &ReduceArgs::keepdims, {.doc = "reduced axes stay, with the extent 1"}),
                  param("out_dtype", &ReduceArgs::out_dtype,
                        {.doc = "the result's dtype; default: 64 bits for integer sums, f64 for integer "
                                "means, else the input's",
                         .none = "default"})},
       .check = check,
       .choose = choose,
       .rungs = reduce_rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS(reduce, ReduceArgs, in)

}  // namespace rooftile
