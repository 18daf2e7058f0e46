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
  return ceil_div(rows.length * element_bytes(args), kVectorBytes);
}

}  // namespace

Rows<kTensors> geometry(const SoftmaxArgs& args) {
  return rows_of<kTensors>({args.x, args.bias, args.mask, args.y});
}

bool has_vectors(const SoftmaxArgs& args, const Rows<kTensors>& rows) {
  const RowPitch& x = rows.tensors[kX];
  const RowPitch& y = rows.tensors[kY];
  if (x.step != 1 || y.step != 1) return false;
  const std::int64_t size = element_bytes(args);
  const auto apart =
      reinterpret_cast<std::uintptr_t>(args.x.data) - reinterpret_cast<std::uintptr_t>(args.y.data);
  return apart % kVectorBytes == 0 && (x.pitch - y.pitch) * size % kVectorBytes == 0 &&
         (x.outer_pitch - y.outer_pitch) * size % kVectorBytes == 0;
}

std::int64_t covering_vectors(const SoftmaxArgs& args, const Rows<kTensors>& rows) {
  const std::int64_t size = element_bytes(args);
  const RowPitch& x = rows.tensors[kX];
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(args.x.data) % kVectorBytes == 0 &&
                          x.pitch * size % kVectorBytes == 0 && x.outer_pitch * size % kVectorBytes == 0;
  return ceil_div(rows.length * size + (is_aligned ? 0 : kVectorBytes - size), kVectorBytes);
}

int row_shape(std::int64_t vectors) {
  const auto* found = std::find_if(kRowShapes.begin(), kRowShapes.end(),
                                   [&](const RowShape& shape) { return shape.capacity() >= vectors; });
  return found == kRowShapes.end() ? -1 : static_cast<int>(found - kRowShapes.begin());
}

int element_shape(std::int64_t length) {
  const auto* found = std::find_if(kElementThreads.begin(), kElementThreads.end(), [&](int threads) {
    return std::int64_t{threads} * kOwnElements >= length;
  });
  return found == kElementThreads.end() ? -1 : static_cast<int>(found - kElementThreads.begin());
}

RowRingPlan ring_plan(const SoftmaxArgs& args, const Rows<kTensors>& rows, const DeviceProperties& device,
                      int blocks) {
  constexpr std::int64_t kStageVectors = kRingStageBytes / kVectorBytes;
  RowRingPlan plan{.blocks = blocks, .part = ceil_div(vectors_of(args, rows), blocks)};
  const std::int64_t needed = larger(1, ceil_div(plan.part, kStageVectors));
  const auto stages_of = [&](std::int64_t bytes) {
    return smaller(kMostRingStages, (bytes - kBesideRing) / kRingStageBytes);
  };
  const auto most = static_cast<std::int64_t>(device.shared_memory_per_block);
  const bool is_of_two = plan.part * kVectorBytes <= kMostBytesOfTwo;
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

// Small blocks before large ones: 1024 x 131072 f32 by 16 blocks of 256 threads 0.83 of the bound, by 8 of 512 0.81; bf16 by 8
// blocks of 256 threads 0.85, by 4 of 512 0.77.
ClusterCut cluster_cut(const SoftmaxArgs& args, const Rows<kTensors>& rows, const DeviceProperties& device) {
  const std::int64_t vectors = covering_vectors(args, rows);
  for (std::size_t shape = 0; shape < kClusterShapes.size(); ++shape) {
    for (int blocks = 2; blocks <= kMostClusterBlocks; blocks *= 2) {
      if (kClusterShapes[shape].capacity() * blocks < vectors) continue;
      // Few rows: as many multiprocessors to each as there are.
      while (blocks < kMostClusterBlocks && rows.count * blocks * 2 <= device.multiprocessors) blocks *= 2;
      return {static_cast<int>(shape), blocks, static_cast<int>(ceil_div(vectors, blocks))};
    }
  }
  return {};
}

int ring_blocks(const SoftmaxArgs& args, const Rows<kTensors>& rows, const DeviceProperties& device) {
  for (int blocks = 2; blocks <= kMostClusterBlocks; blocks *= 2) {
    if (ring_plan(args, rows, device, blocks).stages > 0) return blocks;
  }
  return 0;
}

}  // namespace rooftile::softmax_plan
