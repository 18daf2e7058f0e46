// A block for each 2048 elements: the kernel of the two Blelloch rungs and the first step of recursive.
#pragma once

#include "rooftile/device/launch.h"
#include "rooftile/ops/scan/rungs/blelloch_tree.h"
#include "rooftile/ops/scan/rungs/scan_device.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {

// Block b scans elements b * stride ... + length - 1, at most 2048 of them (of the last block what is there of `n`), and
// leaves their total, without `initial`, in g_totals[b] where there is one.
template <class Place, class Scan>
__global__ void __launch_bounds__(scan_plan::kTreeThreads)
    tree_rows_kernel(const typename Scan::In* g_in, typename Scan::Out* g_out, std::int64_t n, int stride,
                     Scan scan, bool exclusive, typename Scan::Acc initial, typename Scan::Acc* g_totals) {
  using Acc = typename Scan::Acc;
  __shared__ Acc s_tree[Place::kWords];
  const auto combine = [&](const Acc& a, const Acc& b) { return scan.combine(a, b); };
  const std::int64_t first = std::int64_t{blockIdx.x} * stride;
  const auto thread = static_cast<int>(threadIdx.x);
  Acc own[2];
#pragma unroll
  for (int k = 0; k < 2; ++k) {  // neighbouring lanes, neighbouring elements
    const int i = thread + k * scan_plan::kTreeThreads;
    own[k] = i < stride && first + i < n ? scan.take(g_in[first + i]) : scan.identity();
    s_tree[Place::at(i)] = own[k];
  }
  __syncthreads();  // all elements are there
  const Acc total = scan_tree<Place>(s_tree, scan.identity(), combine);
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const int i = thread + k * scan_plan::kTreeThreads;
    const Acc in_front = combine(initial, s_tree[Place::at(i)]);
    if (i < stride && first + i < n)
      g_out[first + i] = scan.give(exclusive ? in_front : combine(in_front, own[k]));
  }
  if (thread == 0 && g_totals != nullptr) g_totals[blockIdx.x] = total;
}

// Rows of at most 2048 elements, a block each.
template <class Place>
Status launch_tree_rows(const Call<ScanArgs>& call) {
  return dispatch_lesson(call.args, [&]<class Scan>(const Scan& scan) {
    const scan_plan::Rows rows = scan_plan::rows_of(call.args);
    return launch(tree_rows_kernel<Place, Scan>,
                  {.grid = dim3(static_cast<unsigned>(rows.count)),
                   .block = dim3(scan_plan::kTreeThreads),
                   .stream = call.stream},
                  static_cast<const typename Scan::In*>(call.args.in.data),
                  static_cast<typename Scan::Out*>(call.args.out.data), call.args.in.numel(),
                  static_cast<int>(rows.length), scan, call.args.exclusive, scan.initial(call.args), nullptr);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
