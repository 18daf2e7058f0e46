// nvcuda::wmma, CUDA's matrix operations of a warp, for the shapes and types of sm_80 and newer but for double
// and those of less than a byte.
//
// The elements of a lane are those that it holds on sm_90a, in that order (wmma_layout.h). The functions are
// inlined into the kernel, so that what they access counts for its line.
#pragma once

#include <bit>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include "rooftile/sim/bfloat16.h"
#include "rooftile/sim/half.h"
#include "rooftile/sim/wmma_warp.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's
namespace rooftile::simt::nvcuda::wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
namespace precision {
struct tf32;
}

enum layout_t { mem_row_major, mem_col_major };

namespace detail_wmma {

using detail::MatrixElement;
using detail::MatrixUse;

template <class T>
struct Stored {
  using Type = T;
};
template <>
struct Stored<precision::tf32> {
  using Type = float;
};

// Empty for a type that no fragment has.
template <class T>
struct OperandOf {};
template <MatrixElement kElement, class... Accumulators>
struct Operand {
  static constexpr MatrixElement kOperand = kElement;
  template <class T>
  static constexpr bool kAccumulatedIn = (std::is_same_v<T, Accumulators> || ...);
};
template <>
struct OperandOf<__half> : Operand<MatrixElement::float16, __half, float> {};
template <>
struct OperandOf<__nv_bfloat16> : Operand<MatrixElement::bfloat16, float> {};
template <>
struct OperandOf<precision::tf32> : Operand<MatrixElement::tf32, float> {};
template <>
struct OperandOf<signed char> : Operand<MatrixElement::int8, int> {};
template <>
struct OperandOf<unsigned char> : Operand<MatrixElement::uint8, int> {};

template <class T>
struct AccumulatorOf {};
template <MatrixElement kElement>
struct Accumulator {
  static constexpr MatrixElement kAccumulator = kElement;
};
template <>
struct AccumulatorOf<__half> : Accumulator<MatrixElement::float16> {};
template <>
struct AccumulatorOf<float> : Accumulator<MatrixElement::float32> {};
template <>
struct AccumulatorOf<int> : Accumulator<MatrixElement::int32> {};

template <int m, int n, int k>
inline constexpr bool kSixteenDeep = k == 16 &&
                                     ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
template <int m, int n, int k>
inline constexpr bool kEightDeep = m == 16 && n == 16 && k == 8;

template <class Use>
concept OperandUse = std::is_same_v<Use, matrix_a> || std::is_same_v<Use, matrix_b>;
template <class Layout>
concept Order = std::is_same_v<Layout, row_major> || std::is_same_v<Layout, col_major>;
template <class T>
concept HasOperand = requires {
  OperandOf<T>::kOperand;
};
template <class T>
concept HasAccumulator = requires {
  AccumulatorOf<T>::kAccumulator;
};
template <class T, int m, int n, int k>
concept OperandFor = HasOperand<T> &&
    (std::is_same_v<T, precision::tf32> ? kEightDeep<m, n, k> : kSixteenDeep<m, n, k>);
template <class T, int m, int n, int k>
concept AccumulatorFor = HasAccumulator<T> &&
    (kSixteenDeep<m, n, k> || (kEightDeep<m, n, k> && std::is_same_v<T, float>));

template <class Use, int m, int n, int k, class T>
consteval detail::FragmentLayout layout_of() {
  if constexpr (std::is_same_v<Use, accumulator>) {
    return detail::fragment_layout(MatrixUse::accumulator, m, n, k, AccumulatorOf<T>::kAccumulator);
  } else {
    return detail::fragment_layout(std::is_same_v<Use, matrix_a> ? MatrixUse::a : MatrixUse::b, m, n, k,
                                   OperandOf<T>::kOperand);
  }
}

template <class T, detail::FragmentLayout kOf>
struct alignas(8) Elements {
  using element_type = T;
  using storage_element_type = typename Stored<T>::Type;
  static constexpr detail::FragmentLayout kLayout = kOf;
  enum { num_elements = detail::held_elements(kOf) * kOf.duplicates, num_storage_elements = num_elements };
  storage_element_type x[num_elements];
};

template <class T>
using StoredType = typename Stored<T>::Type;

}  // namespace detail_wmma

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
  static_assert(!std::is_same_v<Use, Use>,
                "the simulated SM has fragments of matrix_a and matrix_b, row_major or col_major: __half, "
                "__nv_bfloat16, signed char and unsigned char of 16x16x16, 32x8x16 and 8x32x16, "
                "precision::tf32 of 16x16x8; and accumulators without a layout: __half, float and int of the "
                "first three, float of 16x16x8");
};
template <detail_wmma::OperandUse Use, int m, int n, int k, detail_wmma::OperandFor<m, n, k> T,
          detail_wmma::Order Layout>
