#include "tests/device/sm90a_wgmma.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/sm90a/fence.h"
#include "rooftile/device/sm90a/matrix_descriptor.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/device/sm90a/tma.h"
#include "rooftile/device/sm90a/wgmma.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

using namespace testing_sm90a;  // NOLINT(google-build-using-namespace): the tests' own names

constexpr int kGroupThreads = 128;

template <MatrixMajor kMajor>
__device__ __forceinline__ MatrixDescriptor<kMajor> descriptor(const std::byte* s_image,
                                                               const OperandLayout& layout) {
  return make_matrix_descriptor<kMajor>(s_image, layout.swizzle, layout.leading_bytes, layout.stride_bytes);
}

template <class T, int kWidth, bool kFromRegisters, MatrixMajor kMajorA, MatrixMajor kMajorB>
__global__ void product_kernel(OperandLayout a_layout, OperandLayout b_layout, bool accumulate,
                               const std::byte* g_images, const std::uint32_t* g_a, float* g_d) {
  ROOFTILE_DYN_SHARED(std::byte, s_images);
  const auto t = static_cast<int>(threadIdx.x);
  const auto* g_words = reinterpret_cast<const std::uint32_t*>(g_images);
  auto* s_words = reinterpret_cast<std::uint32_t*>(s_images);
  for (int i = t; i < static_cast<int>(2 * kWgmmaImageBytes / 4); i += kGroupThreads) s_words[i] = g_words[i];
  fence_proxy_async<FenceSpace::shared_block>();
  __syncthreads();  // both operands are there
  constexpr int kSums = kWidth / 2;
  float sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = g_d[t * kSums + i];
  const auto b = descriptor<kMajorB>(s_images + kWgmmaImageBytes, b_layout);
  if constexpr (kFromRegisters) {
    std::uint32_t a[4];
    for (int i = 0; i < 4; ++i) a[i] = g_a[t * 4 + i];
    wgmma_tie(a);
    wgmma_fence(sums);
    wgmma<T>(sums, a, b, accumulate);
  } else {
    const auto a = descriptor<kMajorA>(s_images, a_layout);
    wgmma_fence(sums);
    wgmma<T>(sums, a, b, accumulate);
  }
  wgmma_commit();
  wgmma_wait<0>(sums);
  for (int i = 0; i < kSums; ++i) g_d[t * kSums + i] = sums[i];
}

constexpr auto kAlongK = MatrixMajor::k;
constexpr auto kAcross = MatrixMajor::mn;

template <class T, int kWidth, bool kFromRegisters, MatrixMajor kMajorA, MatrixMajor kMajorB>
Status run_kernel(StreamRef stream, const WgmmaForm& form, const std::byte* g_images,
                  const std::uint32_t* g_a, float* g_d) {
  return launch(product_kernel<T, kWidth, kFromRegisters, kMajorA, kMajorB>,
                {.block = kGroupThreads, .shared_bytes = 2 * kWgmmaImageBytes, .stream = stream}, form.a,
                form.b, form.accumulate, g_images, g_a, g_d);
}

template <class T, int kWidth, class... Arguments>
Status run_width(StreamRef stream, const WgmmaForm& form, Arguments... arguments) {
  if (form.a_in_registers) {
    return form.b.mn_major ? run_kernel<T, kWidth, true, kAlongK, kAcross>(stream, form, arguments...)
                           : run_kernel<T, kWidth, true, kAlongK, kAlongK>(stream, form, arguments...);
  }
  if (form.a.mn_major) {
    return form.b.mn_major ? run_kernel<T, kWidth, false, kAcross, kAcross>(stream, form, arguments...)
                           : run_kernel<T, kWidth, false, kAcross, kAlongK>(stream, form, arguments...);
  }
  return form.b.mn_major ? run_kernel<T, kWidth, false, kAlongK, kAcross>(stream, form, arguments...)
                         : run_kernel<T, kWidth, false, kAlongK, kAlongK>(stream, form, arguments...);
}

template <class T, class... Arguments>
Status run_some_widths(StreamRef stream, const WgmmaForm& form, Arguments... arguments) {
  switch (form.n) {
    case 16:
      return run_width<T, 16>(stream, form, arguments...);
    case 64:
      return run_width<T, 64>(stream, form, arguments...);
    default:
      return run_width<T, 192>(stream, form, arguments...);
  }
}

// Halves, both along k, of each width.
template <int kWidth, class... Arguments>
Status run_every_width(StreamRef stream, const WgmmaForm& form, Arguments... arguments) {
  if (form.n != kWidth) {
    if constexpr (kWidth < 256) return run_every_width<kWidth + 8>(stream, form, arguments...);
  }
  return form.a_in_registers
             ? run_kernel<__half, kWidth, true, kAlongK, kAlongK>(stream, form, arguments...)
             : run_kernel<__half, kWidth, false, kAlongK, kAlongK>(stream, form, arguments...);
}

Status run_product(StreamRef stream, const WgmmaForm& form, const std::byte* g_images,
                   const std::uint32_t* g_a, float* g_d) {
  if (!has_form(form)) return invalid_argument("a form that is not built");
  if (form.bfloat) return run_some_widths<__nv_bfloat16>(stream, form, g_images, g_a, g_d);
  if (form.a.mn_major || form.b.mn_major) return run_some_widths<__half>(stream, form, g_images, g_a, g_d);
  return run_every_width<8>(stream, form, g_images, g_a, g_d);
}

constexpr int kStages = 2;
constexpr int kGroups = kTilesRows / 64;
constexpr int kProducer = kGroups * kGroupThreads;  // the thread that loads
constexpr std::uint32_t kBoxBytes = 64 * 64 * 2;
constexpr std::uint32_t kBoxesOfB = kTilesColumns / 64;
constexpr std::uint32_t kStageBytes = (kGroups + kBoxesOfB) * kBoxBytes;

