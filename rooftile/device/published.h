// Values that blocks publish to each other: each is written once in a launch, and whoever needs it waits for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rooftile/core/published_plan.h"
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
inline void load_two_relaxed(const std::uint64_t* g_address, std::uint64_t (&words)[2] ROOFTILE_AND_CALLER) {
  for (int k = 0; k < 2; ++k) words[k] = load_relaxed(g_address + k ROOFTILE_AND_HERE);
}
// One word of 16 bytes: the state is written last and read first, so that who sees it sees the value.
inline void store_wide_relaxed(std::uint64_t* g_address, std::uint64_t state,
                               std::uint64_t value ROOFTILE_AND_CALLER) {
  store_relaxed(g_address + 1, value ROOFTILE_AND_HERE);
  store_relaxed(g_address, state ROOFTILE_AND_HERE);
}
inline void load_wide_relaxed(const std::uint64_t* g_address, std::uint64_t& state,
                              std::uint64_t& value ROOFTILE_AND_CALLER) {
  state = load_relaxed(g_address ROOFTILE_AND_HERE);
  value = load_relaxed(g_address + 1 ROOFTILE_AND_HERE);
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
// At a 16-byte boundary; each word is read as one.
__device__ __forceinline__ void load_two_relaxed(const std::uint64_t* g_address, std::uint64_t (&words)[2]) {
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(words[0]), "=l"(words[1])
               : "l"(g_address)
               : "memory");
}
// 16 bytes as one. Source: PTX ISA 8.3, ld and st of .b128 (sm_70).
__device__ __forceinline__ void store_wide_relaxed(std::uint64_t* g_address, std::uint64_t state,
                                                   std::uint64_t value) {
  asm volatile("{ .reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed.gpu.global.b128 [%0], both; }"
               :
               : "l"(g_address), "l"(state), "l"(value)
               : "memory");
}
__device__ __forceinline__ void load_wide_relaxed(const std::uint64_t* g_address, std::uint64_t& state,
                                                  std::uint64_t& value) {
  asm volatile("{ .reg .b128 both; ld.relaxed.gpu.global.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
               : "=l"(state), "=l"(value)
               : "l"(g_address)
               : "memory");
}
#endif
}  // namespace published_words

// An array of them. A value of up to 4 bytes and its state share a word of 8 bytes, one of 8 bytes a word of 16: read and written
// as one. Any other stands behind a flag that is released and acquired. State 0: not there yet. The states' memory is zero
// before the launch; clear() makes it so again. Their sizes: core/published_plan.h.
template <class T>
class PublishedValues {
 public:
  struct Entry {
    std::uint32_t state;
    T value;
  };

  // g_states: aligned to a state's bytes; g_values: a T for each where they share no word.
  __device__ __forceinline__ PublishedValues(void* g_states, void* g_values)
      : g_states_(g_states), g_values_(static_cast<T*>(g_values)) {}

  __device__ __forceinline__ void publish(std::int64_t i, T value,
                                          std::uint32_t state = 1 ROOFTILE_AND_CALLER) const {
    static_assert(std::is_trivially_copyable_v<T>, "published as bytes");
    if constexpr (kStateBytes == 8) {
      std::uint32_t bits = 0;
      memcpy(&bits, &value, sizeof(T));
      const std::uint64_t word = std::uint64_t{state} << 32 | bits;
      published_words::store_relaxed(words() + i, word ROOFTILE_AND_HERE);
    } else if constexpr (kStateBytes == 16) {
      std::uint64_t bits = 0;
      memcpy(&bits, &value, sizeof(T));
      published_words::store_wide_relaxed(words() + 2 * i, state, bits ROOFTILE_AND_HERE);
    } else {
      g_values_[i] = value;
      st_release(flags() + i, state);
    }
  }
  __device__ __forceinline__ Entry read(std::int64_t i ROOFTILE_AND_CALLER) const {
    if constexpr (kStateBytes == 8) {
      return entry_of(published_words::load_relaxed(words() + i ROOFTILE_AND_HERE));
    } else if constexpr (kStateBytes == 16) {
      Entry entry{};
      std::uint64_t state = 0;
      std::uint64_t bits = 0;
      published_words::load_wide_relaxed(words() + 2 * i, state, bits ROOFTILE_AND_HERE);
      entry.state = static_cast<std::uint32_t>(state);
      memcpy(static_cast<void*>(&entry.value), &bits, sizeof(T));
      return entry;
    } else {
      Entry entry{};
      entry.state = ld_acquire(flags() + i ROOFTILE_AND_HERE);
      if (entry.state != 0) entry.value = g_values_[i];
      return entry;
    }
  }
  // Entries i ... i + count - 1, count at most kCount; those of words of 8 bytes two to a load: i is even, the first's state is
  // at a 16-byte boundary, and kCount of them are there to read.
  template <int kCount>
  __device__ __forceinline__ void read_run(std::int64_t i, int count,
                                           Entry (&run)[kCount] ROOFTILE_AND_CALLER) const {
    static_assert(kCount % 2 == 0, "two to a load");
#pragma unroll
    for (int k = 0; k < kCount; k += 2) {
      if constexpr (kStateBytes == 8) {
        std::uint64_t two[2];
        published_words::load_two_relaxed(words() + i + k, two ROOFTILE_AND_HERE);
        run[k] = entry_of(two[0]);
        run[k + 1] = entry_of(two[1]);
      } else {
        if (k < count) run[k] = read(i + k ROOFTILE_AND_HERE);
        if (k + 1 < count) run[k + 1] = read(i + k + 1 ROOFTILE_AND_HERE);
      }
    }
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
    if constexpr (kStateBytes == 8) {
      words()[i] = 0;
    } else if constexpr (kStateBytes == 16) {
      words()[2 * i] = 0;
      words()[2 * i + 1] = 0;
    } else {
      flags()[i] = 0;
    }
  }

 private:
  static constexpr std::size_t kStateBytes = published_state_bytes(sizeof(T));
  [[nodiscard]] __device__ __forceinline__ static Entry entry_of(std::uint64_t word) {
    Entry entry{};
    entry.state = static_cast<std::uint32_t>(word >> 32);
    const auto bits = static_cast<std::uint32_t>(word);
    memcpy(static_cast<void*>(&entry.value), &bits, sizeof(T));
    return entry;
  }
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
