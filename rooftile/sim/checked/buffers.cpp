#include "rooftile/sim/checked/buffers.h"

#include <cstring>

namespace rooftile::simt::checked {
namespace {

constexpr std::uintptr_t kNear = 4096;

// Most accesses are of whole words.
typedef std::uint32_t Word __attribute__((may_alias));
constexpr std::size_t kWord = sizeof(Word);
constexpr std::uint32_t kAllWritten = 0x01010101;

// How far the address is from the buffer's nearest byte.
std::uintptr_t distance(const KnownBuffer& buffer, std::uintptr_t address) {
  if (address < buffer.begin()) return buffer.begin() - address;
  return address < buffer.end() ? 0 : address - buffer.end();
}

}  // namespace

KnownBuffer::KnownBuffer(const Buffer& buffer)
    : name_(buffer.name), begin_(reinterpret_cast<std::uintptr_t>(buffer.data)), bytes_(buffer.bytes) {
  if (!buffer.initialised && bytes_ > 0) written_ = std::make_unique<std::uint8_t[]>(bytes_);
  if (!buffer.read_only && bytes_ > 0) shadow_ = std::make_unique<GlobalShadow>(bytes_);
}

void KnownBuffer::set_written(std::uintptr_t address, std::size_t bytes) {
  if (written_ == nullptr) return;
  std::uint8_t* const first = &written_[address - begin_];
  if (bytes % kWord == 0 && reinterpret_cast<std::uintptr_t>(first) % kWord == 0) {
    auto* const words = reinterpret_cast<Word*>(first);
    for (std::size_t i = 0; i < bytes / kWord; ++i)
      __atomic_store_n(&words[i], kAllWritten, __ATOMIC_RELAXED);
  } else {
    for (std::size_t i = 0; i < bytes; ++i) __atomic_store_n(&first[i], 1, __ATOMIC_RELAXED);
  }
}

UnwrittenBytes KnownBuffer::unwritten(std::uintptr_t address, std::size_t bytes) const {
  UnwrittenBytes missing;
  if (written_ == nullptr) return missing;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (__atomic_load_n(&written_[address - begin_ + i], __ATOMIC_RELAXED) == 0) [[unlikely]]
      missing.add(1, static_cast<std::ptrdiff_t>(i));
  }
  return missing;
}

KnownBuffer* Buffers::find(std::uintptr_t address, std::size_t bytes) {
  for (KnownBuffer& buffer : buffers_) {
    if (buffer.holds(address, bytes)) return &buffer;
  }
  return nullptr;
}

std::string Buffers::describe_outside(std::uintptr_t address) const {
  const KnownBuffer* nearest = nullptr;
  for (const KnownBuffer& buffer : buffers_) {
    if (nearest == nullptr || distance(buffer, address) < distance(*nearest, address)) nearest = &buffer;
  }
  if (nearest == nullptr) return "in no buffer";
  const std::string place = address < nearest->begin() ? "-" + std::to_string(nearest->begin() - address)
                                                       : std::to_string(address - nearest->begin());
  return "byte " + place + " of " + nearest->name() + ", which has " +
         std::to_string(nearest->end() - nearest->begin()) + " bytes";
}

bool Buffers::is_near(std::uintptr_t address) const {
  for (const KnownBuffer& buffer : buffers_) {
    if (address >= buffer.begin() - kNear && address < buffer.end() + kNear) return true;
  }
  return false;
}

}  // namespace rooftile::simt::checked
