// The PTX behind vec.h: one access of 1, 2, 4, 8 or 16 bytes for each policy.
//
// A coherent access names memory as clobbered: the compiler keeps it in its place among other accesses. A
// read-only one (ld.global.nc) does not, and is volatile all the same: not volatile it might move in front of
// griddepcontrol.wait, before which the kernel ahead may still write what is read. The order that volatile
// keeps is that of these loads among themselves; ptxas schedules them freely.
//
// Source: PTX ISA, ld, ld.global.nc, st (cache operators, eviction priorities, cache hints), createpolicy.
#pragma once

#include "rooftile/device/target.h"

namespace rooftile::ROOFTILE_TARGET::detail {

// Defines NAME<kBytes>(g_source): instruction + ".u32 %0, [%1]" + after, and so on for each width.
#define ROOFTILE_DEFINE_LOAD(name, before, instruction, after, ...)                                  \
  template <int kBytes>                                                                              \
  __device__ __forceinline__ auto name(const void* g_source) {                                       \
    if constexpr (kBytes == 1) {                                                                     \
      unsigned raw;                                                                                  \
      asm volatile(before instruction ".u8 %0, [%1]" after : "=r"(raw) : "l"(g_source)__VA_ARGS__);  \
      return static_cast<std::uint8_t>(raw);                                                         \
    } else if constexpr (kBytes == 2) {                                                              \
      std::uint16_t raw;                                                                             \
      asm volatile(before instruction ".u16 %0, [%1]" after : "=h"(raw) : "l"(g_source)__VA_ARGS__); \
      return raw;                                                                                    \
    } else if constexpr (kBytes == 4) {                                                              \
      std::uint32_t raw;                                                                             \
      asm volatile(before instruction ".u32 %0, [%1]" after : "=r"(raw) : "l"(g_source)__VA_ARGS__); \
      return raw;                                                                                    \
    } else if constexpr (kBytes == 8) {                                                              \
      uint2 raw;                                                                                     \
      asm volatile(before instruction ".v2.u32 {%0, %1}, [%2]" after                                 \
                   : "=r"(raw.x), "=r"(raw.y)                                                        \
                   : "l"(g_source)__VA_ARGS__);                                                      \
      return raw;                                                                                    \
    } else {                                                                                         \
      uint4 raw;                                                                                     \
      asm volatile(before instruction ".v4.u32 {%0, %1, %2, %3}, [%4]" after                         \
                   : "=r"(raw.x), "=r"(raw.y), "=r"(raw.z), "=r"(raw.w)                              \
                   : "l"(g_source)__VA_ARGS__);                                                      \
      return raw;                                                                                    \
    }                                                                                                \
  }

ROOFTILE_DEFINE_LOAD(load_streaming, "", "ld.global.cs", ";", : "memory")
ROOFTILE_DEFINE_LOAD(load_no_allocate, "", "ld.global.nc.L1::no_allocate", ";")
// With the fraction 1.0 the policy is a constant: no instruction is spent on it.
ROOFTILE_DEFINE_LOAD(load_evict_first,
                     "{\n .reg .b64 policy;\n createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n ",
                     "ld.global.L1::evict_first.L2::cache_hint", ", policy;\n}",
                     : "memory")
#undef ROOFTILE_DEFINE_LOAD

#define ROOFTILE_DEFINE_STORE(name, instruction)                                                            \
  __device__ __forceinline__ void name(void* g_target, std::uint8_t raw) {                                  \
    asm volatile(instruction ".u8 [%0], %1;" ::"l"(g_target), "r"(std::uint32_t{raw}) : "memory");          \
  }                                                                                                         \
  __device__ __forceinline__ void name(void* g_target, std::uint16_t raw) {                                 \
    asm volatile(instruction ".u16 [%0], %1;" ::"l"(g_target), "h"(raw) : "memory");                        \
  }                                                                                                         \
  __device__ __forceinline__ void name(void* g_target, std::uint32_t raw) {                                 \
    asm volatile(instruction ".u32 [%0], %1;" ::"l"(g_target), "r"(raw) : "memory");                        \
  }                                                                                                         \
  __device__ __forceinline__ void name(void* g_target, uint2 raw) {                                         \
    asm volatile(instruction ".v2.u32 [%0], {%1, %2};" ::"l"(g_target), "r"(raw.x), "r"(raw.y) : "memory"); \
  }                                                                                                         \
  __device__ __forceinline__ void name(void* g_target, uint4 raw) {                                         \
    asm volatile(instruction ".v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(g_target), "r"(raw.x), "r"(raw.y),     \
                 "r"(raw.z), "r"(raw.w)                                                                     \
                 : "memory");                                                                               \
  }

ROOFTILE_DEFINE_STORE(store_streaming, "st.global.cs")
ROOFTILE_DEFINE_STORE(store_no_allocate, "st.global.L1::no_allocate")
#undef ROOFTILE_DEFINE_STORE

}  // namespace rooftile::ROOFTILE_TARGET::detail
