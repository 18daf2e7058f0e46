#include "rooftile/sim/texture.h"

#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "rooftile/sim/texture_record.h"

namespace rooftile::simt {
namespace detail {
namespace {

constexpr std::size_t kMostObjects = 4096;
constexpr unsigned kSlotBits = 12;
static_assert(kMostObjects == std::size_t{1} << kSlotBits);
// In a handle's upper bits, so that it looks like no pointer and no small number.
constexpr cudaTextureObject_t kMark = 0x7e8ull << 52;
constexpr cudaTextureObject_t kMarkBits = 0xfffull << 52;

// A handle is the mark, a serial number that no other object ever has, and the slot.
struct Slot {
  std::atomic<cudaTextureObject_t> handle{0};  // 0: free
  TextureRecord record;
};

struct Registry {
  std::mutex mutex;
  cudaTextureObject_t serial = 0;
  std::array<Slot, kMostObjects> slots;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

// 0: all slots are taken.
cudaTextureObject_t keep(const TextureRecord& record) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (std::size_t i = 0; i < kMostObjects; ++i) {
    Slot& slot = all.slots[i];
    if (slot.handle.load(std::memory_order_relaxed) != 0) continue;
    slot.record = record;
    const cudaTextureObject_t handle = kMark | ++all.serial << kSlotBits | i;
    slot.handle.store(handle, std::memory_order_release);
    return handle;
  }
  return 0;
}

void drop(cudaTextureObject_t handle) {
  if (handle == 0) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.slots[handle % kMostObjects].handle.store(0, std::memory_order_release);
}

const char* kind_name(TexelKind kind) {
  switch (kind) {
    case TexelKind::unsigned_integer:
      return "unsigned integers";
    case TexelKind::signed_integer:
      return "signed integers";
    case TexelKind::floating:
      return "floats";
  }
  return "";
}

const char* made_by(TextureShape shape) {
  switch (shape) {
    case TextureShape::linear:
      return "linear memory, for tex1Dfetch";
    case TextureShape::one_dimensional:
      return "a 1-D texture, for tex1D";
    case TextureShape::two_dimensional:
      return "a 2-D texture, for tex2D";
    case TextureShape::surface:
      return "a surface";
  }
  return "";
}

std::string hexadecimal(cudaTextureObject_t handle) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (; handle != 0 || text.empty(); handle >>= 4) text.insert(text.begin(), kDigits[handle & 15u]);
  return "0x" + text;
}

bool is_format(const TexelFormat& format) {
  const bool channels = format.channels == 1 || format.channels == 2 || format.channels == 4;
  const bool floats = format.bits == 16 || format.bits == 32;
  const bool integers = floats || format.bits == 8;
  return channels && (format.kind == TexelKind::floating ? floats : integers);
}

// Empty, or what is wrong.
std::string check(const TextureRecord& record) {
  if (!is_format(record.format)) return "no texture has " + describe(record.format);
  if (record.data == nullptr || record.width == 0 || record.height == 0) return "a texture has texels";
  const std::size_t bytes = record.texel_bytes();
  if (reinterpret_cast<std::uintptr_t>(record.data) % bytes != 0 || record.pitch_bytes % bytes != 0) {
    return "its memory and its pitch must be multiples of the texel's " + std::to_string(bytes) + " bytes";
  }
  if (record.pitch_bytes < record.width * bytes) {
    return "a row of " + std::to_string(record.width) + " texels takes " +
           std::to_string(record.width * bytes) + " bytes, and the pitch is " +
           std::to_string(record.pitch_bytes);
  }
  const bool integers = record.format.kind != TexelKind::floating;
  if (record.options.read == ReadMode::normalized_float && integers && record.format.bits == 32) {
    return "integers of 32 bits are not read as normalised floats";
  }
  if (record.options.filter == FilterMode::linear && record.options.read == ReadMode::element && integers) {
    return "integers are not filtered: read them as normalised floats";
  }
  return {};
}

}  // namespace

std::string describe(const TexelFormat& format) {
  return std::to_string(format.channels) + (format.channels == 1 ? " channel of " : " channels of ") +
         std::to_string(format.bits) + "-bit " + kind_name(format.kind);
}

const TextureRecord& find_texture(const char* name, cudaTextureObject_t handle, TextureShape shape,
                                  std::source_location where) {
  Registry& all = registry();
  const Slot& slot = all.slots[handle % kMostObjects];
  if (slot.handle.load(std::memory_order_acquire) != handle || handle == 0) {
    const bool ours = (handle & kMarkBits) == kMark;
    fail_texture(
        [&] {
          return name + (": the object " + hexadecimal(handle)) +
                 (ours ? " has been destroyed" : " is none that the simulator made");
        },
        where);
  }
  if (slot.record.shape != shape) {
    fail_texture([&] { return name + std::string(": the object is ") + made_by(slot.record.shape); }, where);
  }
  return slot.record;
}

}  // namespace detail

struct TextureMaker {
  static Result<TextureObject> make(const char* name, const detail::TextureRecord& record) {
    if (const std::string wrong = detail::check(record); !wrong.empty()) {
      return invalid_argument(name + (": " + wrong));
    }
    const cudaTextureObject_t handle = detail::keep(record);
    if (handle == 0) {
      return invalid_argument(name + (": " + std::to_string(detail::kMostObjects)) +
                              " objects live already: destroy some");
    }
    return TextureObject(handle);
  }
};

TextureObject& TextureObject::operator=(TextureObject&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}
TextureObject::~TextureObject() { detail::drop(handle_); }

namespace {
std::byte* bytes_of(const void* data) { return static_cast<std::byte*>(const_cast<void*>(data)); }
}  // namespace

Result<TextureObject> make_texture_2d(const void* data, unsigned width, unsigned height,
                                      std::size_t pitch_bytes, TexelFormat format,
                                      const TextureOptions& options) {
  return TextureMaker::make("make_texture_2d", {.shape = detail::TextureShape::two_dimensional,
                                                .format = format,
                                                .data = bytes_of(data),
                                                .width = width,
                                                .height = height,
                                                .pitch_bytes = pitch_bytes,
                                                .options = options});
}

Result<TextureObject> make_texture_1d(const void* data, unsigned width, TexelFormat format,
                                      const TextureOptions& options) {
  return TextureMaker::make("make_texture_1d",
                            {.shape = detail::TextureShape::one_dimensional,
                             .format = format,
                             .data = bytes_of(data),
                             .width = width,
                             .pitch_bytes = std::size_t{width} * format.channels * format.bits / 8,
                             .options = options});
}

Result<TextureObject> make_linear_texture(const void* data, unsigned elements, TexelFormat format,
                                          ReadMode read) {
  return TextureMaker::make("make_linear_texture",
                            {.shape = detail::TextureShape::linear,
                             .format = format,
                             .data = bytes_of(data),
                             .width = elements,
                             .pitch_bytes = std::size_t{elements} * format.channels * format.bits / 8,
                             .options = {.read = read}});
}

Result<TextureObject> make_surface_2d(void* data, unsigned width, unsigned height, std::size_t pitch_bytes,
                                      TexelFormat format) {
  return TextureMaker::make("make_surface_2d", {.shape = detail::TextureShape::surface,
                                                .format = format,
                                                .data = bytes_of(data),
                                                .width = width,
                                                .height = height,
                                                .pitch_bytes = pitch_bytes,
                                                .options = {}});
}

}  // namespace rooftile::simt
