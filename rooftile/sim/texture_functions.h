// tex1D, tex1Dfetch, tex2D and surf2Dread of kernels. What they read are objects that texture.h makes.
//
// A texel is read by a plain load of its bytes where the kernel asks for it, one after the other where they
// are filtered: the checked build judges and counts these as loads of global memory. There is no texture
// cache, and rows lie one behind the other instead of in the GPU's blocks.
#pragma once

#include <bit>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include "rooftile/sim/alignment.h"
#include "rooftile/sim/vector_types.h"

namespace rooftile::simt {

using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };

enum class TexelKind : std::uint8_t { unsigned_integer, signed_integer, floating };
struct TexelFormat {
  TexelKind kind;
  unsigned bits;  // of a channel
  unsigned channels;
  friend bool operator==(const TexelFormat&, const TexelFormat&) = default;
};

namespace detail {

struct TextureRecord;

enum class TextureShape : std::uint8_t { linear, one_dimensional, two_dimensional, surface };

struct TextureFetch {
  const char* name;
  cudaTextureObject_t object;
  TextureShape shape;
  TexelFormat wanted;
  float x = 0;
  float y = 0;
  int index = 0;  // of linear memory
};

// What a fetch has to load, and what to make of it.
struct TexturePlan {
  const TextureRecord* texture;
  unsigned texel_bytes;
  unsigned texels;         // 1, 2 or 4
  const void* address[4];  // null: outside, the border's colour
  float weight[4];
};
struct alignas(16) Texel {
  std::uint32_t words[4];
};
struct Channels {
  std::uint32_t bits[4];  // of floats, or integers
};

[[nodiscard]] TexturePlan plan_fetch(const TextureFetch& fetch, std::source_location where);
[[nodiscard]] Channels combine(const TexturePlan& plan, const Texel* texels);
// Null: outside, where the mode is zero.
[[nodiscard]] void* surface_address(const char* name, cudaSurfaceObject_t object, unsigned bytes, int x,
                                    int y, cudaSurfaceBoundaryMode mode, std::source_location where);

template <class T>
struct TexelOf {
  using Channel = T;
  static constexpr unsigned kChannels = 1;
};
template <class T>
struct TexelOf<Vector1<T>> {
  using Channel = T;
  static constexpr unsigned kChannels = 1;
};
template <class T>
struct TexelOf<Vector2<T>> {
  using Channel = T;
  static constexpr unsigned kChannels = 2;
};
template <class T>
struct TexelOf<Vector4<T>> {
  using Channel = T;
  static constexpr unsigned kChannels = 4;
};

template <class T>
constexpr TexelFormat format_read_as() {
  using Channel = typename TexelOf<T>::Channel;
  static_assert((std::is_integral_v<Channel> && sizeof(Channel) <= 4) || std::is_same_v<Channel, float>,
                "textures are read as float or integers, and vectors of 1, 2 or 4 of them");
  const TexelKind kind = std::is_same_v<Channel, float> ? TexelKind::floating
                         : std::is_signed_v<Channel>    ? TexelKind::signed_integer
                                                        : TexelKind::unsigned_integer;
  return {kind, 8 * sizeof(Channel), TexelOf<T>::kChannels};
}

template <class Channel>
Channel channel_from(std::uint32_t bits) {
  if constexpr (std::is_same_v<Channel, float>) {
    return std::bit_cast<float>(bits);
  } else {
    return static_cast<Channel>(bits);
  }
}
template <class T>
T texel_from(const Channels& channels) {
  using Channel = typename TexelOf<T>::Channel;
  if constexpr (TexelOf<T>::kChannels == 1) {
    return T{channel_from<Channel>(channels.bits[0])};
  } else if constexpr (TexelOf<T>::kChannels == 2) {
    return {channel_from<Channel>(channels.bits[0]), channel_from<Channel>(channels.bits[1])};
  } else {
    return {channel_from<Channel>(channels.bits[0]), channel_from<Channel>(channels.bits[1]),
            channel_from<Channel>(channels.bits[2]), channel_from<Channel>(channels.bits[3])};
  }
}

__attribute__((always_inline)) inline void load_texel(Texel& texel, const void* address, unsigned bytes) {
  switch (bytes) {
    case 1:
      copy_access<1>(&texel, address);
      break;
    case 2:
      copy_access<2>(&texel, address);
      break;
    case 4:
      copy_access<4>(&texel, address);
      break;
    case 8:
      copy_access<8>(&texel, address);
      break;
    default:
      copy_access<16>(&texel, address);
      break;
  }
}

template <class T>
__attribute__((always_inline)) inline T fetch_texel(TextureFetch fetch, std::source_location where) {
  fetch.wanted = format_read_as<T>();
  const TexturePlan plan = plan_fetch(fetch, where);
  Texel texels[4];
  for (unsigned i = 0; i < plan.texels; ++i) {
    if (plan.address[i] != nullptr) load_texel(texels[i], plan.address[i], plan.texel_bytes);
  }
  return texel_from<T>(combine(plan, texels));
}

}  // namespace detail

