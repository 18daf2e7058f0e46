// What the rungs of reduce share: from arguments to a reduction type, and the pass loop of the lesson rungs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "rooftile/device/dispatch.h"
#include "rooftile/device/launch.h"
#include "rooftile/ops/reduce/reduce.h"
#include "rooftile/ops/reduce/reduce_functor.h"
#include "rooftile/ops/reduce/reduce_plan.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {

// Calls body(reduction). The lesson rungs: sum and max of f32, where an element is its own accumulator.
template <class Body>
Status dispatch_lesson(const ReduceArgs& args, Body&& body) {
  return args.op == ReduceOp::max ? body(Extreme<float, true>{}) : body(Sum<float>{});
}

// Every operation on every dtype.
template <class Body>
Status dispatch_reduction(const ReduceArgs& args, Body&& body) {
  using All = DTypes<double, float, __half, __nv_bfloat16, std::int8_t, std::int16_t, std::int32_t,
                     std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
  return dispatch(All{}, args.in.dtype, [&]<class In>() -> Status {
    switch (args.op) {
      case ReduceOp::sum:
      case ReduceOp::mean:
        return body(Sum<In>{});
      case ReduceOp::min:
        return body(Extreme<In, false>{});
      case ReduceOp::max:
        return body(Extreme<In, true>{});
      case ReduceOp::argmin:
        return body(ArgExtreme<In>{.smallest = true});
      case ReduceOp::argmax:
        return body(ArgExtreme<In>{.smallest = false});
    }
    return internal_error("an unknown ReduceOp");
  });
}

inline ReduceOutput make_output(const ReduceArgs& args, std::int64_t count) {
  return {args.out.data, args.out.dtype, args.op == ReduceOp::mean, count};
}

// The last 64 values by one warp. Its lanes run together only as far as __syncwarp says: each step reads,
// waits, writes, waits. (Code from before Volta leaves the waits out and is wrong today.)
template <class Reduction>
__device__ __forceinline__ void reduce_last_warp(const Reduction& reduction, float* s_values, int lane) {
#pragma unroll
  for (int stride = 32; stride > 0; stride /= 2) {
    const float value = reduction.combine(s_values[lane], s_values[lane + stride]);
    __syncwarp();
    s_values[lane] = value;
    __syncwarp();
  }
}

using LessonKernel = void (*)(const float*, std::int64_t, float*);

// kernel(in, n, out) leaves one value per block; launches it until one value is left. A block takes
// kPassBlock * items elements; where max_blocks is smaller the kernel strides over the rest.
inline Status launch_passes(LessonKernel kernel, StreamRef stream, const ReduceArgs& args,
                            const Workspace& workspace, int items = 1,
                            std::int64_t max_blocks = std::numeric_limits<std::int64_t>::max()) {
  const auto blocks_for = [&](std::int64_t n) {
    return std::min(reduce_plan::pass_blocks(n, items), max_blocks);
  };
  std::int64_t n = args.in.numel();
  const auto* g_in = static_cast<const float*>(args.in.data);
  auto* const g_first = static_cast<float*>(workspace.data);
  float* g_buffers[2] = {g_first, g_first + blocks_for(n)};  // in turn: a pass never writes what it reads
  for (int pass = 0;; ++pass) {
    const std::int64_t blocks = blocks_for(n);
    float* g_out = blocks == 1 ? static_cast<float*>(args.out.data) : g_buffers[pass % 2];
    ROOFTILE_TRY(launch(kernel,
                        {.grid = dim3(static_cast<unsigned>(blocks)),
                         .block = dim3(reduce_plan::kPassBlock),
                         .stream = stream},
                        g_in, n, g_out));
    if (blocks == 1) return {};
    g_in = g_out;
    n = blocks;
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
