// CUB's DeviceHistogram as the opponent of histogram, for f32, u32 and u8, with counts of 32 bits and without weights.
//
// Compiled against the toolkit's CUB and, by histogram_peers_cub_newest.cu, against the newest: the faster of the two is the
// opponent.
#include <cub/device/device_histogram.cuh>

#include <type_traits>

#include "rooftile/core/describe.h"
#include "rooftile/core/detail/cuda_error.h"
#include "rooftile/core/registry.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/histogram/histogram.h"
#include "rooftile/ops/histogram/histogram_plan.h"

namespace rooftile {
namespace {

// storage = null: only the bytes that CUB needs are written.
cudaError_t run_cub(void* storage, std::size_t& bytes, const HistogramArgs& args, cudaStream_t stream) {
  cudaError_t error = cudaErrorNotSupported;
  const Status status =
      dispatch(DTypes<float, std::uint32_t, std::uint8_t>{}, args.in.dtype, [&]<class T>() -> Status {
        // A byte's upper bound may be 256.
        using Level = std::conditional_t<std::is_same_v<T, std::uint8_t>, int, T>;
        error = cub::DeviceHistogram::HistogramEven(
            storage, bytes, static_cast<const T*>(args.in.data), static_cast<unsigned*>(args.counts.data),
            static_cast<int>(args.bins) + 1, static_cast<Level>(args.lower), static_cast<Level>(args.upper),
            args.in.numel(), stream);
        return {};
      });
  return status.ok() ? error : cudaErrorNotSupported;
}
std::string_view supports(const HistogramArgs& args, const DeviceProperties&) {
  const DType dtype = args.in.dtype;
  if (dtype != DType::f32 && dtype != DType::u32 && dtype != DType::u8)
    return "CUB is asked for f32, u32 and u8 only";
  if (args.counts.dtype != DType::u32) return "CUB is asked for counts of u32 only";
  if (histogram_plan::is_weighted(args) || args.closed)
    return "CUB is asked for counts without weights or closed";
  constexpr double kMost = 4294967295;
  const bool is_held = args.lower >= 0 && args.upper <= kMost;
  return dtype == DType::f32 || is_held ? "" : "CUB is asked for bounds that the elements' dtype has";
}

RungPlan plan(const HistogramArgs& args, const DeviceProperties&) {
  std::size_t bytes = 0;
  // An error here comes again from the launch, which reports it.
  (void)run_cub(nullptr, bytes, args, nullptr);
  return {.workspace = {.bytes = bytes}};
}

Status launch_cub(const Call<HistogramArgs>& call) {
  std::size_t bytes = call.workspace.bytes;
  const cudaError_t error =
      run_cub(call.workspace.data, bytes, call.args, static_cast<cudaStream_t>(call.stream.handle));
  return error == cudaSuccess ? Status() : detail::cuda_error_status(error, "cub::DeviceHistogram");
}

}  // namespace

#if defined(ROOFTILE_NEWEST_CUB)
#define ROOFTILE_REGISTER_CUB register_histogram_peers_cub_newest
constexpr const char* kPeer = "cub_newest";
#else
#define ROOFTILE_REGISTER_CUB register_histogram_peers_cub
constexpr const char* kPeer = "cub";
#endif

void ROOFTILE_REGISTER_CUB(Registry& registry) {
  registry.add(describe_peer<HistogramArgs>("histogram", kPeer,
                                            "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." +
                                                std::to_string(CUB_MINOR_VERSION) + "." +
                                                std::to_string(CUB_SUBMINOR_VERSION),
                                            launch_cub, supports, plan));
}

}  // namespace rooftile
