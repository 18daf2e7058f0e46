// The driver's own copies as the opponents of access_copy: cudaMemcpyAsync, and where there is a stride
// cudaMemcpy2DAsync with rows of one element.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>
#include <string>

#include "rooftile/core/detail/cuda_error.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_copy/access_copy.h"

namespace rooftile {
namespace {

constexpr std::int64_t kElement = sizeof(float);

std::string supports(const AccessCopyArgs& args, const DeviceProperties&) {
  constexpr std::int64_t kMostPitch = std::numeric_limits<std::int32_t>::max();  // cudaDeviceProp::memPitch
  return args.stride > kMostPitch / kElement ? "cudaMemcpy2D takes a pitch of up to 2 GiB" : "";
}

Status launch_memcpy(StreamRef stream, const DeviceProperties&, const AccessCopyArgs& args,
                     const Workspace&) {
  const auto n = static_cast<std::size_t>(args.y.numel());
  if (n == 0) return {};
  const float* from = static_cast<const float*>(args.x.data) + args.offset;
  auto* const handle = static_cast<cudaStream_t>(stream.handle);
  const cudaError_t error =
      args.stride == 1
          ? cudaMemcpyAsync(args.y.data, from, n * kElement, cudaMemcpyDeviceToDevice, handle)
          : cudaMemcpy2DAsync(args.y.data, kElement, from, static_cast<std::size_t>(args.stride * kElement),
                              kElement, n, cudaMemcpyDeviceToDevice, handle);
  return error == cudaSuccess ? Status() : detail::cuda_error_status(error, "cudaMemcpyAsync");
}

}  // namespace

void register_access_copy_peers_memcpy(Registry& registry) {
  registry.add(PeerRow{.operator_name = "access_copy",
                       .id = "memcpy",
                       .version = "CUDA runtime " + std::to_string(CUDART_VERSION / 1000) + "." +
                                  std::to_string(CUDART_VERSION % 1000 / 10) + " cudaMemcpy",
                       .supports = erase<AccessCopyArgs>(&supports),
                       .launch = erase<AccessCopyArgs>(&launch_memcpy)});
}

}  // namespace rooftile
