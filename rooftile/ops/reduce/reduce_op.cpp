#include <algorithm>
#include <array>

#include "rooftile/core/registry.h"
#include "rooftile/ops/reduce/reduce.h"
#include "rooftile/ops/reduce/reduce_params.h"
#include "rooftile/ops/reduce/reduce_plan.h"
#include "rooftile/ops/reduce/reduce_table.h"

namespace rooftile {
namespace {

using reduce_plan::Geometry;
using reduce_plan::Pattern;

constexpr DTypeSet kFloats = {DType::f64, DType::f32, DType::f16, DType::bf16};
constexpr DTypeSet kInputs = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8,  DType::i16,
                              DType::i32, DType::i64, DType::u8,  DType::u16,  DType::u32, DType::u64};
constexpr std::array<std::string_view, 6> kOpNames = {"sum", "mean", "min", "max", "argmin", "argmax"};

std::string describe(const ReduceArgs& args) {
  return "in " + args.in.to_string() + ", out " + args.out.to_string() +
         ", op=" + std::string(kOpNames[static_cast<std::size_t>(args.op)]) +
         ", axis=" + (args.axis ? std::to_string(*args.axis) : std::string("all"));
}

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

Status check_out_shape(const ReduceArgs& args) {
  if (!args.axis) {
    return args.out.numel() == 1 ? Status() : invalid_argument("out must hold exactly one element");
  }
  const Extents wanted = without_axis(args.in.shape, reduce_plan::normalized_axis(args));
  if (!(args.out.shape == wanted)) {
    return invalid_argument("out must have the shape of in without the axis, " + wanted.to_string());
  }
  return args.out.contiguous() ? Status() : unsupported("out must be row-major without gaps");
}

// Where the call runs must be where its tensors are; make_args, which is not told, passes their own device.
Status check(const ReduceArgs& args, Device device) {
  const Status status = [&]() -> Status {
    ROOFTILE_TRY(check_view(args.in, "in"));
    ROOFTILE_TRY(check_view(args.out, "out"));
    if (!kInputs.contains(args.in.dtype)) return unsupported("in must be one of " + kInputs.to_string());
    if (args.axis && (*args.axis < -args.in.rank() || *args.axis >= args.in.rank())) {
      return invalid_argument("in has no such axis: choose one of " + std::to_string(args.in.rank()) +
                              ", or none for all elements");
    }
    if (const DTypeSet legal = out_dtypes(args.op, args.in.dtype); !legal.contains(args.out.dtype)) {
      return invalid_argument("out must be " + legal.to_string() + " for this op and input");
    }
    ROOFTILE_TRY(check_out_shape(args));
    if (args.in.device != args.out.device) return invalid_argument("in and out must be on the same device");
    if (args.in.device != device) {
      return invalid_argument("the tensors are on " + to_string(args.in.device) + " and the call runs on " +
                              to_string(device) + ": use a Context or stream of their device");
    }
    const Geometry shape = reduce_plan::geometry(args);
    if (args.op != ReduceOp::sum && shape.reduced == 0 && shape.outputs() > 0) {
      return invalid_argument(std::string(kOpNames[static_cast<std::size_t>(args.op)]) +
                              " of an empty input has no value: give at least one element");
    }
    if (overlaps(args.in, args.out)) return invalid_argument("out must not overlap in");
    return {};
  }();
  return status.with_operator("reduce").with_shapes(describe(args));
}

Result<AnyArgs> make_args(std::span<const TensorView> tensors, const Params& params) {
  ReduceArgs args{.in = tensors[0],
                  .out = tensors[1],
                  .op = reduce_params::op(params),
                  .axis = reduce_params::axis(params)};
  ROOFTILE_TRY(check(args, args.in.device));
  return AnyArgs::of(args);
}

Result<std::vector<TensorSpec>> infer_outputs(std::span<const TensorSpec> inputs, const Params& params) {
  std::optional<int> axis = reduce_params::axis(params);
  const int rank = inputs[0].shape.rank();
  if (axis && *axis < 0) *axis += rank;
  if (axis && (*axis < 0 || *axis >= rank)) {
    return invalid_argument("in has no axis " + std::to_string(*reduce_params::axis(params)) + ": it has " +
                            std::to_string(rank))
        .with_operator("reduce");
  }
  ROOFTILE_TRY_ASSIGN(const DType dtype, reduce_params::out_dtype(params, inputs[0].dtype));
  return std::vector<TensorSpec>{{dtype, without_axis(inputs[0].shape, axis)}};
}

bool is_arg(ReduceOp op) { return op == ReduceOp::argmin || op == ReduceOp::argmax; }

bool runs_here(std::string_view rung, const DeviceProperties& device) {
  return unavailable_reason(*reduce_operator().find_rung(rung), device).empty();
}

std::string choose(const AnyArgs& any, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  const auto& args = any.as<ReduceArgs>();
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

OperatorDescriptor make_descriptor() {
  OperatorDescriptor op;
  op.name = "reduce";
  op.summary =
      "the elements of a tensor, or of one of its axes, to one value: sum, mean, min, max, argmin, argmax";
  op.maths =
      "y = x[0] o x[1] o ... o x[n-1] with an associative o: addition, minimum, maximum, or the better of "
      "two "
      "(value, index) pairs. Any tree over the elements gives the result, up to the rounding of a "
      "floating-point sum. mean is the sum divided by n.";
  op.model =
      "reads every element once and writes one value per output; one operation per element. At a quarter of "
      "an operation per byte (f32) it is bound by memory everywhere: the roofline is the streaming read "
      "rate.";
  op.source =
      "Harris, Optimizing Parallel Reduction in CUDA (2007); Luitjens, Faster Parallel Reductions on "
      "Kepler (2014)";
  op.slots = {
      {.name = "in", .direction = SlotDirection::in, .dtypes = kInputs, .doc = "any shape and strides"},
      {.name = "out",
       .direction = SlotDirection::out,
       .dtypes = kInputs,
       .doc = "one element, or in's shape without the axis"}};
  op.params = reduce_params::specs();
  op.make_args = make_args;
  op.infer_outputs = infer_outputs;
  op.choose = choose;
  op.rungs = reduce_rung_table();
  return op;
}

}  // namespace

const OperatorDescriptor& reduce_operator() {
  static const OperatorDescriptor descriptor = make_descriptor();
  return descriptor;
}

Status reduce(Context& context, const ReduceArgs& args) {
  ROOFTILE_TRY(check(args, context.device()));
  if (args.out.numel() == 0) return {};
  return run_chosen(reduce_operator(), context, AnyArgs::of(args));
}

Result<WorkspaceSpec> reduce_workspace(const ReduceArgs& args, Device device) {
  ROOFTILE_TRY(check(args, device));
  if (args.out.numel() == 0) return WorkspaceSpec{};
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  return chosen_workspace(reduce_operator(), AnyArgs::of(args), *properties);
}

Status reduce(StreamRef stream, const ReduceArgs& args, const Workspace& workspace) {
  ROOFTILE_TRY(check(args, stream.device));
  if (args.out.numel() == 0) return {};
  return run_chosen(reduce_operator(), stream, AnyArgs::of(args), workspace);
}

void register_reduce(Registry& registry) { registry.add(reduce_operator()); }

}  // namespace rooftile
