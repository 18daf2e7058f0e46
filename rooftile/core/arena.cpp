#include "rooftile/core/detail/arena.h"

namespace rooftile::detail {

Result<std::shared_ptr<Arena>> Arena::create(Device device, const StreamRef* callers_stream) {
  std::shared_ptr<Arena> arena(new Arena);
  if (callers_stream == nullptr) {
    ROOFTILE_TRY_ASSIGN(arena->own_, Stream::create(device));
    arena->stream_ = arena->own_.ref();
  } else {
    arena->stream_ = *callers_stream;
  }
  ROOFTILE_TRY_ASSIGN(arena->pool_, MemoryPool::create(device));
  ROOFTILE_TRY_ASSIGN(arena->error_word_, DeviceMemory::allocate(device, sizeof(std::uint32_t)));
  ROOFTILE_TRY(fill_bytes(arena->stream_, arena->error_word_.data(), 0, arena->error_word_.bytes()));
  // A kernel in another stream may be given the error word.
  ROOFTILE_TRY(rooftile::synchronize(arena->stream_));
  return arena;
}

Arena::~Arena() {
  // What was released in the stream is still being used until it is done; a caller's stream is the caller's to wait for.
  (void)own_.synchronize();
}

}  // namespace rooftile::detail
