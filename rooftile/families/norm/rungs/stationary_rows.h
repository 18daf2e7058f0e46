// Blocks that keep their part of weight and bias, and see the same part of one row after the other.
#pragma once

#include "rooftile/device/shared_carve.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/families/norm/rungs/cluster_rows.h"

#if !defined(ROOFTILE_SIM)
#include <atomic>
#endif

namespace rooftile::ROOFTILE_TARGET::norm {

using norm_plan::StationaryShape;

// Threads, vectors, groups, slots of kStationaryShapes[kShape].
template <class T, std::size_t kShape>
struct Stationary {
  static constexpr StationaryShape kOf = norm_plan::kStationaryShapes[kShape];
  static constexpr int kThreads = kOf.row.threads;  // of a group
  static constexpr int kVectors = kOf.row.vectors;
  static constexpr int kGroups = kOf.groups;
  static constexpr int kSlots = kOf.slots;
  static constexpr int kBlock = kThreads * kGroups;
  static constexpr int kWarps = kThreads / kWarpSize;
  using Row = RegisterRow<T, RowThreads<kThreads>, kVectors, true>;
};

template <bool kHasBias>
struct StationaryShared {
  RawVector* s_weight;
  RawVector* s_bias = nullptr;
  RawVector* s_slots;  // [groups][slots][part]
  __host__ __device__ StationaryShared(SharedCarve& carve, int part, int slots)
      : s_weight(carve.array<RawVector>(static_cast<std::size_t>(part))) {
    if constexpr (kHasBias) s_bias = carve.array<RawVector>(static_cast<std::size_t>(part));
    s_slots = carve.array<RawVector>(static_cast<std::size_t>(part) * static_cast<std::size_t>(slots));
  }
};

// What cluster_all_reduce() does for a block, of a group of its warps and the same group of the cluster's other blocks.
template <class T, int kWarps, class Combine, class OverLanes>
__device__ __forceinline__ T group_all_reduce(ClusterFound<T, kWarps>& s_found, std::uint32_t parity,
                                              int thread, T own, T identity, Combine combine,
                                              OverLanes over_lanes) {
  constexpr std::integral_constant<int, kWarpSize> kWarp;
  own = over_lanes(kWarp, own);
  __syncwarp();  // all lanes have read their row, and what was found before, when one of them says so by what it sends
  const int lane = lane_index();
  const auto blocks = static_cast<int>(cluster_blocks());
  const int count = blocks * kWarps;
  if (thread == 0) mbarrier_arrive_expect_tx(&s_found.there, static_cast<std::uint32_t>(count * sizeof(T)));
  if (lane < blocks) {
    store_async(s_found.values + static_cast<int>(cluster_rank()) * kWarps + thread / kWarpSize, own,
                &s_found.there, static_cast<std::uint32_t>(lane));
  }
  mbarrier_wait<MbarrierScope::cluster>(&s_found.there, parity);
  T all = lane < count ? s_found.values[lane] : identity;
  for (int i = lane + kWarpSize; i < count; i += kWarpSize) all = combine(all, s_found.values[i]);
  return over_lanes(kWarp, all);
}

// Each group of a block has rows of its own, and slots for them: while one waits for its sums, others load or store.
template <class Norm, class T, std::size_t kShape>
__global__ void __launch_bounds__(Stationary<T, kShape>::kBlock, 1)
    stationary_rows_kernel(Operands<T> call, int part, int clusters) {
  using Of = Stationary<T, kShape>;
  using Stats = typename Norm::Stats;
  constexpr int kThreads = Of::kThreads;
  constexpr int kSlots = Of::kSlots;
  __shared__ ClusterFound<Stats, Of::kWarps>
      s_found[Of::kGroups][3];  // of a group's even rows, of its odd ones, of scaled elements
  __shared__ Mbarrier s_full[Of::kGroups][kSlots];
  __shared__ Mbarrier s_beside_full;
  ROOFTILE_DYN_SHARED(unsigned char, s_raw);
  SharedCarve carve(s_raw);
  const StationaryShared<Norm::kHasMean> s(carve, part, Of::kGroups * kSlots);
  const int group = static_cast<int>(threadIdx.x) / kThreads;
  const int thread = static_cast<int>(threadIdx.x) % kThreads;
  RawVector* s_slots = s.s_slots + group * kSlots * part;

  const int first_vector = static_cast<int>(cluster_rank()) * part;
  const int vectors = static_cast<int>(call.length()) / kVecElements<T> - first_vector;
  const int own = vectors < 0 ? 0 : vectors < part ? vectors : part;
  const auto bytes = static_cast<std::uint32_t>(own) * kVecBytes;
  const std::int64_t offset = std::int64_t{first_vector} * kVecElements<T>;
  const std::int64_t step = std::int64_t{clusters} * Of::kGroups;
  std::int64_t r = static_cast<std::int64_t>(blockIdx.x / cluster_blocks()) * Of::kGroups + group;
  if (threadIdx.x == 0) {
    for (int g = 0; g < Of::kGroups; ++g) {
      for (auto& found : s_found[g]) found.init();
      for (auto& full : s_full[g]) mbarrier_init(&full, 1);
    }
    mbarrier_init(&s_beside_full, 1);
    fence_mbarrier_init();
  }
  cluster_sync();  // the barriers of all blocks are ready
  const auto ask = [&](std::int64_t row, int slot) {
    mbarrier_arrive_expect_tx(&s_full[group][slot], bytes);
    if (own > 0) bulk_load(s_slots + slot * part, call.x(row) + offset, bytes, &s_full[group][slot]);
  };
  if (thread == 0) {
    for (int slot = 0; slot < kSlots; ++slot)
      if (r + slot * step < call.count()) ask(r + slot * step, slot);
  }
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&s_beside_full, Norm::kHasMean ? 2 * bytes : bytes);
    if (own > 0) {
      bulk_load(s.s_weight, call.g_weight + offset, bytes, &s_beside_full);
      if constexpr (Norm::kHasMean) bulk_load(s.s_bias, call.g_bias + offset, bytes, &s_beside_full);
    }
  }
  std::uint32_t turn = 0;    // of this group's rows
  std::uint32_t scaled = 0;  // statistics of scaled elements so far
  int slot = 0;
  std::uint32_t parity = 0;  // of the slot
  for (; r < call.count(); r += step) {
    mbarrier_wait(&s_full[group][slot], parity);
    typename Of::Row row;
    row.load(reinterpret_cast<const T*>(s_slots + slot * part), own * kVecElements<T>, T{}, 0, part);
    const Results results = call.template results<Norm>([&](float scale) {
      const bool is_first = scale == 1.0f;
      return group_all_reduce(
          s_found[group][is_first ? turn % 2 : 2], is_first ? turn / 2 % 2 : scaled++ % 2, thread,
          stats_of<Norm>(row, scale), Stats{},
          [](const Stats& a, const Stats& b) { return Norm::combined(a, b); },
          [](auto lanes, const Stats& mine) { return Norm::over_lanes(lanes, mine); });
    });
    ++turn;
    // All warps of the group have sent what they found: the row is in their registers.
    if (thread == 0 && r + kSlots * step < call.count()) ask(r + kSlots * step, slot);
    if (++slot == kSlots) {
      slot = 0;
      parity ^= 1u;
    }
    if (turn == 1) mbarrier_wait(&s_beside_full, 0);
    row.store_by_place(call.y(r) + offset, [&](int v) {
      auto made = normalised(row.vector(v), results);
      const int at = thread + v * kThreads;
      weigh<Norm, T>(made, s.s_weight[at], Norm::kHasMean ? s.s_bias[at] : RawVector{});
      return rounded_each<T>(made);
    });
  }
}

