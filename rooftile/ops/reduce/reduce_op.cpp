#include "rooftile/core/registry.h"
#include "rooftile/ops/reduce/reduce.h"
#include "rooftile/ops/reduce/reduce_plan.h"
#include "rooftile/ops/reduce/rungs.h"

namespace rooftile {
namespace {

std::string describe(const ReduceArgs& args) {
  return "in " + args.in.to_string() + ", out " + args.out.to_string() + ", op=" +
         (args.op == ReduceOp::sum ? "sum" : "max");
}

// Where the call runs must be where its tensors are; make_args, which is not told, passes their own device.
Status check(const ReduceArgs& args, Device device) {
  const Status status = [&]() -> Status {
    ROOFTILE_TRY(check_view(args.in, "in"));
    ROOFTILE_TRY(check_view(args.out, "out"));
    if (args.in.dtype != DType::f32 && args.in.dtype != DType::i32) {
      return unsupported("in must be f32 or i32");
    }
    if (args.out.dtype != reduce_out_dtype(args.op, args.in.dtype)) {
      return invalid_argument("out must be " + std::string(to_string(reduce_out_dtype(args.op, args.in.dtype))) +
                              " for this op and input");
    }
    if (args.out.numel() != 1) return invalid_argument("out must hold exactly one element");
    if (args.in.device != args.out.device) return invalid_argument("in and out must be on the same device");
    if (args.in.device != device) {
      return invalid_argument("the tensors are on " + to_string(args.in.device) + " and the call runs on " +
                              to_string(device) + ": use a Context or stream of their device");
    }
    if (!args.in.contiguous()) return unsupported("in must be row-major without gaps: copy it first");
    if (args.op == ReduceOp::max && args.in.numel() == 0) {
      return invalid_argument("max of an empty input has no value: give at least one element");
    }
    if (overlaps(args.in, args.out)) return invalid_argument("out must not overlap in");
    return {};
  }();
  return status.with_operator("reduce").with_shapes(describe(args));
}

// The lesson rungs are compiled for f32 alone: the lesson is the access pattern, not the type.
std::string supports_f32(const ReduceArgs& args, const DeviceProperties&) {
  return args.in.dtype == DType::f32 ? "" : "a lesson rung: serves f32 only";
}

Result<AnyArgs> make_args(std::span<const TensorView> tensors, const Params& params) {
  ReduceArgs args{.in = tensors[0],
                  .out = tensors[1],
                  .op = params.get_string("op") == "max" ? ReduceOp::max : ReduceOp::sum};
  ROOFTILE_TRY(check(args, args.in.device));
  return AnyArgs::of(args);
}

Result<std::vector<TensorSpec>> infer_outputs(std::span<const TensorSpec> inputs, const Params& params) {
  const ReduceOp op = params.get_string("op") == "max" ? ReduceOp::max : ReduceOp::sum;
  return std::vector<TensorSpec>{{reduce_out_dtype(op, inputs[0].dtype), Extents{}}};
}

std::string choose(const AnyArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "threaded" : "single_pass";
}

OperatorDescriptor make_descriptor() {
  OperatorDescriptor op;
  op.name = "reduce";
  op.summary = "all elements of a tensor to one value: sum or maximum";
  op.maths = "sum: y = x[0] + x[1] + ... + x[n-1]; max: y = the largest x[i]. Both are associative, so any tree "
             "over the elements gives the result, up to the rounding of a floating-point sum.";
  op.model = "reads n * sizeof(x) bytes once and writes one element; n - 1 operations. At a quarter of an operation "
             "per byte it is bound by memory everywhere: the roofline is the streaming read rate.";
  op.source = "Harris, Optimizing Parallel Reduction in CUDA (2007); Luitjens, Faster Parallel Reductions on "
              "Kepler (2014)";
  op.slots = {{.name = "in", .direction = SlotDirection::in, .dtypes = {DType::f32, DType::i32},
               .doc = "any shape, row-major"},
              {.name = "out", .direction = SlotDirection::out, .dtypes = {DType::f32, DType::i32, DType::i64},
               .doc = "one element; i64 for a sum of i32"}};
  op.params = {{.name = "op", .default_value = std::string("sum"), .doc = "what combines two elements",
                .choices = {"sum", "max"}}};
  op.make_args = make_args;
  op.infer_outputs = infer_outputs;
  op.choose = choose;
  op.rungs = {
      {.id = "serial",
       .kind = RungKind::cpu,
       .idea = "One loop, one accumulator: the definition, and what a sum costs when every addition waits for the "
               "one before.",
       .change = "the start of the CPU climb",
       .launch = ROOFTILE_CPU_LAUNCHES(reduce, ReduceArgs, serial)},
      {.id = "threaded",
       .kind = RungKind::cpu,
       .idea = "Independent accumulators break the chain of additions, and every core reduces a part of its own.",
       .change = "16 accumulators per thread, a fixed tree over chunks of 32 Ki elements",
       .launch = ROOFTILE_CPU_LAUNCHES(reduce, ReduceArgs, threaded)},
      {.id = "interleaved_divergent",
       .idea = "A tree in shared memory: neighbours combine first, chosen by a modulo on the thread index.",
       .change = "the start of the GPU climb; one element per thread, passes of 256 to 1",
       .source = "Harris 2007, kernel 1",
       .supports = erase<ReduceArgs>(&supports_f32),
       .workspace = erase<ReduceArgs>(&reduce_passes_workspace),
       .launch = ROOFTILE_GPU_LAUNCHES(reduce, ReduceArgs, interleaved_divergent)},
      {.id = "sequential_addressing",
       .idea = "The active threads stay together: the stride halves instead of doubling, so whole warps retire and "
               "no two lanes meet in a bank.",
       .change = "`tid < stride` in place of `tid % (2 * stride) == 0`",
       .source = "Harris 2007, kernel 3",
       .supports = erase<ReduceArgs>(&supports_f32),
       .workspace = erase<ReduceArgs>(&reduce_passes_workspace),
       .launch = ROOFTILE_GPU_LAUNCHES(reduce, ReduceArgs, sequential_addressing)},
      {.id = "warp_shuffle",
       .idea = "The lanes of a warp pass values register to register: shared memory and barriers are left for one "
               "value per warp.",
       .change = "5 shuffles per warp and one barrier in place of 8 barriers and 8 trips through shared memory",
       .source = "Luitjens 2014",
       .supports = erase<ReduceArgs>(&supports_f32),
       .workspace = erase<ReduceArgs>(&reduce_passes_workspace),
       .launch = ROOFTILE_GPU_LAUNCHES(reduce, ReduceArgs, warp_shuffle)},
      {.id = "vectorized",
       .idea = "Bytes in flight decide: 16-byte loads, eight of them independent per thread, by a grid that fills the "
               "GPU once and strides over the input.",
       .change = "128 bytes requested per thread before the first addition, against 4; two launches in place of one "
                 "per factor of 256",
       .workspace = erase<ReduceArgs>(&reduce_grid_workspace),
       .launch = ROOFTILE_GPU_LAUNCHES(reduce, ReduceArgs, vectorized)},
      {.id = "single_pass",
       .idea = "The block that finishes last, found by a counter, reduces the partial results: one launch, and still "
               "a fixed order of additions.",
       .change = "a ticket and a fence in place of the second launch",
       .source = "CUDA sample threadFenceReduction",
       .workspace = erase<ReduceArgs>(&reduce_single_pass_workspace),
       .launch = ROOFTILE_GPU_LAUNCHES(reduce, ReduceArgs, single_pass)},
  };
  return op;
}

}  // namespace

DType reduce_out_dtype(ReduceOp op, DType in) { return op == ReduceOp::sum && in == DType::i32 ? DType::i64 : in; }

const OperatorDescriptor& reduce_operator() {
  static const OperatorDescriptor descriptor = make_descriptor();
  return descriptor;
}

Status reduce(Context& context, const ReduceArgs& args) {
  ROOFTILE_TRY(check(args, context.device()));
  return run_chosen(reduce_operator(), context, AnyArgs::of(args));
}

Result<WorkspaceSpec> reduce_workspace(const ReduceArgs& args, Device device) {
  ROOFTILE_TRY(check(args, device));
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  return chosen_workspace(reduce_operator(), AnyArgs::of(args), *properties);
}

Status reduce(StreamRef stream, const ReduceArgs& args, const Workspace& workspace) {
  ROOFTILE_TRY(check(args, stream.device));
  return run_chosen(reduce_operator(), stream, AnyArgs::of(args), workspace);
}

WorkspaceSpec reduce_passes_workspace(const ReduceArgs& args, const DeviceProperties&) {
  // Two buffers in turn: the second pass reads what the first wrote.
  const std::int64_t first = reduce_plan::pass_blocks(args.in.numel());
  const std::int64_t second = reduce_plan::pass_blocks(first);
  return {.bytes = static_cast<std::size_t>(first + second) * size_of(args.out.dtype)};
}

WorkspaceSpec reduce_grid_workspace(const ReduceArgs& args, const DeviceProperties& device) {
  const std::int64_t bytes = args.in.numel() * static_cast<std::int64_t>(size_of(args.in.dtype));
  return {.bytes = static_cast<std::size_t>(reduce_plan::grid_blocks(bytes, device)) * size_of(args.out.dtype)};
}

WorkspaceSpec reduce_single_pass_workspace(const ReduceArgs& args, const DeviceProperties& device) {
  WorkspaceSpec spec = reduce_grid_workspace(args, device);
  spec.zeroed_bytes = sizeof(std::uint32_t);  // the ticket counter; the last block resets it
  return spec;
}

void register_reduce(Registry& registry) { registry.add(reduce_operator()); }

}  // namespace rooftile
