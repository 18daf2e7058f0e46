#include "rooftile/lab/case/guarded_buffer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace rooftile::lab {
namespace {

constexpr int kGuardByte = 0xA5;
constexpr std::size_t kGuardBytes = 512;  // at least; a stray warp-wide 16-byte store is 512
constexpr std::size_t kStagingBytes = std::size_t{16} << 20;
constexpr std::size_t kPinnedFrom = std::size_t{1} << 20;

std::byte* as_bytes(void* data) { return static_cast<std::byte*>(data); }
const std::byte* as_bytes(const void* data) { return static_cast<const std::byte*>(data); }

// Calls differs(staged, offset, size) -> offset of the first bad byte in this chunk, or size.
template <class Differs>
Result<std::size_t> scan(StreamRef stream, const void* device_data, std::size_t bytes, Differs differs) {
  // Host-side devices are read in place.
  if (stream.device.kind != DeviceKind::cuda) {
    return bytes == 0 ? std::size_t{0} : differs(as_bytes(device_data), std::size_t{0}, bytes);
  }
  // Guards are looked at a dozen times for each launch: pinning memory for them would take most of a check's time.
  if (bytes <= kPinnedFrom) {
    std::vector<std::byte> staged(bytes);
    if (bytes == 0) return std::size_t{0};
    ROOFTILE_TRY(copy(stream, staged.data(), kCpu, device_data, stream.device, bytes));
    ROOFTILE_TRY(synchronize(stream));
    return differs(staged.data(), std::size_t{0}, bytes);
  }
  ROOFTILE_TRY_ASSIGN(PinnedMemory staging,
                      PinnedMemory::allocate(stream.device, std::min(bytes, kStagingBytes)));
  for (std::size_t offset = 0; offset < bytes; offset += kStagingBytes) {
    const std::size_t size = std::min(kStagingBytes, bytes - offset);
    ROOFTILE_TRY(copy(stream, staging.data(), kCpu, as_bytes(device_data) + offset, stream.device, size));
    ROOFTILE_TRY(synchronize(stream));
    const std::size_t at = differs(as_bytes(staging.data()), offset, size);
    if (at != size) return offset + at;
  }
  return bytes;
}

}  // namespace

Result<GuardedBuffer> GuardedBuffer::create(StreamRef stream, std::size_t bytes, std::size_t offset_bytes) {
  GuardedBuffer buffer;
  buffer.front_ = kGuardBytes + offset_bytes;
  buffer.bytes_ = bytes;
  ROOFTILE_TRY_ASSIGN(buffer.memory_,
                      DeviceMemory::allocate(stream.device, buffer.front_ + bytes + kGuardBytes));
  ROOFTILE_TRY(buffer.set_guards(stream));
  ROOFTILE_TRY(synchronize(stream));
  return buffer;
}

void* GuardedBuffer::data() const { return as_bytes(memory_.data()) + front_; }

Status GuardedBuffer::set_guards(StreamRef stream) const {
  ROOFTILE_TRY(fill_bytes(stream, memory_.data(), kGuardByte, front_));
  return fill_bytes(stream, as_bytes(data()) + bytes_, kGuardByte, kGuardBytes);
}

Status GuardedBuffer::poison(StreamRef stream, int value) const {
  if (bytes_ == 0) return {};
  return fill_bytes(stream, data(), value, bytes_);
}

Result<std::string> GuardedBuffer::broken_guard(StreamRef stream) const {
  const auto intact = [](const std::byte* chunk, std::size_t, std::size_t size) {
    const auto* bad =
        std::find_if(chunk, chunk + size, [](std::byte b) { return b != std::byte{kGuardByte}; });
    return static_cast<std::size_t>(bad - chunk);
  };
  ROOFTILE_TRY_ASSIGN(const std::size_t front, scan(stream, memory_.data(), front_, intact));
  if (front != front_) return "byte " + std::to_string(front_ - front) + " in front of it was overwritten";
  ROOFTILE_TRY_ASSIGN(const std::size_t back, scan(stream, as_bytes(data()) + bytes_, kGuardBytes, intact));
  if (back != kGuardBytes) return "byte " + std::to_string(back) + " behind its end was overwritten";
  return std::string();
}

Result<std::size_t> first_difference(StreamRef stream, const void* device_data, const void* host_data,
                                     std::size_t bytes) {
  return scan(stream, device_data, bytes,
              [host_data](const std::byte* chunk, std::size_t offset, std::size_t size) {
                const std::byte* expected = as_bytes(host_data) + offset;
                if (std::memcmp(chunk, expected, size) == 0) return size;
                return static_cast<std::size_t>(std::mismatch(chunk, chunk + size, expected).first - chunk);
              });
}

Result<std::size_t> first_nonzero(StreamRef stream, const void* device_data, std::size_t bytes) {
  return scan(stream, device_data, bytes, [](const std::byte* chunk, std::size_t, std::size_t size) {
    const auto* bad = std::find_if(chunk, chunk + size, [](std::byte b) { return b != std::byte{0}; });
    return static_cast<std::size_t>(bad - chunk);
  });
}

}  // namespace rooftile::lab