// Clusters of so many blocks that are there at once: how its multiprocessors lie together is each GPU's own (128 of 132 multiprocessors
// in clusters of 8 on one H100, 120 on another), and one cluster more than there is room for would begin when the others end.
template <auto kKernel>
Result<int> resident_clusters(const LaunchConfig& config) {
#if defined(ROOFTILE_SIM)
  (void)config;
  return 1;  // whose groups see several rows of a small call
#else
  constexpr int kDevices = 16;
  constexpr int kSizes = kMostClusterBlocks + 1;
  static std::atomic<int> known[kDevices][kSizes];
  const int device = config.stream.device.index;
  std::atomic<int>* cached = device < kDevices ? &known[device][config.cluster.x] : nullptr;
  if (cached != nullptr) {
    if (const int count = cached->load(std::memory_order_relaxed); count > 0) return count;
  }
  const ::rooftile::detail::CurrentDeviceGuard current(device);
  if (current.error() != cudaSuccess)
    return ::rooftile::detail::launch_error(current.error(), "making a device current");
  const void* kernel = reinterpret_cast<const void*>(kKernel);
  const ::rooftile::detail::CudaLaunch as_launched{
      kernel,        config.grid, config.block, config.cluster, config.shared_bytes,
      config.stream, false,       false,        nullptr};
  ROOFTILE_TRY(::rooftile::detail::raise_shared_limit(as_launched));
  ROOFTILE_TRY(::rooftile::detail::allow_large_cluster(as_launched));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = config.cluster.x;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t asked{};
  asked.gridDim = config.grid;
  asked.blockDim = config.block;
  asked.dynamicSmemBytes = config.shared_bytes;
  asked.attrs = &attribute;
  asked.numAttrs = 1;
  int count = 0;
  if (const cudaError_t error = cudaOccupancyMaxActiveClusters(&count, kernel, &asked); error != cudaSuccess)
    return ::rooftile::detail::launch_error(error, "asking how many clusters fit");
  if (count == 0) return unsupported("no cluster that has room for a row fits this device: see cluster");
  if (cached != nullptr) cached->store(count, std::memory_order_relaxed);
  return count;
#endif
}

