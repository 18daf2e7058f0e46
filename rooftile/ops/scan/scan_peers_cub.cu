// CUB's DeviceScan as the opponent of scan: sums of a single row, inclusive and exclusive, in the dtypes of scan's tables.
//
// Compiled against the toolkit's CUB and, by scan_peers_cub_newest.cu, against the newest: the faster of the two is the
// opponent.
#include <cub/device/device_scan.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <limits>

#include "rooftile/core/describe.h"
#include "rooftile/core/detail/cuda_error.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/scan/scan.h"
#include "rooftile/ops/scan/scan_plan.h"

namespace rooftile {
namespace {

// CUB's own addition accumulates 16-bit floats in 16 bits; CUB is given what scan computes, so that both do the same work.
struct AddFloat {
  __host__ __device__ float operator()(float a, float b) const { return a + b; }
};

struct CubCall {
  void* storage;  // null: only the bytes that CUB needs are written
  std::size_t& bytes;
  const ScanArgs& args;
  cudaStream_t stream;

  template <class T, class Acc, class Op>
  cudaError_t run(Op op) const {
    const auto* in = static_cast<const T*>(args.in.data);
    auto* out = static_cast<T*>(args.out.data);
    const auto n = static_cast<int>(args.in.numel());
    if (args.exclusive) return cub::DeviceScan::ExclusiveScan(storage, bytes, in, out, op, Acc{}, n, stream);
    return cub::DeviceScan::InclusiveScan(storage, bytes, in, out, op, n, stream);
  }
};

cudaError_t run_cub(const CubCall& call) {
  switch (call.args.in.dtype) {
    case DType::f64:
      return call.run<double, double>(::cuda::std::plus<>{});
    case DType::f32:
      return call.run<float, float>(::cuda::std::plus<>{});
    case DType::f16:
      return call.run<__half, float>(AddFloat{});
    case DType::bf16:
      return call.run<__nv_bfloat16, float>(AddFloat{});
    case DType::i32:
    case DType::u32:
      return call.run<std::uint32_t, std::uint32_t>(::cuda::std::plus<>{});
    case DType::i64:
    case DType::u64:
      return call.run<std::uint64_t, std::uint64_t>(::cuda::std::plus<>{});
    case DType::u8:
    case DType::i8:
      return call.run<std::uint8_t, std::uint8_t>(::cuda::std::plus<std::uint8_t>{});
    default:
      return cudaErrorNotSupported;
  }
}

std::string_view supports(const ScanArgs& args, const DeviceProperties&) {
  if (args.op != ScanOp::sum || args.initial) return "CUB is asked for sums without an initial value only";
  if (scan_plan::rows_of(args).count > 1) return "CUB is asked for a single row only";
  if (args.in.numel() > std::numeric_limits<int>::max()) return "CUB is asked for up to 2^31 - 1 elements";
  return "";
}

RungPlan plan(const ScanArgs& args, const DeviceProperties&) {
  std::size_t bytes = 0;
  // An error here comes again from the launch, which reports it.
  (void)run_cub({nullptr, bytes, args, nullptr});
  return {.workspace = {.bytes = bytes}};
}

Status launch_cub(const Call<ScanArgs>& call) {
  std::size_t bytes = call.workspace.bytes;
  const cudaError_t error =
      run_cub({call.workspace.data, bytes, call.args, static_cast<cudaStream_t>(call.stream.handle)});
  return error == cudaSuccess ? Status() : detail::cuda_error_status(error, "cub::DeviceScan");
}

}  // namespace

#if defined(ROOFTILE_NEWEST_CUB)
#define ROOFTILE_REGISTER_CUB register_scan_peers_cub_newest
constexpr const char* kPeer = "cub_newest";
#else
#define ROOFTILE_REGISTER_CUB register_scan_peers_cub
constexpr const char* kPeer = "cub";
#endif

void ROOFTILE_REGISTER_CUB(Registry& registry) {
  registry.add(describe_peer<ScanArgs>("scan", kPeer,
                                       "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." +
                                           std::to_string(CUB_MINOR_VERSION) + "." +
                                           std::to_string(CUB_SUBMINOR_VERSION),
                                       launch_cub, supports, plan));
}

}  // namespace rooftile
