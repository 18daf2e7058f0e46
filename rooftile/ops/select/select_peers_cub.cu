// CUB's DeviceSelect and DevicePartition as the opponents of select, for f32 and i32.
//
// Compiled against the toolkit's CUB and, by select_peers_cub_newest.cu, against the newest: the faster of the two is the
// opponent.
#include <cub/device/device_partition.cuh>
#include <cub/device/device_select.cuh>

#include "rooftile/core/describe.h"
#include "rooftile/core/detail/cuda_error.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/select/select.h"
#include "rooftile/ops/select/select_plan.h"

namespace rooftile {
namespace {

template <class T>
struct AboveLimit {
  T limit;
  __host__ __device__ bool operator()(T x) const { return x > limit; }
};

struct CubCall {
  void* storage;  // null: only the bytes that CUB needs are written
  std::size_t& bytes;
  const SelectArgs& args;
  cudaStream_t stream;

  template <class T>
  cudaError_t run(T limit) const {
    const auto* in = static_cast<const T*>(args.in.data);
    auto* out = static_cast<T*>(args.out.data);
    auto* count = static_cast<std::int64_t*>(args.count.data);
    const AboveLimit<T> above{limit};
    const std::int64_t n = args.in.numel();
    if (args.op == SelectOp::greater_than)
      return cub::DeviceSelect::If(storage, bytes, in, out, count, n, above, stream);
    if (args.op == SelectOp::unique)
      return cub::DeviceSelect::Unique(storage, bytes, in, out, count, n, stream);
    return cub::DevicePartition::If(storage, bytes, in, out, count, n, above, stream);
  }
  // Elements are moved alone.
  [[nodiscard]] cudaError_t run_flagged() const {
    const auto* in = static_cast<const std::uint32_t*>(args.in.data);
    const auto* flags = static_cast<const std::uint8_t*>(args.flags.data);
    auto* out = static_cast<std::uint32_t*>(args.out.data);
    auto* count = static_cast<std::int64_t*>(args.count.data);
    const std::int64_t n = args.in.numel();
    if (args.op == SelectOp::flagged)
      return cub::DeviceSelect::Flagged(storage, bytes, in, flags, out, count, n, stream);
    return cub::DevicePartition::Flagged(storage, bytes, in, flags, out, count, n, stream);
  }
};

cudaError_t run_cub(const CubCall& call) {
  if (select_plan::by_flags(call.args)) return call.run_flagged();
  if (call.args.in.dtype == DType::f32)
    return call.run<float>(select_plan::limit_of_floats(call.args.threshold));
  return call.run<std::int32_t>(static_cast<std::int32_t>(call.args.threshold));
}

std::string_view supports(const SelectArgs& args, const DeviceProperties&) {
  const DType dtype = args.in.dtype;
  if (dtype != DType::f32 && dtype != DType::i32) return "CUB is asked for f32 and i32 only";
  constexpr double kMost = 1e6;  // a whole number that i32 holds for certain
  const double threshold = args.threshold;
  const bool is_whole = threshold >= -kMost && threshold <= kMost &&
                        static_cast<double>(static_cast<std::int32_t>(threshold)) == threshold;
  return dtype == DType::f32 || is_whole ? "" : "CUB is asked for thresholds of i32 that are i32 only";
}

RungPlan plan(const SelectArgs& args, const DeviceProperties&) {
  std::size_t bytes = 0;
  // An error here comes again from the launch, which reports it.
  (void)run_cub({nullptr, bytes, args, nullptr});
  return {.workspace = {.bytes = bytes}};
}

Status launch_cub(const Call<SelectArgs>& call) {
  std::size_t bytes = call.workspace.bytes;
  const cudaError_t error =
      run_cub({call.workspace.data, bytes, call.args, static_cast<cudaStream_t>(call.stream.handle)});
  return error == cudaSuccess ? Status() : detail::cuda_error_status(error, "cub::DeviceSelect");
}

}  // namespace

#if defined(ROOFTILE_NEWEST_CUB)
#define ROOFTILE_REGISTER_CUB register_select_peers_cub_newest
constexpr const char* kPeer = "cub_newest";
#else
#define ROOFTILE_REGISTER_CUB register_select_peers_cub
constexpr const char* kPeer = "cub";
#endif

void ROOFTILE_REGISTER_CUB(Registry& registry) {
  registry.add(describe_peer<SelectArgs>("select", kPeer,
                                         "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." +
                                             std::to_string(CUB_MINOR_VERSION) + "." +
                                             std::to_string(CUB_SUBMINOR_VERSION),
                                         launch_cub, supports, plan));
}

}  // namespace rooftile
