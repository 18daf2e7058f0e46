// Runs a kernel on the simulated SM.
//
// One OS thread runs a block at a time, one fiber per CUDA thread. Blocks start in index order, each on an OS
// thread that runs it to its end: waiting for an earlier block makes progress, waiting for a later one may
// not. A cooperative launch holds one OS thread per block, all at once; a launch with clusters one per block
// of a cluster, and runs the clusters in index order. Launches are serialised, whoever makes them.
#pragma once

#include <cstddef>

#include "rooftile/core/status.h"
#include "rooftile/sim/vector_types.h"

namespace rooftile::simt {

struct GridShape {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  dim3 cluster{1};  // blocks that run at the same time and reach each other's shared memory
};

// A kernel with its arguments bound; `run` is called once per thread.
struct KernelCall {
  void (*run)(const void* bound) = nullptr;
  const void* bound = nullptr;
  std::size_t bound_bytes = 0;
  const void* kernel = nullptr;  // its code, for its name
};

// Returns when every block has finished, or when one has failed: an assertion, a
// trap, a misused barrier or collective, a deadlock, polling without progress. Of
// several failed blocks the first by index is reported. The next launch works.
[[nodiscard]] Status run_grid(const GridShape& shape, const KernelCall& kernel);

}  // namespace rooftile::simt
