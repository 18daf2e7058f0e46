// CUB's DeviceReduce as the opponent of reduce.
#include <cub/device/device_reduce.cuh>
#include <cuda/functional>

#include <limits>

#include "rooftile/core/detail/cuda_error.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/reduce/reduce.h"

namespace rooftile {
namespace {

// DeviceReduce::Max passes over NaN; reduce promises to return it, so CUB is given the operator that does.
struct MaxOrNan {
  __host__ __device__ float operator()(float a, float b) const { return a > b || a != a ? a : b; }
};

// One call of CUB: with null `storage` it only writes the bytes that it needs.
cudaError_t cub_reduce(void* storage, std::size_t& bytes, const ReduceArgs& args, cudaStream_t stream) {
  const std::int64_t n = args.in.numel();
  if (args.in.dtype == DType::f32) {
    const auto* in = static_cast<const float*>(args.in.data);
    auto* out = static_cast<float*>(args.out.data);
    if (args.op == ReduceOp::sum) return cub::DeviceReduce::Sum(storage, bytes, in, out, n, stream);
    return cub::DeviceReduce::Reduce(storage, bytes, in, out, n, MaxOrNan{}, -std::numeric_limits<float>::infinity(),
                                     stream);
  }
  const auto* in = static_cast<const std::int32_t*>(args.in.data);
  if (args.op == ReduceOp::sum) {
    // The 64-bit initial value makes CUB accumulate in 64 bits, as reduce does.
    return cub::DeviceReduce::Reduce(storage, bytes, in, static_cast<std::int64_t*>(args.out.data), n,
                                     ::cuda::std::plus<>{}, std::int64_t{0}, stream);
  }
  return cub::DeviceReduce::Max(storage, bytes, in, static_cast<std::int32_t*>(args.out.data), n, stream);
}

WorkspaceSpec workspace(const ReduceArgs& args, const DeviceProperties&) {
  std::size_t bytes = 0;
  // An error here comes again from the launch, which reports it.
  (void)cub_reduce(nullptr, bytes, args, nullptr);
  return {.bytes = bytes};
}

Status launch_cub(StreamRef stream, const DeviceProperties&, const ReduceArgs& args, const Workspace& workspace) {
  std::size_t bytes = workspace.bytes;
  const cudaError_t error =
      cub_reduce(workspace.data, bytes, args, static_cast<cudaStream_t>(stream.handle));
  return error == cudaSuccess ? Status() : detail::cuda_error_status(error, "cub::DeviceReduce");
}

}  // namespace

void register_reduce_peers_cub(Registry& registry) {
  registry.add(PeerRow{.operator_name = "reduce",
                       .id = "cub",
                       .version = "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." +
                                  std::to_string(CUB_MINOR_VERSION) + "." + std::to_string(CUB_SUBMINOR_VERSION),
                       .workspace = erase<ReduceArgs>(&workspace),
                       .launch = erase<ReduceArgs>(&launch_cub)});
}

}  // namespace rooftile
