// Dynamic shared memory cut into typed, aligned pieces by one description for host and device: the host
// learns how many bytes to launch with, the kernel where the pieces are.
//
//   struct Tiles {
//     float* s_a;            // [stages][64][32]
//     std::uint64_t* s_full; // [stages]
//     __host__ __device__ Tiles(SharedCarve& carve, int stages)
//         : s_a(carve.array<float>(stages * 64 * 32, 128)), s_full(carve.array<std::uint64_t>(stages)) {}
//   };
//   host:    launch(kernel, {..., .shared_bytes = shared_bytes<Tiles>(stages)}, stages);
//   kernel:  ROOFTILE_DYN_SHARED(unsigned char, s_raw);
//            SharedCarve carve(s_raw);
//            const Tiles tiles(carve, stages);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rooftile/device/caller.h"
#include "rooftile/device/target.h"

namespace rooftile::ROOFTILE_TARGET {

class SharedCarve {
 public:
  // What every piece is aligned and padded to: no asynchronous copy of 16 bytes reaches into a neighbour.
  static constexpr std::size_t kGranule = 16;
  // What ROOFTILE_DYN_SHARED aligns the whole to: the largest alignment that a piece may ask for.
  static constexpr std::size_t kBaseAlignment = 1024;

  // The host's: measures.
  SharedCarve() = default;
  // The kernel's: `s_base` is the launch's dynamic shared memory.
  __device__ __forceinline__ explicit SharedCarve(void* s_base)
      : s_base_(static_cast<unsigned char*>(s_base)) {}

  // `count` elements, aligned to a power of two: 16, or more where a copy asks
  // for it (128 for TMA, 1024 for its 128-byte swizzle). Null while measuring.
  // On the simulated SM a piece beyond what the launch gave ends the launch.
  template <class T>
  __host__ __device__ __forceinline__ T* array(std::size_t count,
                                               std::size_t alignment = kGranule ROOFTILE_AND_CALLER) {
    static_assert(alignof(T) <= kGranule, "ask for more by `alignment`");
    assert(alignment >= kGranule && alignment <= kBaseAlignment && (alignment & (alignment - 1)) == 0);
    const std::size_t begin = (bytes_ + alignment - 1) / alignment * alignment;
    bytes_ = begin + (count * sizeof(T) + kGranule - 1) / kGranule * kGranule;
    if (s_base_ == nullptr) return nullptr;
#if defined(ROOFTILE_SIM)
    check(where);
#endif
    return reinterpret_cast<T*>(s_base_ + begin);
  }
  // One element, for a barrier or a counter.
  template <class T>
  __host__ __device__ __forceinline__ T* one(std::size_t alignment = kGranule ROOFTILE_AND_CALLER) {
    return array<T>(1, alignment ROOFTILE_AND_HERE);
  }

  // So far.
  [[nodiscard]] __host__ __device__ __forceinline__ std::size_t bytes() const { return bytes_; }

 private:
#if defined(ROOFTILE_SIM)
  void check(std::source_location where) const {
    const std::size_t given = detail::current_block->dynamic_shared_bytes;
    if (bytes_ <= given) return;
    detail::report_failure("shared memory is carved up to byte " + std::to_string(bytes_) +
                               ", but the launch gave " + std::to_string(given) +
                               " (LaunchConfig::shared_bytes)",
                           where);
    detail::abandon_thread();
  }
#endif
  unsigned char* s_base_ = nullptr;
  std::size_t bytes_ = 0;
};

// The dynamic shared memory that a description takes.
template <class Pieces, class... Args>
[[nodiscard]] std::size_t shared_bytes(const Args&... args) {
  SharedCarve carve;
  static_cast<void>(Pieces(carve, args...));
  return carve.bytes();
}

}  // namespace rooftile::ROOFTILE_TARGET
