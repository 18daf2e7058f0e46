// What the kernels of reduce share: the reductions as types, their dispatch, and the pass loop of the lesson rungs.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "rooftile/device/dispatch.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/ops/reduce/reduce_plan.h"
#include "rooftile/ops/reduce/rungs.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {

struct SumFloat {
  using In = float;
  using Acc = float;
  __device__ __forceinline__ static Acc identity() { return 0.0f; }
  __device__ __forceinline__ Acc operator()(Acc a, Acc b) const { return a + b; }
};
struct SumInt {
  using In = std::int32_t;
  using Acc = std::int64_t;
  __device__ __forceinline__ static Acc identity() { return 0; }
  __device__ __forceinline__ Acc operator()(Acc a, Acc b) const { return a + b; }
};
struct MaxFloat {
  using In = float;
  using Acc = float;
  __device__ __forceinline__ static Acc identity() { return -INFINITY; }
  // NaN wins from either side: an ordered comparison with it is false.
  __device__ __forceinline__ Acc operator()(Acc a, Acc b) const { return a > b || a != a ? a : b; }
};
struct MaxInt {
  using In = std::int32_t;
  using Acc = std::int32_t;
  __device__ __forceinline__ static Acc identity() { return std::numeric_limits<std::int32_t>::min(); }
  __device__ __forceinline__ Acc operator()(Acc a, Acc b) const { return a > b ? a : b; }
};

// The lesson rungs: f32 only (their rows say so).
template <class Body>
Status dispatch_f32(const ReduceArgs& args, Body&& body) {
  return args.op == ReduceOp::sum ? body.template operator()<SumFloat>() : body.template operator()<MaxFloat>();
}

template <class Body>
Status dispatch_all(const ReduceArgs& args, Body&& body) {
  return dispatch(DTypes<float, std::int32_t>{}, args.in.dtype, [&]<class In>() -> Status {
    if constexpr (std::is_same_v<In, float>) {
      return dispatch_f32(args, body);
    } else {
      return args.op == ReduceOp::sum ? body.template operator()<SumInt>() : body.template operator()<MaxInt>();
    }
  });
}

// The pass loop of the lesson rungs: kernel(in, n, out) leaves one value per block of kPassBlock elements; launches
// it until one value is left. One kernel serves every pass because their f32 has In = Acc.
template <class Acc>
Status launch_passes(void (*kernel)(const Acc*, std::int64_t, Acc*), StreamRef stream, const ReduceArgs& args,
                     const Workspace& workspace) {
  std::int64_t n = args.in.numel();
  const Acc* g_in = static_cast<const Acc*>(args.in.data);
  Acc* const g_first = static_cast<Acc*>(workspace.data);
  Acc* g_buffers[2] = {g_first, g_first + reduce_plan::pass_blocks(n)};  // in turn: a pass never writes what it reads
  for (int pass = 0;; ++pass) {
    const std::int64_t blocks = reduce_plan::pass_blocks(n);
    Acc* g_out = blocks == 1 ? static_cast<Acc*>(args.out.data) : g_buffers[pass % 2];
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
