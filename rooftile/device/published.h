// Values that blocks publish to each other: each is written once in a launch, and whoever needs it waits for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rooftile/device/poll.h"

#if defined(ROOFTILE_SIM)
#include "rooftile/sim/libcu/atomic_access.h"
#endif

namespace rooftile::ROOFTILE_TARGET {

namespace published_words {
#if defined(ROOFTILE_SIM)
inline void store_relaxed(std::uint64_t* g_address, std::uint64_t value ROOFTILE_AND_CALLER) {
  detail::atomic_store(g_address, value, {"publish", std::memory_order_relaxed, where});
}
inline std::uint64_t load_relaxed(const std::uint64_t* g_address ROOFTILE_AND_CALLER) {
  return detail::atomic_load(g_address, {"read", std::memory_order_relaxed, where});
}
#else
__device__ __forceinline__ void store_relaxed(std::uint64_t* g_address, std::uint64_t value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(g_address), "l"(value) : "memory");
}
__device__ __forceinline__ std::uint64_t load_relaxed(const std::uint64_t* g_address) {
  std::uint64_t value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(g_address) : "memory");
  return value;
}
#endif
}  // namespace published_words

// An array of them. A value of up to 4 bytes and its state share a word, which is read and written as one; a wider one
// stands behind a flag that is released and acquired. State 0: not there yet. The states' memory is zero before the launch;
// clear() makes it so again.
template <class T>
class PublishedValues {
 public:
  static constexpr bool kPacked = sizeof(T) <= 4;
  static constexpr std::size_t kStateBytes = kPacked ? 8 : 4;
  struct Entry {
    std::uint32_t state;
    T value;
  };

  // g_states: kStateBytes for each, aligned to them; g_values: a T for each where it is not packed.
  __device__ __forceinline__ PublishedValues(void* g_states, void* g_values)
      : g_states_(g_states), g_values_(static_cast<T*>(g_values)) {}

  __device__ __forceinline__ void publish(std::int64_t i, T value,
                                          std::uint32_t state = 1 ROOFTILE_AND_CALLER) const {
    static_assert(std::is_trivially_copyable_v<T>, "published as bytes");
    if constexpr (kPacked) {
      std::uint32_t bits = 0;
      memcpy(&bits, &value, sizeof(T));
      const std::uint64_t word = std::uint64_t{state} << 32 | bits;
      published_words::store_relaxed(words() + i, word ROOFTILE_AND_HERE);
    } else {
      g_values_[i] = value;
      st_release(flags() + i, state);
    }
  }
  __device__ __forceinline__ Entry read(std::int64_t i ROOFTILE_AND_CALLER) const {
    Entry entry{};
    if constexpr (kPacked) {
      const std::uint64_t word = published_words::load_relaxed(words() + i ROOFTILE_AND_HERE);
      entry.state = static_cast<std::uint32_t>(word >> 32);
      const auto bits = static_cast<std::uint32_t>(word);
      memcpy(static_cast<void*>(&entry.value), &bits, sizeof(T));
    } else {
      entry.state = ld_acquire(flags() + i ROOFTILE_AND_HERE);
      if (entry.state != 0) entry.value = g_values_[i];
    }
    return entry;
  }
  __device__ __forceinline__ Entry wait(std::int64_t i ROOFTILE_AND_CALLER) const {
    for (;;) {
      const Entry entry = read(i ROOFTILE_AND_HERE);
      if (entry.state != 0) return entry;
      spin_hint(ROOFTILE_HERE);
    }
  }
  // By who knows that nobody reads it any more in this launch.
  __device__ __forceinline__ void clear(std::int64_t i) const {
    if constexpr (kPacked) {
      words()[i] = 0;
    } else {
      flags()[i] = 0;
    }
  }

 private:
  [[nodiscard]] __device__ __forceinline__ std::uint64_t* words() const {
    return static_cast<std::uint64_t*>(g_states_);
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* flags() const {
    return static_cast<std::uint32_t*>(g_states_);
  }

  void* g_states_;
  T* g_values_;
};

// The same of counts below 2^62: state and count share a word of 64 bits.
class PublishedCounts {
 public:
  static constexpr std::size_t kStateBytes = 8;
  struct Entry {
    std::uint32_t state;
    std::int64_t value;
  };

  __device__ __forceinline__ explicit PublishedCounts(std::uint64_t* g_words) : g_words_(g_words) {}

  // state: 1 to 3.
  __device__ __forceinline__ void publish(std::int64_t i, std::int64_t count,
                                          std::uint32_t state = 1 ROOFTILE_AND_CALLER) const {
    published_words::store_relaxed(g_words_ + i,
                                   static_cast<std::uint64_t>(count) << 2 | state ROOFTILE_AND_HERE);
  }
  __device__ __forceinline__ Entry wait(std::int64_t i ROOFTILE_AND_CALLER) const {
    for (;;) {
      const std::uint64_t word = published_words::load_relaxed(g_words_ + i ROOFTILE_AND_HERE);
      if (word != 0) return {static_cast<std::uint32_t>(word & 3), static_cast<std::int64_t>(word >> 2)};
      spin_hint(ROOFTILE_HERE);
    }
  }
  // By who knows that nobody reads it any more in this launch.
  __device__ __forceinline__ void clear(std::int64_t i) const { g_words_[i] = 0; }

 private:
  std::uint64_t* g_words_;
};

}  // namespace rooftile::ROOFTILE_TARGET
