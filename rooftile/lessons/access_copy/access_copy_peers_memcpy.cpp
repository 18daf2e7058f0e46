// The driver's own copies as the opponents of access_copy: cudaMemcpyAsync, and where there is a stride
// cudaMemcpy2DAsync with rows of one element.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>
#include <string>

#include "rooftile/core/describe.h"
#include "rooftile/core/detail/cuda_error.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_copy/access_copy.h"

namespace rooftile {
namespace {

constexpr std::int64_t kElement = sizeof(float);

std::string_view supports(const AccessCopyArgs& args, const DeviceProperties&) {
  constexpr std::int64_t kMostPitch = std::numeric_limits<std::int32_t>::max();  // cudaDeviceProp::memPitch
  return args.stride > kMostPitch / kElement ? "cudaMemcpy2D takes a pitch of up to 2 GiB" : "";
}

Status launch_memcpy(const Call<AccessCopyArgs>& call) {
  const auto n = static_cast<std::size_t>(call.args.y.numel());
  if (n == 0) return {};
  const float* from = static_cast<const float*>(call.args.x.data) + call.args.offset;
  auto* const handle = static_cast<cudaStream_t>(call.stream.handle);
  const cudaError_t error =
      call.args.stride == 1
          ? cudaMemcpyAsync(call.args.y.data, from, n * kElement, cudaMemcpyDeviceToDevice, handle)
          : cudaMemcpy2DAsync(call.args.y.data, kElement, from,
                              static_cast<std::size_t>(call.args.stride * kElement), kElement, n,
                              cudaMemcpyDeviceToDevice, handle);
  return error == cudaSuccess ? Status() : detail::cuda_error_status(error, "cudaMemcpyAsync");
}

}  // namespace

void register_access_copy_peers_memcpy(Registry& registry) {
  registry.add(describe_peer<AccessCopyArgs>("access_copy", "memcpy",
                                             "CUDA runtime " + std::to_string(CUDART_VERSION / 1000) + "." +
                                                 std::to_string(CUDART_VERSION % 1000 / 10) + " cudaMemcpy",
                                             launch_memcpy, supports));
}

}  // namespace rooftile