#define ROOFTILE_SIM_WHERE std::source_location where = std::source_location::current()

template <class T>
__attribute__((always_inline)) inline T tex1Dfetch(cudaTextureObject_t object, int x, ROOFTILE_SIM_WHERE) {
  return detail::fetch_texel<T>({.name = "tex1Dfetch",
                                 .object = object,
                                 .shape = detail::TextureShape::linear,
                                 .wanted = {},
                                 .index = x},
                                where);
}
template <class T>
__attribute__((always_inline)) inline T tex1D(cudaTextureObject_t object, float x, ROOFTILE_SIM_WHERE) {
  return detail::fetch_texel<T>({.name = "tex1D",
                                 .object = object,
                                 .shape = detail::TextureShape::one_dimensional,
                                 .wanted = {},
                                 .x = x},
                                where);
}
template <class T>
__attribute__((always_inline)) inline T tex2D(cudaTextureObject_t object, float x, float y,
                                              ROOFTILE_SIM_WHERE) {
  return detail::fetch_texel<T>({.name = "tex2D",
                                 .object = object,
                                 .shape = detail::TextureShape::two_dimensional,
                                 .wanted = {},
                                 .x = x,
                                 .y = y},
                                where);
}
// There are no mipmaps: each level is the first.
template <class T>
__attribute__((always_inline)) inline T tex2DLod(cudaTextureObject_t object, float x, float y, float,
                                                 ROOFTILE_SIM_WHERE) {
  return tex2D<T>(object, x, y, where);
}

template <class T>
__attribute__((always_inline)) inline void tex1Dfetch(T* value, cudaTextureObject_t object, int x,
                                                      ROOFTILE_SIM_WHERE) {
  *value = tex1Dfetch<T>(object, x, where);
}
template <class T>
__attribute__((always_inline)) inline void tex1D(T* value, cudaTextureObject_t object, float x,
                                                 ROOFTILE_SIM_WHERE) {
  *value = tex1D<T>(object, x, where);
}
template <class T>
__attribute__((always_inline)) inline void tex2D(T* value, cudaTextureObject_t object, float x, float y,
                                                 ROOFTILE_SIM_WHERE) {
  *value = tex2D<T>(object, x, y, where);
}

// Surfaces: x counts bytes. Trap, the default, ends the launch outside.
template <class T>
__attribute__((always_inline)) inline T surf2Dread(cudaSurfaceObject_t object, int x, int y,
                                                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                                   ROOFTILE_SIM_WHERE) {
  T value{};
  const void* address = detail::surface_address("surf2Dread", object, sizeof(T), x, y, mode, where);
  if (address != nullptr) detail::copy_access<sizeof(T)>(&value, address);
  return value;
}
template <class T>
__attribute__((always_inline)) inline void surf2Dread(T* value, cudaSurfaceObject_t object, int x, int y,
                                                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                                      ROOFTILE_SIM_WHERE) {
  *value = surf2Dread<T>(object, x, y, mode, where);
}
template <class T>
__attribute__((always_inline)) inline void surf2Dwrite(T value, cudaSurfaceObject_t object, int x, int y,
                                                       cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
                                                       ROOFTILE_SIM_WHERE) {
  void* address = detail::surface_address("surf2Dwrite", object, sizeof(T), x, y, mode, where);
  if (address != nullptr) detail::copy_access<sizeof(T)>(address, &value);
}

#undef ROOFTILE_SIM_WHERE

}  // namespace rooftile::simt
