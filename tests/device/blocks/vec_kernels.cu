#include "tests/device/blocks/vec_kernels.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/vec.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

constexpr int kThreads = 64;

template <int kBytes, LoadPolicy kLoad, StorePolicy kStore>
__global__ void vec_copy_kernel(const unsigned char* g_in, unsigned char* g_out, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const auto raw = load_bytes<kBytes, kLoad>(g_in + i * kBytes);
  store_bytes<kBytes, kStore>(g_out + i * kBytes, raw);
}

__global__ void vec_elements_kernel(const float* g_in, float* g_out, std::int64_t vectors) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= vectors) return;
  Vec<float, 4> four = load_vec(g_in + i * 8);
  Vec<float, 2> two = load_vec<LoadPolicy::streaming, 8>(g_in + i * 8 + 4);
  const float one = load<LoadPolicy::no_allocate>(g_in + i * 8 + 6);
  for (float& x : four.values) x *= 2.0f;
  for (float& x : two.values) x *= 2.0f;
  store_vec(g_out + i * 8, four);
  store_vec<StorePolicy::streaming>(g_out + i * 8 + 4, two);
  store<StorePolicy::no_allocate>(g_out + i * 8 + 6, 2.0f * one);
  store(g_out + i * 8 + 7, 2.0f * load<LoadPolicy::evict_first>(g_in + i * 8 + 7));
}

__global__ void alignment_kernel(const std::uint16_t* g_in, std::int64_t n, std::int64_t* g_out) {
  g_out[threadIdx.x] = elements_to_alignment(g_in + threadIdx.x, n);
}

template <int kBytes, LoadPolicy kLoad>
Status copy_with(StreamRef stream, int store, const void* g_in, void* g_out, std::int64_t count) {
  const auto* in = static_cast<const unsigned char*>(g_in);
  auto* out = static_cast<unsigned char*>(g_out);
  const LaunchConfig config{
      .grid = static_cast<unsigned>((count + kThreads - 1) / kThreads), .block = kThreads, .stream = stream};
  switch (static_cast<StorePolicy>(store)) {
    case StorePolicy::cached:
      return launch(vec_copy_kernel<kBytes, kLoad, StorePolicy::cached>, config, in, out, count);
    case StorePolicy::streaming:
      return launch(vec_copy_kernel<kBytes, kLoad, StorePolicy::streaming>, config, in, out, count);
    case StorePolicy::no_allocate:
      return launch(vec_copy_kernel<kBytes, kLoad, StorePolicy::no_allocate>, config, in, out, count);
  }
  return invalid_argument("not a store policy");
}

template <int kBytes>
Status copy_bytes(StreamRef stream, int load, int store, const void* g_in, void* g_out, std::int64_t count) {
  switch (static_cast<LoadPolicy>(load)) {
    case LoadPolicy::cached:
      return copy_with<kBytes, LoadPolicy::cached>(stream, store, g_in, g_out, count);
    case LoadPolicy::streaming:
      return copy_with<kBytes, LoadPolicy::streaming>(stream, store, g_in, g_out, count);
    case LoadPolicy::evict_first:
      return copy_with<kBytes, LoadPolicy::evict_first>(stream, store, g_in, g_out, count);
    case LoadPolicy::no_allocate:
      return copy_with<kBytes, LoadPolicy::no_allocate>(stream, store, g_in, g_out, count);
  }
  return invalid_argument("not a load policy");
}

}  // namespace

Status run_vec_copy(StreamRef stream, int bytes, int load, int store, const void* g_in, void* g_out,
                    std::int64_t count) {
  switch (bytes) {
    case 1:
      return copy_bytes<1>(stream, load, store, g_in, g_out, count);
    case 2:
      return copy_bytes<2>(stream, load, store, g_in, g_out, count);
    case 4:
      return copy_bytes<4>(stream, load, store, g_in, g_out, count);
    case 8:
      return copy_bytes<8>(stream, load, store, g_in, g_out, count);
    case 16:
      return copy_bytes<16>(stream, load, store, g_in, g_out, count);
    default:
      return invalid_argument("not an access width");
  }
}

Status run_vec_elements(StreamRef stream, const float* g_in, float* g_out, std::int64_t vectors) {
  return launch(vec_elements_kernel, {.block = kThreads, .stream = stream}, g_in, g_out, vectors);
}

Status run_alignment(StreamRef stream, const std::uint16_t* g_in, std::int64_t n, std::int64_t* g_out) {
  return launch(alignment_kernel, {.block = 16, .stream = stream}, g_in, n, g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
