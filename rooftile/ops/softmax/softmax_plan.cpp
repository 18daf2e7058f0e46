#include "rooftile/ops/softmax/softmax_plan.h"

#include <algorithm>

namespace rooftile::softmax_plan {
namespace {

// Shared memory beside the ring: barriers, and what the warps of two rows found.
constexpr std::int64_t kBesideRing = 6144;
// Of a multiprocessor, beside what blocks ask for: each has 1 KiB that is the system's.
constexpr std::int64_t kOfSystem = 1024;
constexpr std::int64_t kMostBytesOfTwo =
    49152;  // of a part: two blocks of a multiprocessor have room for one and more behind it

std::int64_t element_bytes(const SoftmaxArgs& args) {
  return static_cast<std::int64_t>(size_of(args.x.dtype));
}

std::int64_t vectors_of(const SoftmaxArgs& args, const Rows<kTensors>& rows) {
  return ceil_div(rows.length * element_bytes(args), kRowVectorBytes);
}

}  // namespace

Rows<kTensors> geometry(const SoftmaxArgs& args) {
  return rows_of<kTensors>({args.x, args.bias, args.mask, args.y});
}

bool has_vectors(const SoftmaxArgs& args, const Rows<kTensors>& rows) {
  return lie_alike(args.x, rows.tensors[kX], args.y, rows.tensors[kY]);
}

std::int64_t covering_vectors(const SoftmaxArgs& args, const Rows<kTensors>& rows) {
  return rooftile::covering_vectors(args.x, rows.tensors[kX], rows.length);
}

bool is_whole(const SoftmaxArgs& args, const Rows<kTensors>& rows) {
  const auto begins = [&](const ConstTensorView& view, std::size_t tensor) {
    return reinterpret_cast<std::uintptr_t>(view.data) % kRowVectorBytes == 0 &&
           rows.tensors[tensor].pitch * element_bytes(args) % kRowVectorBytes == 0;
  };
  return rows.inner == rows.count && rows.length * element_bytes(args) % kRowVectorBytes == 0 &&
         begins(args.x, kX) && begins(args.y, kY);
}

int element_shape(std::int64_t length) {
  const auto* found = std::find_if(kElementThreads.begin(), kElementThreads.end(), [&](int threads) {
    return std::int64_t{threads} * kOwnElements >= length;
  });
  return found == kElementThreads.end() ? -1 : static_cast<int>(found - kElementThreads.begin());
}

RowRingPlan ring_plan(const SoftmaxArgs& args, const Rows<kTensors>& rows, const DeviceProperties& device,
                      int blocks) {
  constexpr std::int64_t kStageVectors = kRingStageBytes / kRowVectorBytes;
  RowRingPlan plan{.blocks = blocks, .part = ceil_div(vectors_of(args, rows), blocks)};
  const std::int64_t needed = larger(1, ceil_div(plan.part, kStageVectors));
  const auto stages_of = [&](std::int64_t bytes) {
    return smaller(kMostRingStages, (bytes - kBesideRing) / kRingStageBytes);
  };
  const auto most = static_cast<std::int64_t>(device.shared_memory_per_block);
  const bool is_of_two = plan.part * kRowVectorBytes <= kMostBytesOfTwo;
  const std::int64_t stages = stages_of(is_of_two ? (most + kOfSystem) / 2 - kOfSystem : most);
  if (needed > stages) return plan;
  plan.stages = static_cast<int>(stages);
  // A cluster lies within 16 multiprocessors that are neighbours; one of two anywhere.
  constexpr std::int64_t kNeighbours = 16;
  const std::int64_t resident =
      (blocks <= 2 ? device.multiprocessors / blocks
                   : device.multiprocessors / kNeighbours * (kNeighbours / blocks)) *
      (is_of_two ? 2 : 1);
  plan.clusters = static_cast<int>(clamped(rows.count, 1, larger(1, resident)));
  return plan;
}

ClusterCut cluster_cut(const SoftmaxArgs& args, const Rows<kTensors>& rows, const DeviceProperties& device) {
  const std::int64_t vectors = covering_vectors(args, rows);
  // Rows that get all blocks that a cluster may have: in smaller ones there would be fewer threads.
  const bool is_few = rows.count * kMostClusterBlocks <= device.multiprocessors;
  for (std::size_t shape = is_few ? 1 : 0; shape < kClusterShapes.size(); ++shape) {
    const std::int64_t needed = larger(2, ceil_div(vectors, kClusterShapes[shape].capacity()));
    if (needed > kMostBlocksOfShape[shape]) continue;
    auto blocks = static_cast<int>(needed);
    while (blocks * 2 <= kMostClusterBlocks && rows.count * blocks * 2 <= device.multiprocessors) blocks *= 2;
    return {static_cast<int>(shape), blocks, static_cast<int>(ceil_div(vectors, blocks))};
  }
  return {};
}

bool is_load_first(const ClusterCut& cut, const Rows<kTensors>& rows, const DeviceProperties& device) {
  constexpr int kSmallBlock = 256;
  const int threads = kClusterShapes[static_cast<std::size_t>(cut.shape)].threads;
  const std::int64_t at_once = std::int64_t{kResidentThreads} / threads * device.multiprocessors;
  return threads <= kSmallBlock && rows.count * cut.blocks > at_once;
}

GridCut grid_cut(const SoftmaxArgs& args, const Rows<kTensors>& rows, const DeviceProperties& device) {
  constexpr int kBeside = 0;
  return grid_for(rows.count, covering_vectors(args, rows), kBeside, device);
}

SplitCut split_cut(const SoftmaxArgs& args, const Rows<kTensors>& rows, const DeviceProperties& device) {
  constexpr int kBeside = 0;
  return split_for(kSplitShapes, rows.count, covering_vectors(args, rows), kBeside, device);
}

int ring_blocks(const SoftmaxArgs& args, const Rows<kTensors>& rows, const DeviceProperties& device) {
  for (int blocks = 2; blocks <= kMostClusterBlocks; blocks *= 2) {
    if (ring_plan(args, rows, device, blocks).stages > 0) return blocks;
  }
  return 0;
}

}  // namespace rooftile::softmax_plan
