// The driver's own functions, because a library's kernels need not be functions of this program's runtime.
#include "rooftile/lab/time/gpu_launches.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>

#include "rooftile/core/detail/cuda_error.h"

namespace rooftile::lab {
namespace {

using KernelParams = CUresult (*)(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params);

Result<KernelParams> kernel_params() {
  constexpr unsigned kSince = 12000;  // of the driver's interface
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error = cudaGetDriverEntryPointByVersion("cuGraphKernelNodeGetParams", &function, kSince,
                                                             cudaEnableDefault, &found);
  if (error != cudaSuccess) return detail::cuda_error_status(error, "cuGraphKernelNodeGetParams");
  if (found != cudaDriverEntryPointSuccess || function == nullptr)
    return unavailable("the driver does not say what a graph's kernels are");
  return reinterpret_cast<KernelParams>(function);
}

}  // namespace

Result<GpuLaunches> gpu_launches(StreamRef stream, const std::function<Status()>& launch) {
  ROOFTILE_TRY_ASSIGN(const KernelParams params_of, kernel_params());
  ROOFTILE_TRY_ASSIGN(const Graph graph, Graph::capture(stream, launch));
  auto* const handle = static_cast<cudaGraph_t>(graph.handle());
  std::size_t count = 0;
  if (const cudaError_t error = cudaGraphGetNodes(handle, nullptr, &count); error != cudaSuccess)
    return detail::cuda_error_status(error, "cudaGraphGetNodes");
  std::vector<cudaGraphNode_t> nodes(count);
  if (const cudaError_t error = cudaGraphGetNodes(handle, nodes.data(), &count); error != cudaSuccess)
    return detail::cuda_error_status(error, "cudaGraphGetNodes");
  GpuLaunches found;
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    if (const cudaError_t error = cudaGraphNodeGetType(node, &type); error != cudaSuccess)
      return detail::cuda_error_status(error, "cudaGraphNodeGetType");
    CUDA_KERNEL_NODE_PARAMS params{};
    if (type != cudaGraphNodeTypeKernel) {
      ++found.others;
    } else if (params_of(node, &params) != CUDA_SUCCESS) {
      return unavailable("the driver does not say what a kernel of the graph is");
    } else {
      found.kernels.push_back({{params.gridDimX, params.gridDimY, params.gridDimZ},
                               {params.blockDimX, params.blockDimY, params.blockDimZ},
                               params.sharedMemBytes});
    }
  }
  return found;
}

}  // namespace rooftile::lab
