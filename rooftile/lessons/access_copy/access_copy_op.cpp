#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_copy/access_copy.h"
#include "rooftile/lessons/access_copy/rungs.h"

namespace rooftile {
namespace {

template <int kBytes>
std::string_view supports_vectors(const AccessCopyArgs& args, const DeviceProperties&) {
  const auto from = reinterpret_cast<std::uintptr_t>(args.x.data) +
                    static_cast<std::uintptr_t>(args.offset) * sizeof(float);
  const auto to = reinterpret_cast<std::uintptr_t>(args.y.data);
  if (args.stride == 1 && from % kBytes == 0 && to % kBytes == 0) return "";
  return kBytes == 8 ? "needs stride 1 and both sides aligned to 8 bytes: see one_per_thread"
                     : "needs stride 1 and both sides aligned to 16 bytes: see one_per_thread";
}

// As many as there are.
Status result_of(const AccessCopyArgs& args, TensorSpec& y) {
  const std::int64_t length = args.x.shape[0];
  if (args.offset > length) {
    return invalid_argument("offset " + std::to_string(args.offset) +
                            " lies behind the end of x, which has " + std::to_string(length) + " elements");
  }
  const std::int64_t left = length - args.offset;
  y = {DType::f32, {left == 0 ? 0 : (left - 1) / args.stride + 1}};
  return {};
}

std::string_view choose(const AccessCopyArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "serial";
  if (supports_vectors<16>(args, device).empty()) return "float4";
  return supports_vectors<8>(args, device).empty() ? "float2" : "one_per_thread";
}

}  // namespace

const OperatorDescriptor& access_copy_operator() {
  static const OperatorDescriptor op = describe<AccessCopyArgs>(
      {.name = "access_copy",
       .summary = "a copy with an offset and a stride: how far apart the lanes of a warp read",
       .maths = "y[i] = x[offset + i * stride].",
       .model =
           "reads and writes n * 4 bytes. What is asked of the memory are sectors of 32 bytes: a stride of s "
           "makes the lanes of a warp touch min(4 * s, 32) of them where 4 would do.",
       .source = "CUDA C++ Best Practices Guide, Coalesced Access to Global Memory",
       .slots = {in("x", &AccessCopyArgs::x,
                    {.dtypes = {DType::f32},
                     .min_rank = 1,
                     .max_rank = 1,
                     .dense = true,
                     .doc = "[L], row-major"}),
                 out("y", &AccessCopyArgs::y, result_of,
                     {.dtype_of = "x",
                      .min_rank = 1,
                      .max_rank = 1,
                      .dense = true,
                      .doc = "[n], as many as there are"})},
       .params = {param("offset", &AccessCopyArgs::offset,
                        {.doc = "elements of x that are left out in front", .minimum = 0, .maximum = 1e15}),
                  param("stride", &AccessCopyArgs::stride,
                        {.doc = "elements from one read to the next", .minimum = 1, .maximum = 1e15})},
       .choose = choose,
       .rungs = {
           {.rung = access_copy_rungs::serial,
            .idea = "One loop: the definition.",
            .change = "the start of the CPU climb"},
           {.rung = access_copy_rungs::one_per_thread,
            .idea = "A thread per element: a warp reads 32 words, which lie in 4 sectors, or in up to 32.",
            .change = "the start of the GPU climb",
            .expects = {{"global_load_sectors_per_request", 4, 4},
                        {"global_store_sectors_per_request", 4, 4}}},
           {.rung = access_copy_rungs::float2,
            .idea = "Two elements per access: half of the instructions for the same sectors.",
            .change = "8-byte loads and stores",
            .supports = supports_vectors<8>,
            .expects = {{"global_load_sectors_per_request", 8, 8},
                        {"global_store_sectors_per_request", 8, 8}}},
           {.rung = access_copy_rungs::float4,
            .idea = "Four elements per access, the widest that a thread has.",
            .change = "16-byte loads and stores",
            .supports = supports_vectors<16>,
            .expects = {{"global_load_sectors_per_request", 16, 16},
                        {"global_store_sectors_per_request", 16, 16}}},
           {.rung = access_copy_rungs::float4_four_in_flight,
            .idea = "Four loads on the way before the first store waits for one.",
            .change = "four vectors per thread, loaded before any is stored",
            .supports = supports_vectors<16>,
            .expects = {{"global_load_sectors_per_request", 16, 16},
                        {"global_store_sectors_per_request", 16, 16}}}}});
  return op;
}

ROOFTILE_REGISTER(access_copy)

}  // namespace rooftile