template <class Norm, class T, std::size_t kShape = 0, class Args>
Status launch_stationary_shape(const Call<Args>& call) {
  const Cut& cut = call.template config<Cut>();
  if (cut.shape == static_cast<int>(kShape)) {
    if (cut.rows.is_empty()) return {};
    using Of = Stationary<T, kShape>;
    constexpr auto kKernel = &stationary_rows_kernel<Norm, T, kShape>;
    const auto blocks = static_cast<unsigned>(cut.cluster.blocks);
    LaunchConfig config{.grid = dim3(blocks),
                        .block = dim3(Of::kBlock),
                        .shared_bytes = shared_bytes<StationaryShared<Norm::kHasMean>>(
                            cut.cluster.part, Of::kGroups * Of::kSlots),
                        .stream = call.stream,
                        .cluster = dim3(blocks)};
    ROOFTILE_TRY_ASSIGN(const int resident, resident_clusters<kKernel>(config));
    const auto clusters = static_cast<int>(smaller(resident, ceil_div(cut.rows.count, Of::kGroups)));
    config.grid = dim3(static_cast<unsigned>(clusters) * blocks);
    return launch(kKernel, config, operands_of<T>(call), cut.cluster.part, clusters);
  }
  if constexpr (kShape + 1 < norm_plan::kStationaryShapes.size())
    return launch_stationary_shape<Norm, T, kShape + 1>(call);
  return unsupported("a longer row than a cluster's slots have room for");
}

template <class Norm, class Args>
Status launch_stationary_rows(const Call<Args>& call) {
  return dispatch_floats<DTypes<float, __half>>(
      call.args, [&]<class T>() { return launch_stationary_shape<Norm, T>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
