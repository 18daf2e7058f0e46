// What the rungs of reduce share: from arguments to a reduction type, and the pass loop of the lesson rungs.
#pragma once

#include <cstdint>
#include <limits>

#include "rooftile/core/integers.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/device/launch.h"
#include "rooftile/ops/reduce/reduce.h"
#include "rooftile/ops/reduce/reduce_plan.h"
#include "rooftile/ops/reduce/rungs/reductions.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {

// Calls body(reduction). The lesson rungs: sum and max of f32, where an element is its own accumulator.
template <class Body>
Status dispatch_lesson(const ReduceArgs& args, Body&& body) {
  return args.op == ReduceOp::max ? body(Extreme<float>{}) : body(Sum<float>{});
}

// The pattern that every element is read through (reductions.h).
inline std::uint64_t flip_of(const ReduceArgs& args) {
  return ROOFTILE_TARGET::flip_of(args.in.dtype, args.op == ReduceOp::min || args.op == ReduceOp::argmin);
}

// Calls body.operator()<In>() for every dtype. The checked build: one type per size up to 4 bytes, and floats
// of both kinds.
template <class Body>
Status dispatch_elements(const ReduceArgs& args, Body&& body) {
  using All =
      DTypes<double, float, __half, __nv_bfloat16, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
  using Checked = DTypes<float, __half, std::uint8_t, std::uint32_t>;
  return dispatch(CompiledDTypes<All, Checked>{}, unsigned_of(args.in.dtype), body);
}

// Calls body(reduction) for the operations whose result is a value: all but argmin and argmax.
template <class Body>
Status dispatch_values(const ReduceArgs& args, Body&& body) {
  const std::uint64_t flip = flip_of(args);
  return dispatch_elements(args, [&]<class In>() -> Status {
    const bool sums = args.op == ReduceOp::sum || args.op == ReduceOp::mean;
    return sums ? body(Sum<In>{flip}) : body(Extreme<In>{flip});
  });
}

// Every operation.
template <class Body>
Status dispatch_reduction(const ReduceArgs& args, Body&& body) {
  if (args.op != ReduceOp::argmin && args.op != ReduceOp::argmax) return dispatch_values(args, body);
  const std::uint64_t flip = flip_of(args);
  return dispatch_elements(args, [&]<class In>() -> Status { return body(ArgExtreme<In>{flip}); });
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
    return smaller(reduce_plan::pass_blocks(n, items), max_blocks);
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
