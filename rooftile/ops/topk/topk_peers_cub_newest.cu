// CUB's DeviceTopK as the opponent of topk, for one row of f32, i32 or u32: the newest CUB alone has it.
//
// It gives any of equal elements, and in any order.
#include <cuda/iterator>
#include <cuda/std/execution>

#include <cub/device/device_topk.cuh>

#include "rooftile/core/describe.h"
#include "rooftile/core/detail/cuda_error.h"
#include "rooftile/core/registry.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/topk/topk.h"
#include "rooftile/ops/topk/topk_plan.h"

namespace rooftile {
namespace {

// storage = null: only the bytes that CUB needs are written.
cudaError_t run_cub(void* storage, std::size_t& bytes, const TopkArgs& args, cudaStream_t stream) {
  cudaError_t error = cudaErrorNotSupported;
  const Status status =
      dispatch(DTypes<float, std::int32_t, std::uint32_t>{}, args.in.dtype, [&]<class T>() -> Status {
        const auto* in = static_cast<const T*>(args.in.data);
        auto* values = static_cast<T*>(args.values.data);
        auto* indices = static_cast<std::int64_t*>(args.indices.data);
        const cuda::counting_iterator<std::int64_t> places{0};
        const auto env = cuda::std::execution::env{
            cuda::stream_ref{stream}, cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                               cuda::execution::output_ordering::unsorted)};
        const std::int64_t n = args.in.numel();
        error = args.largest
                    ? cub::DeviceTopK::MaxPairs(storage, bytes, in, values, places, indices, n, args.k, env)
                    : cub::DeviceTopK::MinPairs(storage, bytes, in, values, places, indices, n, args.k, env);
        return {};
      });
  return status.ok() ? error : cudaErrorNotSupported;
}

std::string_view supports(const TopkArgs& args, const DeviceProperties&) {
  if (args.stable || args.sorted)
    return "CUB takes any of equal elements, in any order: asked where stable and sorted are false";
  if (topk_plan::rows_of(args).count != 1 || args.k == 0) return "CUB is asked for one row";
  const DType dtype = args.in.dtype;
  return dtype == DType::f32 || dtype == DType::i32 || dtype == DType::u32
             ? ""
             : "CUB is asked for elements of 32 bits";
}

RungPlan plan(const TopkArgs& args, const DeviceProperties&) {
  std::size_t bytes = 0;
  // An error here comes again from the launch, which reports it.
  (void)run_cub(nullptr, bytes, args, nullptr);
  return {.workspace = {.bytes = bytes}};
}

Status launch_cub(const Call<TopkArgs>& call) {
  std::size_t bytes = call.workspace.bytes;
  const cudaError_t error =
      run_cub(call.workspace.data, bytes, call.args, static_cast<cudaStream_t>(call.stream.handle));
  return error == cudaSuccess ? Status() : detail::cuda_error_status(error, "cub::DeviceTopK");
}

}  // namespace

void register_topk_peers_cub_newest(Registry& registry) {
  registry.add(describe_peer<TopkArgs>("topk", "cub_newest",
                                       "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." +
                                           std::to_string(CUB_MINOR_VERSION) + "." +
                                           std::to_string(CUB_SUBMINOR_VERSION),
                                       launch_cub, supports, plan));
}

}  // namespace rooftile
