// CUB's DeviceReduce and DeviceSegmentedReduce as the opponents of reduce: sum, min, max and argmax of all elements,
// and sums of the last axis, in the dtypes of reduce's tables. Counts are 32 bits wide, which CUB is faster with.
//
// Compiled against the toolkit's CUB and, by reduce_peers_cub_newest.cu, against the newest: the faster of the two is
// the opponent.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <limits>

#include "rooftile/core/describe.h"
#include "rooftile/core/detail/cuda_error.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/reduce/reduce.h"
#include "rooftile/ops/reduce/reduce_plan.h"

namespace rooftile {
namespace {

using reduce_plan::Geometry;
using reduce_plan::Pattern;

// CUB's own operators accumulate 16-bit floats in 16 bits and pass over NaN; CUB is given what reduce
// computes, so that both do the same work. Sums of f32 are its own ::cuda::std::plus, which its tuning knows.
struct AddFloat {
  __host__ __device__ float operator()(float a, float b) const { return a + b; }
};
template <bool kMax>
struct ExtremeOrNan {
  __host__ __device__ float operator()(float a, float b) const {
    return (kMax ? a > b : a < b) || a != a ? a : b;
  }
};
struct RowStart {
  int length;
  __host__ __device__ int operator()(int row) const { return row * length; }
};
// The largest element, a NaN before all others, and of equal ones the first.
struct Place {
  float value;
  int index;
};
struct PlaceAt {
  const float* in;
  __host__ __device__ Place operator()(int i) const { return {in[i], i}; }
};
struct FirstLargest {
  __host__ __device__ Place operator()(const Place& a, const Place& b) const {
    const bool a_nan = a.value != a.value;
    const bool b_nan = b.value != b.value;
    if (a_nan != b_nan) return a_nan ? a : b;
    if (a.value == b.value || a_nan) return a.index < b.index ? a : b;
    return a.value > b.value ? a : b;
  }
};
struct IndexOf {
  __host__ __device__ std::int64_t operator()(const Place& place) const { return place.index; }
};
// 16 bytes at a time, which CUB reads bytes slower than.
struct SumOfBytes {
  __host__ __device__ std::uint64_t operator()(const uint4& v) const {
    const auto sum = [](std::uint32_t w) {
      const std::uint32_t pairs = (w & 0x00FF00FFu) + (w >> 8 & 0x00FF00FFu);
      return (pairs & 0xFFFFu) + (pairs >> 16);
    };
    return sum(v.x) + sum(v.y) + sum(v.z) + sum(v.w);
  }
};

struct CubCall {
  void* storage;  // null: only the bytes that CUB needs are written
  std::size_t& bytes;
  const ReduceArgs& args;
  Geometry shape;
  cudaStream_t stream;

