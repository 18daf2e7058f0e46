#include "rooftile/core/dense.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_copy/access_copy.h"
#include "rooftile/lessons/access_copy/rungs.h"

namespace rooftile {
namespace {

template <int kBytes>
std::string supports_vectors(const AccessCopyArgs& args, const DeviceProperties&) {
  const auto from = reinterpret_cast<std::uintptr_t>(args.x.data) +
                    static_cast<std::uintptr_t>(args.offset) * sizeof(float);
  const auto to = reinterpret_cast<std::uintptr_t>(args.y.data);
  if (args.stride == 1 && from % kBytes == 0 && to % kBytes == 0) return "";
  return "needs stride 1 and both sides aligned to " + std::to_string(kBytes) + " bytes: see one_per_thread";
}

Status check(const AccessCopyArgs& args) {
  const Status status = [&]() -> Status {
    ROOFTILE_TRY(check_dense_pair(args.x, args.y, DType::f32));
    if (args.x.rank() != 1 || args.y.rank() != 1) return invalid_argument("x and y must have one dimension");
    if (args.offset < 0) return invalid_argument("offset must not be negative");
    if (args.stride < 1) return invalid_argument("stride must be 1 or more");
    const std::int64_t n = args.y.numel();
    // By division: offset + (n - 1) * stride may not fit.
    if (n > 0 &&
        (args.offset >= args.x.numel() || n - 1 > (args.x.numel() - 1 - args.offset) / args.stride)) {
      return invalid_argument(
          "y asks for elements behind the end of x: offset + (n - 1) * stride must be below " +
          std::to_string(args.x.numel()));
    }
    return {};
  }();
  return status.with_operator("access_copy")
      .with_shapes(describe_pair(args.x, args.y) + ", offset=" + std::to_string(args.offset) +
                   ", stride=" + std::to_string(args.stride));
}

Result<AnyArgs> make_args(std::span<const TensorView> tensors, const Params& params) {
  const AccessCopyArgs args{.x = tensors[0],
                            .y = tensors[1],
                            .offset = params.get_int("offset"),
                            .stride = params.get_int("stride")};
  ROOFTILE_TRY(check(args));
  return AnyArgs::of(args);
}

// As many as there are.
Result<std::vector<TensorSpec>> infer_outputs(std::span<const TensorSpec> inputs, const Params& params) {
  const std::int64_t length = inputs[0].shape.rank() == 1 ? inputs[0].shape[0] : -1;
  const std::int64_t offset = params.get_int("offset");
  const std::int64_t stride = params.get_int("stride");
  if (length < 0) return invalid_argument("x must have one dimension").with_operator("access_copy");
  if (offset > length) {
    return invalid_argument("offset " + std::to_string(offset) + " lies behind the end of x, which has " +
                            std::to_string(length) + " elements")
        .with_operator("access_copy");
  }
  const std::int64_t left = length - offset;
  return std::vector<TensorSpec>{{DType::f32, Extents{left == 0 ? 0 : (left - 1) / stride + 1}}};
}

std::string choose(const AnyArgs& any, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "serial";
  const auto& args = any.as<AccessCopyArgs>();
  if (supports_vectors<16>(args, device).empty()) return "float4";
  return supports_vectors<8>(args, device).empty() ? "float2" : "one_per_thread";
}

OperatorDescriptor make_descriptor() {
  OperatorDescriptor op;
  op.name = "access_copy";
  op.summary = "a copy with an offset and a stride: how far apart the lanes of a warp read";
  op.maths = "y[i] = x[offset + i * stride].";
  op.model =
      "reads and writes n * 4 bytes. What is asked of the memory are sectors of 32 bytes: a stride of s "
      "makes the lanes of a warp touch min(4 * s, 32) of them where 4 would do.";
  op.source = "CUDA C++ Best Practices Guide, Coalesced Access to Global Memory";
  op.slots = {{.name = "x",
               .direction = SlotDirection::in,
               .min_rank = 1,
               .max_rank = 1,
               .dtypes = {DType::f32},
               .doc = "[L], row-major"},
              {.name = "y",
               .direction = SlotDirection::out,
               .min_rank = 1,
               .max_rank = 1,
               .dtypes = {DType::f32},
               .doc = "[n], as many as there are"}};
  op.params = {{.name = "offset",
                .default_value = std::int64_t{0},
                .doc = "elements of x that are left out in front",
                .choices = {},
                .minimum = 0,
                .maximum = 1e15},
               {.name = "stride",
                .default_value = std::int64_t{1},
                .doc = "elements from one read to the next",
                .choices = {},
                .minimum = 1,
                .maximum = 1e15}};
  op.make_args = make_args;
  op.infer_outputs = infer_outputs;
  op.choose = choose;
  op.rungs = {
      {.id = "serial",
       .kind = RungKind::cpu,
       .idea = "One loop: the definition.",
       .change = "the start of the CPU climb",
       .launch = ROOFTILE_CPU_LAUNCHES(access_copy, AccessCopyArgs, serial)},
      {.id = "one_per_thread",
       .idea = "A thread per element: a warp reads 32 words, which lie in 4 sectors, or in up to 32.",
       .change = "the start of the GPU climb",
       .launch = ROOFTILE_GPU_LAUNCHES(access_copy, AccessCopyArgs, one_per_thread),
       .expects = {{"global_load_sectors_per_request", 4, 4}, {"global_store_sectors_per_request", 4, 4}}},
      {.id = "float2",
       .idea = "Two elements per access: half of the instructions for the same sectors.",
       .change = "8-byte loads and stores",
       .supports = erase<AccessCopyArgs>(&supports_vectors<8>),
       .launch = ROOFTILE_GPU_LAUNCHES(access_copy, AccessCopyArgs, float2),
       .expects = {{"global_load_sectors_per_request", 8, 8}, {"global_store_sectors_per_request", 8, 8}}},
      {.id = "float4",
       .idea = "Four elements per access, the widest that a thread has.",
       .change = "16-byte loads and stores",
       .supports = erase<AccessCopyArgs>(&supports_vectors<16>),
       .launch = ROOFTILE_GPU_LAUNCHES(access_copy, AccessCopyArgs, float4),
       .expects = {{"global_load_sectors_per_request", 16, 16},
                   {"global_store_sectors_per_request", 16, 16}}},
      {.id = "float4_four_in_flight",
       .idea = "Four loads on the way before the first store waits for one.",
       .change = "four vectors per thread, loaded before any is stored",
       .supports = erase<AccessCopyArgs>(&supports_vectors<16>),
       .launch = ROOFTILE_GPU_LAUNCHES(access_copy, AccessCopyArgs, float4_four_in_flight),
       .expects = {{"global_load_sectors_per_request", 16, 16},
                   {"global_store_sectors_per_request", 16, 16}}},
  };
  return op;
}

}  // namespace

const OperatorDescriptor& access_copy_operator() {
  static const OperatorDescriptor descriptor = make_descriptor();
  return descriptor;
}

Status access_copy(Context& context, const AccessCopyArgs& args) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_copy_operator(), context, AnyArgs::of(args));
}

Result<WorkspaceSpec> access_copy_workspace(const AccessCopyArgs& args, Device device) {
  ROOFTILE_TRY(check(args));
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  return chosen_workspace(access_copy_operator(), AnyArgs::of(args), *properties);
}

Status access_copy(StreamRef stream, const AccessCopyArgs& args, const Workspace& workspace) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_copy_operator(), stream, AnyArgs::of(args), workspace);
}

void register_access_copy(Registry& registry) { registry.add(access_copy_operator()); }

}  // namespace rooftile
