#include "rooftile/lab/case/device_fill.h"

#include <algorithm>

#include "rooftile/cases/fill_draw.h"
#include "rooftile/device/launch.h"

namespace rooftile::ROOFTILE_TARGET::lab_kernels {
namespace {

constexpr int kBlock = 256;
constexpr std::int64_t kMostBlocks = 4096;

template <class T>
__global__ void __launch_bounds__(kBlock) fill_kernel(T* g_elements, std::int64_t count, std::int64_t groups,
                                                      Fill fill, PhiloxKey key, std::uint64_t tensor_index) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kBlock;
  std::int64_t group = static_cast<std::int64_t>(blockIdx.x) * kBlock + threadIdx.x;
  for (; group < groups; group += threads) {
    draw_group(g_elements + group * kElementsPerGroup<T>, count, group, fill, key, tensor_index);
  }
}

}  // namespace

Status fill_elements(StreamRef stream, void* data, DType dtype, std::int64_t count, Fill fill,
                     std::uint64_t seed, std::uint64_t tensor_index) {
  if (count == 0) return {};
  return for_storage_type(dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::int64_t groups = (count + kElementsPerGroup<T> - 1) / kElementsPerGroup<T>;
    const std::int64_t blocks = std::min((groups + kBlock - 1) / kBlock, kMostBlocks);
    const LaunchConfig config{
        .grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(kBlock), .stream = stream};
    return launch(fill_kernel<T>, config, static_cast<T*>(data), count, groups, fill, philox_key(seed),
                  tensor_index);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::lab_kernels