class fragment<Use, m, n, k, T, Layout>
    : public detail_wmma::Elements<T, detail_wmma::layout_of<Use, m, n, k, T>()> {};
template <int m, int n, int k, detail_wmma::AccumulatorFor<m, n, k> T>
class fragment<accumulator, m, n, k, T, void>
    : public detail_wmma::Elements<T, detail_wmma::layout_of<accumulator, m, n, k, T>()> {};

template <class T, rooftile::simt::detail::FragmentLayout kOf>
__attribute__((always_inline)) inline void fill_fragment(
    detail_wmma::Elements<T, kOf>& f, const std::type_identity_t<detail_wmma::StoredType<T>>& value) {
  for (auto& element : f.x) element = value;
}

// `ldm` elements from one row, or column, to the next: a multiple of 16 bytes (of bytes across the lines, less).
// `p` is a multiple of 32 bytes.
template <detail_wmma::OperandUse Use, int m, int n, int k, class T, class Layout>
__attribute__((always_inline)) inline void load_matrix_sync(
    fragment<Use, m, n, k, T, Layout>& f, const std::type_identity_t<detail_wmma::StoredType<T>>* p,
    unsigned ldm, std::source_location where = std::source_location::current()) {
  detail::load_fragment(f.kLayout, f.x,
                        {const_cast<detail_wmma::StoredType<T>*>(p), ldm, std::is_same_v<Layout, row_major>},
                        where);
}
template <int m, int n, int k, class T>
__attribute__((always_inline)) inline void load_matrix_sync(
    fragment<accumulator, m, n, k, T>& f, const std::type_identity_t<T>* p, unsigned ldm, layout_t layout,
    std::source_location where = std::source_location::current()) {
  detail::load_fragment(f.kLayout, f.x, {const_cast<T*>(p), ldm, layout == mem_row_major}, where);
}
template <int m, int n, int k, class T>
__attribute__((always_inline)) inline void store_matrix_sync(
    std::type_identity_t<T>* p, const fragment<accumulator, m, n, k, T>& f, unsigned ldm, layout_t layout,
    std::source_location where = std::source_location::current()) {
  detail::store_fragment(f.kLayout, f.x, {p, ldm, layout == mem_row_major}, where);
}

namespace detail_wmma {

template <class A, class B, class C, class D>
inline constexpr detail::MatrixProduct kProduct = {A::kLayout, B::kLayout, C::kLayout, D::kLayout};

template <class A, class B, class C, class D>
__attribute__((always_inline)) inline void multiply(D& d, const A& a, const B& b, const C& c, bool saturate,
                                                    std::source_location where) {
  using Of = OperandOf<typename A::element_type>;
  static_assert(Of::template kAccumulatedIn<typename C::element_type> &&
                    Of::template kAccumulatedIn<typename D::element_type>,
                "accumulators are __half or float for __half, float for __nv_bfloat16 and precision::tf32, "
                "int for signed char and unsigned char");
  detail::multiply_fragments(kProduct<A, B, C, D>, {a.x, b.x, c.x, d.x}, saturate, where);
}

}  // namespace detail_wmma

// d = a * b + c; d may be c.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class C, class D>
__attribute__((always_inline)) inline void mma_sync(
    fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, T, LayoutA>& a,
    const fragment<matrix_b, m, n, k, T, LayoutB>& b, const fragment<accumulator, m, n, k, C>& c,
    std::source_location where = std::source_location::current()) {
  detail_wmma::multiply(d, a, b, c, false, where);
}
// `satf`: sums beyond int become its limits. As in CUDA's header, accumulators of int alone have it.
template <int m, int n, int k, class T, class LayoutA, class LayoutB>
__attribute__((always_inline)) inline void mma_sync(
    fragment<accumulator, m, n, k, int>& d, const fragment<matrix_a, m, n, k, T, LayoutA>& a,
    const fragment<matrix_b, m, n, k, T, LayoutB>& b, const fragment<accumulator, m, n, k, int>& c, bool satf,
    std::source_location where = std::source_location::current()) {
  detail_wmma::multiply(d, a, b, c, satf, where);
}

// cvt.rna.tf32.f32: to 10 bits behind the point, the nearer one, ties away from zero.
inline float __float_to_tf32(float value) {
  constexpr std::uint32_t kInfinity = 0x7f800000u;
  constexpr std::uint32_t kNan = 0x7fffffffu;
  constexpr std::uint32_t kDropped = 0x1fffu;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & kNan;
  if (magnitude > kInfinity) return std::bit_cast<float>(kNan);
  if (magnitude == kInfinity) return value;
  return std::bit_cast<float>((bits + (kDropped + 1) / 2) & ~kDropped);
}

}  // namespace rooftile::simt::nvcuda::wmma
// NOLINTEND(bugprone-reserved-identifier)
