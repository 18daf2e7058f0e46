#include "rooftile/core/dense.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_prefetch/access_prefetch.h"
#include "rooftile/lessons/access_prefetch/rungs.h"

namespace rooftile {
namespace {

Status check(const AccessPrefetchArgs& args) {
  return check_dense_alike(args.x, args.y, DType::f32)
      .with_operator("access_prefetch")
      .with_shapes(describe_pair(args.x, args.y));
}

Result<AnyArgs> make_args(std::span<const TensorView> tensors, const Params&) {
  const AccessPrefetchArgs args{.x = tensors[0], .y = tensors[1]};
  ROOFTILE_TRY(check(args));
  return AnyArgs::of(args);
}

std::string choose(const AnyArgs&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "serial" : "more_warps";
}

OperatorDescriptor make_descriptor() {
  OperatorDescriptor op;
  op.name = "access_prefetch";
  op.summary = "a few threads walk over many elements: fetch the next ones before they are needed";
  op.maths = "y[i] = x[i] after 8 times v = fma(v, 1/2, 1/4).";
  op.model =
      "reads and writes n * 4 bytes. One block of 128 threads per SM leaves each SM 512 bytes on the way at "
      "a time, where some 30 KiB would keep its memory busy: every load that is issued before it is needed "
      "adds to that.";
  op.source = "Mattson, Boosting Application Performance with GPU Memory Prefetching (2022)";
  op.slots = {
      {.name = "x", .direction = SlotDirection::in, .dtypes = {DType::f32}, .doc = "any shape, row-major"},
      {.name = "y", .direction = SlotDirection::out, .dtypes = {DType::f32}, .doc = "the shape of x"}};
  op.make_args = make_args;
  op.infer_outputs = infer_like_first;
  op.choose = choose;
  op.rungs = {
      {.id = "serial",
       .kind = RungKind::cpu,
       .idea = "One loop: the definition.",
       .change = "the start of the CPU climb",
       .launch = ROOFTILE_CPU_LAUNCHES(access_prefetch, AccessPrefetchArgs, serial)},
      {.id = "no_prefetch",
       .idea = "Load, work, store, next: one load on the way per thread.",
       .change = "the start of the GPU climb: one block of 128 threads per SM",
       .launch = ROOFTILE_GPU_LAUNCHES(access_prefetch, AccessPrefetchArgs, no_prefetch),
       .expects = {{"global_load_sectors_per_request", 4, 4}, {"global_store_sectors_per_request", 4, 4}}},
      {.id = "registers_batch",
       .idea = "Four loads into four registers, then four times the work.",
       .change = "a batch of four loads before the work",
       .source = "Mattson 2022",
       .launch = ROOFTILE_GPU_LAUNCHES(access_prefetch, AccessPrefetchArgs, registers_batch),
       .expects = {{"global_load_sectors_per_request", 4, 4}, {"global_store_sectors_per_request", 4, 4}}},
      {.id = "registers_rolling",
       .idea = "Each step loads the element that is four steps ahead: never less than three on the way.",
       .change = "a load per step in place of four at once",
       .source = "Mattson 2022",
       .launch = ROOFTILE_GPU_LAUNCHES(access_prefetch, AccessPrefetchArgs, registers_rolling),
       .expects = {{"global_load_sectors_per_request", 4, 4}, {"global_store_sectors_per_request", 4, 4}}},
      {.id = "shared_batch",
       .idea = "The batch waits in shared memory: a thread keeps its own four words side by side.",
       .change = "shared memory in place of registers",
       .source = "Mattson 2022",
       .launch = ROOFTILE_GPU_LAUNCHES(access_prefetch, AccessPrefetchArgs, shared_batch),
       .expects = {{"global_load_sectors_per_request", 4, 4},
                   {"global_store_sectors_per_request", 4, 4},
                   {"shared_load_conflict_degree", 4, 4},
                   {"shared_store_conflict_degree", 4, 4}}},
      {.id = "shared_rolling",
       .idea = "The same words as a ring.",
       .change = "a load per step in place of four at once",
       .source = "Mattson 2022",
       .launch = ROOFTILE_GPU_LAUNCHES(access_prefetch, AccessPrefetchArgs, shared_rolling),
       .expects = {{"global_load_sectors_per_request", 4, 4},
                   {"global_store_sectors_per_request", 4, 4},
                   {"shared_load_conflict_degree", 4, 4},
                   {"shared_store_conflict_degree", 4, 4}}},
      {.id = "shared_padded",
       .idea = "Five words per thread in place of four: the lanes of a request lie in 32 banks.",
       .change = "a word of padding per thread",
       .source = "Mattson 2022",
       .launch = ROOFTILE_GPU_LAUNCHES(access_prefetch, AccessPrefetchArgs, shared_padded),
       .expects = {{"global_load_sectors_per_request", 4, 4},
                   {"global_store_sectors_per_request", 4, 4},
                   {"shared_load_conflict_degree", 1, 1},
                   {"shared_store_conflict_degree", 1, 1}}},
      {.id = "async_copies",
       .idea = "Copies go from global to shared memory past the registers, and a wait in place of a stall.",
       .change = "cp.async into a ring whose lanes lie side by side",
       .source = "PTX ISA, cp.async",
       .arch = {.minimum = 80},
       .launch = ROOFTILE_GPU_LAUNCHES(access_prefetch, AccessPrefetchArgs, async_copies),
       .expects = {{"bytes_moved_over_needed", 1, 1},
                   {"global_store_sectors_per_request", 4, 4},
                   {"shared_load_conflict_degree", 1, 1}}},
      {.id = "more_warps",
       .idea = "No prefetch, but as many threads as the GPU holds: warps wait in turns.",
       .change = "2048 threads per SM in place of 128",
       .launch = ROOFTILE_GPU_LAUNCHES(access_prefetch, AccessPrefetchArgs, more_warps),
       .expects = {{"global_load_sectors_per_request", 4, 4}, {"global_store_sectors_per_request", 4, 4}}},
  };
  return op;
}

}  // namespace

const OperatorDescriptor& access_prefetch_operator() {
  static const OperatorDescriptor descriptor = make_descriptor();
  return descriptor;
}

Status access_prefetch(Context& context, const AccessPrefetchArgs& args) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_prefetch_operator(), context, AnyArgs::of(args));
}

Result<WorkspaceSpec> access_prefetch_workspace(const AccessPrefetchArgs& args, Device device) {
  ROOFTILE_TRY(check(args));
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  return chosen_workspace(access_prefetch_operator(), AnyArgs::of(args), *properties);
}

Status access_prefetch(StreamRef stream, const AccessPrefetchArgs& args, const Workspace& workspace) {
  ROOFTILE_TRY(check(args));
  return run_chosen(access_prefetch_operator(), stream, AnyArgs::of(args), workspace);
}

void register_access_prefetch(Registry& registry) { registry.add(access_prefetch_operator()); }

}  // namespace rooftile
