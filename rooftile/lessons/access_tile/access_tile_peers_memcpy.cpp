// The driver's own copy as the opponent of access_tile: cudaMemcpyAsync, which need not know of rows.
#include <cuda_runtime_api.h>

#include <string>

#include "rooftile/core/describe.h"
#include "rooftile/core/detail/cuda_error.h"
#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_tile/access_tile.h"

namespace rooftile {
namespace {

Status launch_memcpy(const Call<AccessTileArgs>& call) {
  const std::size_t bytes = static_cast<std::size_t>(call.args.x.numel()) * sizeof(float);
  if (bytes == 0) return {};
  const cudaError_t error =
      cudaMemcpyAsync(call.args.y.data, call.args.x.data, bytes, cudaMemcpyDeviceToDevice,
                      static_cast<cudaStream_t>(call.stream.handle));
  return error == cudaSuccess ? Status() : detail::cuda_error_status(error, "cudaMemcpyAsync");
}

}  // namespace

void register_access_tile_peers_memcpy(Registry& registry) {
  registry.add(describe_peer<AccessTileArgs>("access_tile", "memcpy",
                                             "CUDA runtime " + std::to_string(CUDART_VERSION / 1000) + "." +
                                                 std::to_string(CUDART_VERSION % 1000 / 10) + " cudaMemcpy",
                                             launch_memcpy));
}

}  // namespace rooftile
