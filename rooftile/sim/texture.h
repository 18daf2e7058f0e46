// Textures and surfaces of the simulated SM, made on the host. A kernel takes the object's handle, a
// cudaTextureObject_t, by value.
//
//   Result<TextureObject> image = make_texture_2d(pixels, width, height, pitch_bytes, texel_format<uchar4>(),
//                                                 {.filter = FilterMode::linear,
//                                                  .read = ReadMode::normalized_float});
//   launch(kernel, config, image->handle(), ...);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/sim/half.h"
#include "rooftile/sim/texture_functions.h"

namespace rooftile::simt {

// Of float, __half, integers of 8, 16 and 32 bits, and vectors of 1, 2 and 4 of the built-in ones.
template <class T>
constexpr TexelFormat texel_format() {
  if constexpr (std::is_same_v<T, __half>) {
    return {TexelKind::floating, 16, 1};
  } else if constexpr (std::is_same_v<T, __half2>) {
    return {TexelKind::floating, 16, 2};
  } else {
    return detail::format_read_as<T>();
  }
}

enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };
enum class FilterMode : std::uint8_t { point, linear };
// Integers of 8 and 16 bits may be read as floats of 0 to 1, or -1 to 1.
enum class ReadMode : std::uint8_t { element, normalized_float };

struct TextureOptions {
  std::array<AddressMode, 2> address{AddressMode::clamp, AddressMode::clamp};  // of x and y
  FilterMode filter = FilterMode::point;
  ReadMode read = ReadMode::element;
  // 0 to 1 along each side. Without, wrap and mirror are clamp, as CUDA has it.
  bool normalized_coordinates = false;
  // A texture that is read as integers takes the bits.
  std::array<float, 4> border{};
};

// Owns a handle; the memory is the caller's, and has to stay. No kernel may read it when this ends.
class TextureObject {
 public:
  TextureObject(TextureObject&& other) noexcept : handle_(other.handle_) { other.handle_ = 0; }
  TextureObject& operator=(TextureObject&& other) noexcept;
  TextureObject(const TextureObject&) = delete;
  TextureObject& operator=(const TextureObject&) = delete;
  ~TextureObject();

  [[nodiscard]] cudaTextureObject_t handle() const { return handle_; }

 private:
  friend struct TextureMaker;
  explicit TextureObject(cudaTextureObject_t handle) : handle_(handle) {}

  cudaTextureObject_t handle_;
};

// For tex2D.
[[nodiscard]] Result<TextureObject> make_texture_2d(const void* data, unsigned width, unsigned height,
                                                    std::size_t pitch_bytes, TexelFormat format,
                                                    const TextureOptions& options = {});
// For tex1D.
[[nodiscard]] Result<TextureObject> make_texture_1d(const void* data, unsigned width, TexelFormat format,
                                                    const TextureOptions& options = {});
// For tex1Dfetch: linear memory, 0 outside.
[[nodiscard]] Result<TextureObject> make_linear_texture(const void* data, unsigned elements,
                                                        TexelFormat format,
                                                        ReadMode read = ReadMode::element);
// For surf2Dread and surf2Dwrite.
[[nodiscard]] Result<TextureObject> make_surface_2d(void* data, unsigned width, unsigned height,
                                                    std::size_t pitch_bytes, TexelFormat format);

}  // namespace rooftile::simt
