// What a texture object's handle stands for.
#pragma once

#include <cstddef>
#include <source_location>
#include <string>

#include "rooftile/sim/texture.h"
#include "rooftile/sim/thread.h"

namespace rooftile::simt::detail {

struct TextureRecord {
  TextureShape shape = TextureShape::linear;
  TexelFormat format{};
  std::byte* data = nullptr;
  unsigned width = 0;
  unsigned height = 1;
  std::size_t pitch_bytes = 0;
  TextureOptions options;
  [[nodiscard]] unsigned texel_bytes() const { return format.bits / 8 * format.channels; }
};

// Of a handle that lives; ends the launch where it does not, or is of another shape.
[[nodiscard]] const TextureRecord& find_texture(const char* name, cudaTextureObject_t handle,
                                                TextureShape shape, std::source_location where);

// "4 channels of 8-bit unsigned integers"
[[nodiscard]] std::string describe(const TexelFormat& format);

// `text` makes the text and leaves nothing of it on the stack that is abandoned.
template <class Text>
[[noreturn]] void fail_texture(Text text, std::source_location where) {
  report_failure(text(), where);
  abandon_thread();
}

}  // namespace rooftile::simt::detail
