// CUDA's built-in vector types: dim3, float4 and their kin, with CUDA's sizes and alignments.
//
// Vectors of two and four elements are copied whole, by one access of their
// size, as the GPU does: a plain struct would be split into its members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rooftile::simt {

namespace detail {

template <std::size_t kBytes>
struct Whole;
template <>
struct Whole<2> {
  typedef std::uint16_t type __attribute__((may_alias));
};
template <>
struct Whole<4> {
  typedef std::uint32_t type __attribute__((may_alias));
};
template <>
struct Whole<8> {
  typedef std::uint64_t type __attribute__((may_alias));
};
template <>
struct Whole<16> {
  typedef std::uint32_t type __attribute__((vector_size(16), may_alias));
};

// The widest access of one thread is 16 bytes: double4 takes two.
template <std::size_t kBytes>
__attribute__((always_inline)) inline void copy_whole(void* destination, const void* source) {
  constexpr std::size_t kAccess = kBytes < 16 ? kBytes : 16;
  using Access = typename Whole<kAccess>::type;
  for (std::size_t i = 0; i < kBytes / kAccess; ++i) {
    static_cast<Access*>(destination)[i] = static_cast<const Access*>(source)[i];
  }
}

template <class T>
struct Vector1 {
  T x;
};

template <class T>
struct alignas(2 * sizeof(T)) Vector2 {
  T x, y;
  constexpr Vector2() : x(), y() {}
  constexpr Vector2(T x_value, T y_value) : x(x_value), y(y_value) {}
  constexpr Vector2(const Vector2& other) : x(), y() { *this = other; }
  constexpr Vector2& operator=(const Vector2& other) {
    if (std::is_constant_evaluated()) {
      x = other.x;
      y = other.y;
    } else {
      copy_whole<sizeof(Vector2)>(this, &other);
    }
    return *this;
  }
};

template <class T>
struct Vector3 {
  T x, y, z;
};

template <class T>
struct alignas(sizeof(T) > 4 ? 16 : 4 * sizeof(T)) Vector4 {
  T x, y, z, w;
  constexpr Vector4() : x(), y(), z(), w() {}
  constexpr Vector4(T x_value, T y_value, T z_value, T w_value)
      : x(x_value), y(y_value), z(z_value), w(w_value) {}
  constexpr Vector4(const Vector4& other) : x(), y(), z(), w() { *this = other; }
  constexpr Vector4& operator=(const Vector4& other) {
    if (std::is_constant_evaluated()) {
      x = other.x;
      y = other.y;
      z = other.z;
      w = other.w;
    } else {
      copy_whole<sizeof(Vector4)>(this, &other);
    }
    return *this;
  }
};

}  // namespace detail

#define ROOFTILE_SIM_VECTOR_TYPES(T, name)                              \
  using name##1 = detail::Vector1<T>;                                   \
  using name##2 = detail::Vector2<T>;                                   \
  using name##3 = detail::Vector3<T>;                                   \
  using name##4 = detail::Vector4<T>;                                   \
  constexpr name##1 make_##name##1(T x) { return {x}; }                 \
  constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

ROOFTILE_SIM_VECTOR_TYPES(signed char, char)
ROOFTILE_SIM_VECTOR_TYPES(unsigned char, uchar)
ROOFTILE_SIM_VECTOR_TYPES(short, short)
ROOFTILE_SIM_VECTOR_TYPES(unsigned short, ushort)
ROOFTILE_SIM_VECTOR_TYPES(int, int)
ROOFTILE_SIM_VECTOR_TYPES(unsigned int, uint)
ROOFTILE_SIM_VECTOR_TYPES(long long, longlong)
ROOFTILE_SIM_VECTOR_TYPES(unsigned long long, ulonglong)
ROOFTILE_SIM_VECTOR_TYPES(float, float)
ROOFTILE_SIM_VECTOR_TYPES(double, double)
#undef ROOFTILE_SIM_VECTOR_TYPES

// Extents of a grid or a block; missing ones are 1.
struct dim3 {
  unsigned x, y, z;
  // NOLINTBEGIN(google-explicit-constructor): implicit, as CUDA's are
  constexpr dim3(unsigned x_value = 1, unsigned y_value = 1, unsigned z_value = 1)
      : x(x_value), y(y_value), z(z_value) {}
  constexpr dim3(uint3 extents) : x(extents.x), y(extents.y), z(extents.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
  // NOLINTEND(google-explicit-constructor)
};

// CUDA 13's names for the 16-byte aligned forms.
using longlong4_16a = longlong4;
using ulonglong4_16a = ulonglong4;
using double4_16a = double4;

}  // namespace rooftile::simt
