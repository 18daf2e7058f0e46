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

// How L2 treats what is loaded with it: the first to leave. Not volatile: made once, outside of any loop.
__device__ __forceinline__ std::uint64_t evict_first_policy() {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// Defines NAME<kBytes>(g_source): instruction.u32 %0, [%1] and so on for each width. `after` maps the number
// of the operand behind the address to what follows the address; the rest is that operand and the clobbers.
#define ROOFTILE_DEFINE_LOAD(name, instruction, after, ...)                                      \
  template <int kBytes>                                                                          \
  __device__ __forceinline__ auto name(const void* g_source) {                                   \
    if constexpr (kBytes == 1) {                                                                 \
      unsigned raw;                                                                              \
      asm volatile(instruction ".u8 %0, [%1]" after(2) : "=r"(raw) : "l"(g_source)__VA_ARGS__);  \
      return static_cast<std::uint8_t>(raw);                                                     \
    } else if constexpr (kBytes == 2) {                                                          \
      std::uint16_t raw;                                                                         \
      asm volatile(instruction ".u16 %0, [%1]" after(2) : "=h"(raw) : "l"(g_source)__VA_ARGS__); \
      return raw;                                                                                \
    } else if constexpr (kBytes == 4) {                                                          \
      std::uint32_t raw;                                                                         \
      asm volatile(instruction ".u32 %0, [%1]" after(2) : "=r"(raw) : "l"(g_source)__VA_ARGS__); \
      return raw;                                                                                \
    } else if constexpr (kBytes == 8) {                                                          \
      uint2 raw;                                                                                 \
      asm volatile(instruction ".v2.u32 {%0, %1}, [%2]" after(3)                                 \
                   : "=r"(raw.x), "=r"(raw.y)                                                    \
                   : "l"(g_source)__VA_ARGS__);                                                  \
      return raw;                                                                                \
    } else {                                                                                     \
      uint4 raw;                                                                                 \
      asm volatile(instruction ".v4.u32 {%0, %1, %2, %3}, [%4]" after(5)                         \
                   : "=r"(raw.x), "=r"(raw.y), "=r"(raw.z), "=r"(raw.w)                          \
                   : "l"(g_source)__VA_ARGS__);                                                  \
      return raw;                                                                                \
    }                                                                                            \
  }
#define ROOFTILE_NO_POLICY(operand) ";"
#define ROOFTILE_L2_POLICY(operand) ", %" #operand ";"

ROOFTILE_DEFINE_LOAD(load_streaming, "ld.global.cs", ROOFTILE_NO_POLICY, : "memory")
ROOFTILE_DEFINE_LOAD(load_no_allocate, "ld.global.nc.L1::no_allocate", ROOFTILE_NO_POLICY)
ROOFTILE_DEFINE_LOAD(load_evict_first, "ld.global.L1::evict_first.L2::cache_hint", ROOFTILE_L2_POLICY, ,
                     "l"(evict_first_policy())
                     : "memory")
#undef ROOFTILE_L2_POLICY
#undef ROOFTILE_NO_POLICY
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