  [[nodiscard]] int count() const { return static_cast<int>(shape.reduced); }
  // Of all elements.
  template <class In, class Out, class Op>
  cudaError_t run(Op op, Out init) const {
    const auto* in = static_cast<const In*>(args.in.data);
    auto* out = static_cast<Out*>(args.out.data);
    return cub::DeviceReduce::Reduce(storage, bytes, in, out, count(), op, init, stream);
  }
  // Of all elements or of rows.
  template <class In, class Out, class Op>
  cudaError_t sum(Op op) const {
    if (shape.pattern == Pattern::all) return run<In, Out>(op, Out{});
    const auto* in = static_cast<const In*>(args.in.data);
    auto* out = static_cast<Out*>(args.out.data);
#if CUB_VERSION >= 300300  // rows of one length, several of them in a block
    return cub::DeviceSegmentedReduce::Reduce(storage, bytes, in, out, shape.outer, count(), op, Out{},
                                              stream);
#else
    const auto starts = thrust::make_transform_iterator(thrust::make_counting_iterator(0), RowStart{count()});
    return cub::DeviceSegmentedReduce::Reduce(storage, bytes, in, out, shape.outer, starts, starts + 1, op,
                                              Out{}, stream);
#endif
  }
  [[nodiscard]] cudaError_t sum_bytes() const {
    const bool whole = reinterpret_cast<std::uintptr_t>(args.in.data) % sizeof(uint4) == 0 &&
                       shape.reduced % static_cast<std::int64_t>(sizeof(uint4)) == 0;
    if (shape.pattern != Pattern::all || !whole)
      return sum<std::uint8_t, std::uint64_t>(::cuda::std::plus<>{});
    const auto words = thrust::make_transform_iterator(static_cast<const uint4*>(args.in.data), SumOfBytes{});
    return cub::DeviceReduce::Reduce(storage, bytes, words, static_cast<std::uint64_t*>(args.out.data),
                                     count() / static_cast<int>(sizeof(uint4)), ::cuda::std::plus<>{},
                                     std::uint64_t{0}, stream);
  }
  [[nodiscard]] cudaError_t largest_place() const {
    const auto places = thrust::make_transform_iterator(thrust::make_counting_iterator(0),
                                                        PlaceAt{static_cast<const float*>(args.in.data)});
    const auto out =
        thrust::make_transform_output_iterator(static_cast<std::int64_t*>(args.out.data), IndexOf{});
    constexpr Place kNone{-std::numeric_limits<float>::infinity(), std::numeric_limits<int>::max()};
    return cub::DeviceReduce::Reduce(storage, bytes, places, out, count(), FirstLargest{}, kNone, stream);
  }
};

template <class T>
cudaError_t extreme_of_integers(const CubCall& call) {
  if (call.args.op == ReduceOp::max)
    return call.run<T, T>(::cuda::maximum<>{}, std::numeric_limits<T>::lowest());
  return call.run<T, T>(::cuda::minimum<>{}, std::numeric_limits<T>::max());
}

cudaError_t run_cub(const CubCall& call) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool sums = call.args.op == ReduceOp::sum;
  switch (call.args.in.dtype) {
    case DType::f32:
      if (sums) return call.sum<float, float>(::cuda::std::plus<>{});
      if (call.args.op == ReduceOp::argmax) return call.largest_place();
      if (call.args.op == ReduceOp::max) return call.run<float, float>(ExtremeOrNan<true>{}, -kInfinity);
      return call.run<float, float>(ExtremeOrNan<false>{}, kInfinity);
    case DType::bf16:
      return call.sum<__nv_bfloat16, float>(AddFloat{});
    case DType::f16:
      return call.sum<__half, float>(AddFloat{});
    case DType::i32:
      if (sums) return call.sum<std::int32_t, std::int64_t>(::cuda::std::plus<>{});
      return extreme_of_integers<std::int32_t>(call);
    case DType::u8:
      if (sums) return call.sum_bytes();
      return extreme_of_integers<std::uint8_t>(call);
    default:
      return cudaErrorNotSupported;
  }
}

std::string_view supports(const ReduceArgs& args, const DeviceProperties&) {
  const Pattern pattern = reduce_plan::geometry(args).pattern;
  if (pattern != Pattern::all && pattern != Pattern::rows) return "CUB reduces contiguous rows only";
  // A block per row adds chains so long that the sum misses reduce's error rule (and takes 13 times as long).
  constexpr std::int64_t kLongestRow = std::int64_t{1} << 20;
  if (pattern == Pattern::rows && reduce_plan::geometry(args).reduced > kLongestRow) {
    return "CUB's segmented reduce is asked for rows up to 2^20 elements";
  }
  if (args.in.numel() > std::numeric_limits<int>::max()) return "CUB is asked for up to 2^31 - 1 elements";
  if (args.op == ReduceOp::argmax)
    return args.in.dtype == DType::f32 && pattern == Pattern::all
               ? ""
               : "CUB is asked for argmax of all elements of f32 only";
  if (args.op != ReduceOp::sum && args.op != ReduceOp::min && args.op != ReduceOp::max) {
    return "CUB is asked for sum, min, max and argmax only";
  }
  if (pattern == Pattern::rows && args.op != ReduceOp::sum) return "CUB is asked for sums of rows only";
  const DType in = args.in.dtype;
  if (in == DType::f32 || in == DType::i32 || in == DType::u8) {
    const DType natural = reduce_out_dtype(args.op, in);
    return args.out.dtype == natural ? "" : "CUB is asked for results of the default dtype only";
  }
  if ((in == DType::bf16 || in == DType::f16) && args.op == ReduceOp::sum && args.out.dtype == DType::f32)
    return "";
  return "CUB is asked for f32, i32, u8, and sums of f16 and bf16 into f32 only";
}

RungPlan plan(const ReduceArgs& args, const DeviceProperties&) {
  std::size_t bytes = 0;
  // An error here comes again from the launch, which reports it.
  (void)run_cub({nullptr, bytes, args, reduce_plan::geometry(args), nullptr});
  return {.workspace = {.bytes = bytes}};
}

Status launch_cub(const Call<ReduceArgs>& call) {
  // CUB takes null storage for a question about its size, also where it needs none.
  std::size_t bytes = call.workspace.bytes;
  const cudaError_t error = run_cub({call.workspace.data, bytes, call.args, reduce_plan::geometry(call.args),
                                     static_cast<cudaStream_t>(call.stream.handle)});
  return error == cudaSuccess ? Status() : detail::cuda_error_status(error, "cub::DeviceReduce");
}

}  // namespace

#if defined(ROOFTILE_NEWEST_CUB)
#define ROOFTILE_REGISTER_CUB register_reduce_peers_cub_newest
constexpr const char* kPeer = "cub_newest";
#else
#define ROOFTILE_REGISTER_CUB register_reduce_peers_cub
constexpr const char* kPeer = "cub";
#endif

void ROOFTILE_REGISTER_CUB(Registry& registry) {
  registry.add(describe_peer<ReduceArgs>("reduce", kPeer,
                                         "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." +
                                             std::to_string(CUB_MINOR_VERSION) + "." +
                                             std::to_string(CUB_SUBMINOR_VERSION),
                                         launch_cub, supports, plan));
}

}  // namespace rooftile