// The last warp loads, the warpgroups before it multiply. A stage holds a's boxes, one for each, then those of b.
template <MatrixMajor kMajorA, MatrixMajor kMajorB>
__global__ void tiles_kernel(const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map,
                             int tiles, float* g_out) {
  ROOFTILE_DYN_SHARED(std::byte, s_stages);
  __shared__ Mbarrier s_full[kStages];
  __shared__ Mbarrier s_empty[kStages];
  const auto t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      mbarrier_init(&s_full[s], 1);
      mbarrier_init(&s_empty[s], kGroups);
    }
    fence_mbarrier_init();
  }
  __syncthreads();  // the barriers are there
  const auto first_row = static_cast<std::int32_t>(blockIdx.x) * kTilesRows;
  if (t >= kProducer) {
    const auto load = [&]<MatrixMajor kMajor>(const TensorMap& map, std::byte* s_box, std::int32_t row,
                                              std::int32_t k, Mbarrier* s_barrier) {
      if constexpr (kMajor == kAlongK) {
        tma_load(s_box, map, {k, row}, s_barrier);
      } else {
        tma_load(s_box, map, {row, k}, s_barrier);
      }
    };
    for (int tile = 0; t == kProducer && tile < tiles; ++tile) {
      const int s = tile % kStages;
      const auto round = static_cast<std::uint32_t>(tile / kStages);
      if (round > 0) mbarrier_wait(&s_empty[s], (round - 1) % 2);
      mbarrier_arrive_expect_tx(&s_full[s], kStageBytes);
      std::byte* s_box = s_stages + static_cast<std::uint32_t>(s) * kStageBytes;
      for (int box = 0; box < kGroups; ++box, s_box += kBoxBytes) {
        load.template operator()<kMajorA>(a_map, s_box, first_row + box * 64, tile * kTilesDepth, &s_full[s]);
      }
      for (int box = 0; box < static_cast<int>(kBoxesOfB); ++box, s_box += kBoxBytes) {
        load.template operator()<kMajorB>(b_map, s_box, box * 64, tile * kTilesDepth, &s_full[s]);
      }
    }
    return;
  }
  const int group = t / kGroupThreads;
  float sums[kTilesColumns / 2];
  const auto descriptor_of = [&]<MatrixMajor kMajor>(const std::byte* s_boxes) {
    if constexpr (kMajor == kAlongK) {
      return k_major_descriptor(s_boxes, TileSwizzle::bytes128);
    } else {
      return mn_major_descriptor(s_boxes, TileSwizzle::bytes128, kBoxBytes);
    }
  };
  constexpr std::uint32_t kStepA = kMajorA == kAlongK ? 32 : 2048;  // 16 of k
  constexpr std::uint32_t kStepB = kMajorB == kAlongK ? 32 : 2048;
  wgmma_tie(sums);
  for (int tile = 0; tile < tiles; ++tile) {
    const int s = tile % kStages;
    mbarrier_wait(&s_full[s], static_cast<std::uint32_t>(tile / kStages) % 2);
    const std::byte* s_boxes = s_stages + static_cast<std::uint32_t>(s) * kStageBytes;
    const auto a =
        descriptor_of.template operator()<kMajorA>(s_boxes + static_cast<std::uint32_t>(group) * kBoxBytes);
    const auto b = descriptor_of.template operator()<kMajorB>(s_boxes + kGroups * kBoxBytes);
    wgmma_fence();
    for (std::uint32_t step = 0; step < kTilesDepth / 16; ++step) {
      wgmma<__half>(sums, a.advanced(step * kStepA), b.advanced(step * kStepB), tile > 0 || step > 0);
    }
    wgmma_commit();
    wgmma_wait<1>();  // the products of the tile before have ended: its stage is free
    if (t % kGroupThreads == 0 && tile > 0) mbarrier_arrive(&s_empty[(tile - 1) % kStages]);
  }
  wgmma_wait<0>(sums);
  for (int i = 0; i < kTilesColumns / 2; ++i) {
    const int lane = t % 32;
    const int row = first_row + t / 32 * 16 + lane / 4 + i / 2 % 2 * 8;
    g_out[row * kTilesColumns + i / 4 * 8 + lane % 4 * 2 + i % 2] = sums[i];
  }
}

Status run_tiles(StreamRef stream, bool a_mn_major, bool b_mn_major, const TensorMapSpec& a,
                 const TensorMapSpec& b, int blocks, int tiles, float* g_out) {
  TensorMap a_map;
  TensorMap b_map;
  ROOFTILE_TRY(make_tensor_map(a_map, a));
  ROOFTILE_TRY(make_tensor_map(b_map, b));
  const auto run = [&](auto* kernel) {
    return launch(kernel,
                  {.grid = static_cast<unsigned>(blocks),
                   .block = kProducer + 32,
                   .shared_bytes = kStages * kStageBytes,
                   .stream = stream},
                  a_map, b_map, tiles, g_out);
  };
  if (a_mn_major)
    return b_mn_major ? run(tiles_kernel<kAcross, kAcross>) : run(tiles_kernel<kAcross, kAlongK>);
  return b_mn_major ? run(tiles_kernel<kAlongK, kAcross>) : run(tiles_kernel<kAlongK, kAlongK>);
}

std::uint64_t descriptor_bits(std::uint32_t start, const OperandLayout& layout) {
  return matrix_descriptor_bits({start, layout.leading_bytes, layout.stride_bytes, layout.swizzle});
}

}  // namespace

WgmmaKernels wgmma_test_kernels() { return {run_product, run_tiles, descriptor_bits}; }

}  // namespace rooftile::ROOFTILE_TARGET
