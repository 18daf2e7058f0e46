// CUDA's built-in vector types: dim3, float4 and their kin, with CUDA's sizes and alignments.
//
// Vectors of two and four elements are copied whole, by one access of their
// size, as the GPU does: a plain struct would be split into its members.
//
// They stand in unions and are left uninitialised by a plain definition, as CUDA's are; `{1}` sets the first
// member and makes the others 0. They are no aggregates: designated initialisers do not compile, and a union
// that holds one cannot be copied whole.
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

#if !defined(ROOFTILE_SIM_CHECKED)  // where -fsanitize=alignment has told it, with its line
// Ends the launch; returns where there is none (host code that copies a vector).
void misaligned_copy(const void* destination, const void* source, std::size_t bytes);
#endif

// The widest access of one thread is 16 bytes: double4 takes two.
template <std::size_t kBytes>
__attribute__((always_inline)) inline void copy_whole(void* destination, const void* source) {
  constexpr std::size_t kAccess = kBytes < 16 ? kBytes : 16;
#if !defined(ROOFTILE_SIM_CHECKED)
  const auto bits = reinterpret_cast<std::uintptr_t>(destination) | reinterpret_cast<std::uintptr_t>(source);
  if ((bits & (kAccess - 1)) != 0) [[unlikely]]
    misaligned_copy(destination, source, kAccess);
#endif
  using Access = typename Whole<kAccess>::type;
  for (std::size_t i = 0; i < kBytes / kAccess; ++i) {
    static_cast<Access*>(destination)[i] = static_cast<const Access*>(source)[i];
  }
}

// The first value in braces that has fewer than the vector has members. A type of its own: with a plain T, a
// number would convert to a vector wherever one is asked for.
template <class T>
struct FirstMember {
  T value;
  template <class U>
  requires std::is_convertible_v<U, T>
  constexpr FirstMember(U first) : value(static_cast<T>(first)) {}  // NOLINT(google-explicit-constructor)
};

template <class T>
struct Vector1 {
  T x;
};

template <class T>
struct alignas(2 * sizeof(T)) Vector2 {
  T x, y;
  Vector2() = default;
  constexpr Vector2(T x_value, T y_value) : x(x_value), y(y_value) {}
  // NOLINTNEXTLINE(google-explicit-constructor): for braces
  constexpr Vector2(FirstMember<T> x_value) : x(x_value.value), y() {}
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
  Vector4() = default;
  constexpr Vector4(T x_value, T y_value, T z_value, T w_value)
      : x(x_value), y(y_value), z(z_value), w(w_value) {}
  // NOLINTNEXTLINE(google-explicit-constructor): for braces
  constexpr Vector4(FirstMember<T> x_value, T y_value = T(), T z_value = T())
      : x(x_value.value), y(y_value), z(z_value), w() {}
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
