// Which texels a fetch reads, and what it makes of them.
// Source: CUDA C++ Programming Guide, "Texture Fetching": point and linear filtering, table lookup.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "rooftile/core/dtype.h"
#include "rooftile/sim/texture_record.h"

namespace rooftile::simt::detail {
namespace {

constexpr std::int64_t kOutside = -1;

// The texels of one axis; the second one where it is filtered.
struct Taps {
  std::int64_t index[2];
  float fraction = 0;  // of the second
};

std::int64_t in_range(std::int64_t index, std::int64_t size, AddressMode mode) {
  if (index >= 0 && index < size) return index;
  switch (mode) {
    case AddressMode::wrap:
      return (index % size + size) % size;
    case AddressMode::clamp:
      return index < 0 ? 0 : size - 1;
    case AddressMode::mirror: {
      const std::int64_t folded = (index % (2 * size) + 2 * size) % (2 * size);
      return folded < size ? folded : 2 * size - 1 - folded;
    }
    case AddressMode::border:
      break;
  }
  return kOutside;
}

Taps taps_of(float coordinate, unsigned size, AddressMode mode, const TextureOptions& options) {
  const bool repeats = mode == AddressMode::wrap || mode == AddressMode::mirror;
  if (repeats && !options.normalized_coordinates) mode = AddressMode::clamp;
  double position = coordinate;
  if (!(std::abs(position) <= 0x1p40)) position = position > 0 ? 0x1p40 : (position < 0 ? -0x1p40 : 0);
  if (options.normalized_coordinates) {
    // The same place of another period: what is left is small enough to stay exact.
    if (repeats) position -= 2 * std::floor(position / 2);
    position *= size;
  }
  if (options.filter == FilterMode::point) {
    return {{in_range(static_cast<std::int64_t>(std::floor(position)), size, mode), kOutside}};
  }
  position -= 0.5;
  const double first = std::floor(position);
  const auto index = static_cast<std::int64_t>(first);
  // 9 bits, 8 of them a fraction.
  const double weight = std::floor((position - first) * 256 + 0.5) / 256;
  return {{in_range(index, size, mode), in_range(index + 1, size, mode)}, static_cast<float>(weight)};
}

const void* texel_at(const TextureRecord& texture, std::int64_t x, std::int64_t y) {
  if (x == kOutside || y == kOutside) return nullptr;
  return texture.data + static_cast<std::size_t>(y) * texture.pitch_bytes +
         static_cast<std::size_t>(x) * texture.texel_bytes();
}

void check_wanted(const TextureFetch& fetch, const TextureRecord& texture, std::source_location where) {
  const TexelFormat& has = texture.format;
  const bool as_float = has.kind == TexelKind::floating || texture.options.read == ReadMode::normalized_float;
  const bool fits = fetch.wanted.kind == TexelKind::floating
                        ? as_float
                        : !as_float && fetch.wanted.kind == has.kind && fetch.wanted.bits == has.bits;
  if (fits && fetch.wanted.channels <= has.channels) return;
  const bool normalised = as_float && has.kind != TexelKind::floating;
  fail_texture(
      [&] {
        return std::string(fetch.name) + " reads " + describe(fetch.wanted) + " from a texture of " +
               describe(has) + (normalised ? ", which are read as normalised floats" : "");
      },
      where);
}

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

// One channel of a texel as the kernel sees it: bits of a float, or an integer.
std::uint32_t channel_of(const TextureRecord& texture, const Texel& texel, unsigned channel) {
  const unsigned bytes = texture.format.bits / 8;
  std::uint32_t raw = 0;
  std::memcpy(&raw, reinterpret_cast<const unsigned char*>(&texel) + std::size_t{channel} * bytes, bytes);
  const bool normalise = texture.options.read == ReadMode::normalized_float;
  switch (texture.format.kind) {
    case TexelKind::floating:
      return bytes == 2 ? bits_of(to_float(Float16{static_cast<std::uint16_t>(raw)})) : raw;
    case TexelKind::unsigned_integer:
      return normalise ? bits_of(static_cast<float>(raw) / (bytes == 1 ? 255.0f : 65535.0f)) : raw;
    case TexelKind::signed_integer:
      break;
  }
  const int shift = 32 - static_cast<int>(texture.format.bits);
  const int value = static_cast<int>(raw << shift) >> shift;
  if (!normalise) return static_cast<std::uint32_t>(value);
  // Two integers are -1.
  return bits_of(std::max(static_cast<float>(value) / (bytes == 1 ? 127.0f : 32767.0f), -1.0f));
}

}  // namespace

TexturePlan plan_fetch(const TextureFetch& fetch, std::source_location where) {
  const TextureRecord& texture = find_texture(fetch.name, fetch.object, fetch.shape, where);
  check_wanted(fetch, texture, where);
  TexturePlan plan{&texture, texture.texel_bytes(), 1, {}, {1, 0, 0, 0}};
  if (fetch.shape == TextureShape::linear) {
    if (fetch.index >= 0 && static_cast<unsigned>(fetch.index) < texture.width) {
      plan.address[0] = texel_at(texture, fetch.index, 0);
    }
    return plan;
  }
  const TextureOptions& options = texture.options;
  const Taps x = taps_of(fetch.x, texture.width, options.address[0], options);
  const bool flat = fetch.shape == TextureShape::one_dimensional;
  const Taps y = flat ? Taps{{0, kOutside}} : taps_of(fetch.y, texture.height, options.address[1], options);
  if (options.filter == FilterMode::point) {
    plan.address[0] = texel_at(texture, x.index[0], y.index[0]);
    return plan;
  }
  plan.texels = flat ? 2 : 4;
  for (unsigned i = 0; i < plan.texels; ++i) {
    plan.address[i] = texel_at(texture, x.index[i % 2], y.index[i / 2]);
    plan.weight[i] = (i % 2 == 0 ? 1 - x.fraction : x.fraction) * (i / 2 == 0 ? 1 - y.fraction : y.fraction);
  }
  return plan;
}

Channels combine(const TexturePlan& plan, const Texel* texels) {
  const TextureRecord& texture = *plan.texture;
  const auto channel = [&](unsigned texel, unsigned c) {
    return plan.address[texel] != nullptr ? channel_of(texture, texels[texel], c)
                                          : bits_of(texture.options.border[c]);
  };
  Channels result{};
  for (unsigned c = 0; c < texture.format.channels; ++c) {
    if (plan.texels == 1) {
      result.bits[c] = channel(0, c);
      continue;
    }
    float sum = 0;
    for (unsigned i = 0; i < plan.texels; ++i) {
      // What has no weight has no say, NaN and infinity neither.
      if (plan.weight[i] != 0) sum += plan.weight[i] * std::bit_cast<float>(channel(i, c));
    }
    result.bits[c] = bits_of(sum);
  }
  return result;
}

void* surface_address(const char* name, cudaSurfaceObject_t object, unsigned bytes, int x, int y,
                      cudaSurfaceBoundaryMode mode, std::source_location where) {
  const TextureRecord& surface = find_texture(name, object, TextureShape::surface, where);
  if (x % static_cast<int>(bytes) != 0) {
    fail_texture(
        [&] {
          return name + (": x counts bytes, and " + std::to_string(x)) + " is no multiple of the value's " +
                 std::to_string(bytes);
        },
        where);
  }
  const auto row_bytes = static_cast<std::int64_t>(surface.width) * surface.texel_bytes();
  const std::int64_t columns = row_bytes / bytes;
  std::int64_t column = x / static_cast<int>(bytes);
  std::int64_t row = y;
  if (column < 0 || column >= columns || row < 0 || row >= surface.height) {
    if (mode == cudaBoundaryModeZero) return nullptr;
    if (mode == cudaBoundaryModeTrap) {
      fail_texture(
          [&] {
            return name + (": byte " + std::to_string(x)) + " of row " + std::to_string(y) +
                   " is outside of a surface of " + std::to_string(row_bytes) + " bytes by " +
                   std::to_string(surface.height) + " rows";
          },
          where);
    }
    column = in_range(column, columns, AddressMode::clamp);
    row = in_range(row, surface.height, AddressMode::clamp);
  }
  return surface.data + static_cast<std::size_t>(row) * surface.pitch_bytes +
         static_cast<std::size_t>(column) * bytes;
}

}  // namespace rooftile::simt::detail
