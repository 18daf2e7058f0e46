#include <vector>

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

Extents without_axis(const Extents& shape, std::optional<int> axis) {
  if (!axis) return Extents{};
  std::vector<std::int64_t> kept;
  for (int d = 0; d < shape.rank(); ++d) {
    if (d != *axis) kept.push_back(shape[d]);
  }
  return Extents(kept);
}

Status check_axis(std::optional<int> axis, int rank) {
  if (!axis || (*axis >= -rank && *axis < rank)) return {};
  return invalid_argument("in has no axis " + std::to_string(*axis) + ": choose one of " +
                          std::to_string(rank) + ", or none for all elements");
}

Status check_out_shape(const ReduceArgs& args) {
  if (!args.axis) {
    return args.out.numel() == 1 ? Status() : invalid_argument("out must hold exactly one element");
  }
  const Extents wanted = without_axis(args.in.shape, reduce_plan::normalized_axis(args));
  return args.out.shape == wanted
             ? Status()
             : invalid_argument("out must have the shape of in without the axis, " + wanted.to_string());
}

Status check(const ReduceArgs& args) {
  ROOFTILE_TRY(check_axis(args.axis, args.in.rank()));
  if (const DTypeSet legal = out_dtypes(args.op, args.in.dtype); !legal.contains(args.out.dtype))
    return invalid_argument("out must be " + legal.to_string() + " for this op and input");
  ROOFTILE_TRY(check_out_shape(args));
  const Geometry shape = reduce_plan::geometry(args);
  if (args.op != ReduceOp::sum && shape.reduced == 0 && shape.outputs() > 0) {
    return invalid_argument(std::string(enum_name(args.op)) +
                            " of an empty input has no value: give at least one element");
  }
  return {};
}

Result<std::vector<TensorSpec>> infer_outputs(std::span<const TensorSpec> inputs, const Params& params) {
  const TensorSpec& in = inputs[0];
  std::optional<int> axis = params.get_optional_int("axis");
  ROOFTILE_TRY(check_axis(axis, in.shape.rank()));
  if (axis && *axis < 0) *axis += in.shape.rank();
  const auto op = enum_value<ReduceOp>(params.get_string("op"));
  const DType dtype = params.get_optional_dtype("out_dtype").value_or(reduce_out_dtype(op, in.dtype));
  return std::vector<TensorSpec>{{dtype, without_axis(in.shape, axis)}};
}

// What the lab asks for: a call gives `out`, and so its dtype.
Param<ReduceArgs> out_dtype() {
  return {
      .spec = {
          .name = "out_dtype",
          .default_value = NoValue{"default"},
          .doc =
              "the result's dtype; default: 64 bits for integer sums, f64 for integer means, else the input's",
          .none = "default",
          .type = ParamType::dtype}};
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
           "the elements of a tensor, or of one of its axes, to one value: sum, mean, min, max, argmin, argmax",
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
            out("out", &ReduceArgs::out,
                {.dtypes = kInputs, .dense = true, .doc = "one element, or in's shape without the axis"})},
       .params = {param("op", &ReduceArgs::op, {.doc = "what combines two elements"}),
                  param("axis", &ReduceArgs::axis,
                        {.doc = "the axis that is reduced, or all elements; -1 is the last",
                         .minimum = -kMaxRank,
                         .maximum = kMaxRank - 1,
                         .none = "all"}),
                  out_dtype()},
       .check = check,
       .infer_outputs = infer_outputs,
       .choose = choose,
       .rungs = reduce_rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS(reduce, ReduceArgs)

}  // namespace rooftile
