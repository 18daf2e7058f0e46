// Functions of one's own, element by element: for kernel sources (.cu), compiled by nvcc or for the simulated SM.
//
//   struct Blend {
//     float weight;
//     __device__ __half operator()(float x, __half y) const { return __float2half(x + weight * __half2float(y)); }
//   };
//   elementwise_with(Blend{0.5f}, stream, device, n, g_out, g_x, g_y);         // any mix of dtypes, 1 to 3 inputs
//   elementwise_views_with<__half(float, __half)>(Blend{0.5f}, stream, device, out, x, y);  // any strides, broadcast
//
// A functor is trivially copyable. Where it has apply2, whose arguments and result are Vec<T, 2>, elements are computed two
// at a time: a multiplication of __half2 is one instruction.
//
// Where a functor needs what only the device knows, a factory makes it there, once in every thread:
//
//   struct BlendFactory {
//     const float* g_weight;
//     __device__ Blend operator()() const { return {*g_weight}; }
//   };
//   elementwise_with(from_factory(BlendFactory{g_weight}), stream, device, n, g_out, g_x, g_y);
//
// Accesses are as wide as 16 bytes allow for the widest dtype. A pointer that is not aligned to that is read in narrower
// pieces, by itself; the packs begin at a line of the output. out may be an input itself. No allocation, no
// synchronisation.
//
// Source: the CUDA C++ Programming Guide on vector accesses; the form of functors and factories is OneFlow's elementwise
// template.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "rooftile/core/device.h"
#include "rooftile/device/types.h"
#include "rooftile/ops/elementwise/elementwise_engine.h"

namespace rooftile::ROOFTILE_TARGET {

namespace elementwise_engine {

template <class Factory>
struct FromFactory {
  Factory factory;
  __device__ auto make() const { return factory(); }
};
template <class Functor>
struct FromFunctor {
  Functor functor;
  __device__ const Functor& make() const { return functor; }
};
template <class T>
inline constexpr bool kIsFactory = false;
template <class Factory>
inline constexpr bool kIsFactory<FromFactory<Factory>> = true;

template <class T>
__device__ __forceinline__ Vec<T, 2> pair_of(const RawPack& pack, int j) {
  Vec<T, 2> pair;
  memcpy(static_cast<void*>(&pair), reinterpret_cast<const char*>(&pack) + j * sizeof(T), sizeof(pair));
  return pair;
}
template <class T>
__device__ __forceinline__ T element_of(const RawPack& pack, int j) {
  T element;
  memcpy(static_cast<void*>(&element), reinterpret_cast<const char*>(&pack) + j * sizeof(T), sizeof(T));
  return element;
}
template <class T>
__device__ __forceinline__ void set_elements(RawPack& pack, int j, const T& elements, std::size_t size) {
  memcpy(reinterpret_cast<char*>(&pack) + static_cast<std::size_t>(j) * size,
         static_cast<const void*>(&elements), sizeof(T));
}

template <class Functor, class... In>
concept TwoAtATime = requires(const Functor& functor, Vec<In, 2>... in) {
  functor.apply2(in...);
};

constexpr int largest(int a, int b) { return a > b ? a : b; }
template <class... T>
constexpr int pack_of() {
  int widest = 1;
  ((widest = largest(widest, static_cast<int>(sizeof(T)))), ...);
  return 16 / widest;
}

template <class Maker, class R, class... In>
struct FunctorBody {
  static constexpr int kInputs = sizeof...(In);
  static constexpr int kPack = pack_of<R, In...>();
  __host__ __device__ static constexpr int size(int tensor) {
    const int sizes[] = {static_cast<int>(sizeof(In))..., static_cast<int>(sizeof(R))};
    return sizes[tensor];
  }
  static constexpr int kResidentBlocks = 1;  // the functor has what registers it wants
  static constexpr bool kTyped = true;

  Maker maker;

  template <int kUnroll>
  __device__ __forceinline__ void compute(const RawPack (&in)[kInputs][kUnroll],
                                          RawPack (&out)[kUnroll]) const {
    compute_with(in, out, std::make_integer_sequence<int, kInputs>());
  }
  __device__ __forceinline__ void compute_one(const char* const (&g_in)[kInputs], char* g_out) const {
    compute_one_with(g_in, g_out, std::make_integer_sequence<int, kInputs>());
  }

 private:
  template <int... kInput>
  __device__ __forceinline__ void compute_one_with(const char* const (&g_in)[kInputs], char* g_out,
                                                   std::integer_sequence<int, kInput...>) const {
    const R element =
        maker.make()(rooftile::ROOFTILE_TARGET::load(reinterpret_cast<const In*>(g_in[kInput]))...);
    rooftile::ROOFTILE_TARGET::store(reinterpret_cast<R*>(g_out), element);
  }
  template <int kUnroll, int... kInput>
  __device__ __forceinline__ void compute_with(const RawPack (&in)[kInputs][kUnroll], RawPack (&out)[kUnroll],
                                               std::integer_sequence<int, kInput...>) const {
    const auto functor = maker.make();
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      out[u] = {};
      if constexpr (TwoAtATime<decltype(functor), In...> && kPack % 2 == 0) {
#pragma unroll
        for (int j = 0; j < kPack; j += 2) {
          const Vec<R, 2> pair = functor.apply2(pair_of<In>(in[kInput][u], j)...);
          set_elements(out[u], j, pair, sizeof(R));
        }
      } else {
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
          const R element = functor(element_of<In>(in[kInput][u], j)...);
          set_elements(out[u], j, element, sizeof(R));
        }
      }
    }
  }
};

// Two packs in each thread where out's are smaller than those that are read: stores of 4 bytes, one for each thread, are
// too few bytes.
template <class Body>
inline constexpr int kUsualUnroll = Body::size(Body::kInputs) < Body::size(0) ? 2 : 1;

template <class Body>
[[nodiscard]] Status launch_any(const Layout& layout, const Pointers& pointers, const Body& body,
                                StreamRef stream, const DeviceProperties& device) {
  const int sms = device.multiprocessors;
  if (layout.aligned())
    return launch_reach<Body, Reach::aligned, kUsualUnroll<Body>>(layout, pointers, body, stream, sms);
  if (layout.outer == 0) return launch_reach<Body, Reach::row, 1>(layout, pointers, body, stream, sms);
  if (layout.has_aligned_rows() && layout.packs() < kMostNarrowPacks)
    return launch_reach<Body, Reach::aligned_rows, 1>(layout, pointers, body, stream, sms);
  return launch_reach<Body, Reach::rows, 1>(layout, pointers, body, stream, sms);
}

template <class T>
auto maker_of(const T& functor) {
  if constexpr (kIsFactory<T>)
    return functor;
  else
    return FromFunctor<T>{functor};
}

template <class Signature>
struct Types;
template <class R, class... In>
struct Types<R(In...)> {
  template <class Functor>
  static auto body(const Functor& functor) {
    using Maker = decltype(maker_of(functor));
    return FunctorBody<Maker, R, In...>{maker_of(functor)};
  }
  template <class... View>
  static bool fit(const TensorView& out, const View&... in) {
    static_assert(sizeof...(View) == sizeof...(In), "a view for each argument of the signature");
    return out.dtype == dtype_of<R> && ((in.dtype == dtype_of<In>)&&...);
  }
};

}  // namespace elementwise_engine

// A functor that is made on the device: factory() in every thread.
template <class Factory>
elementwise_engine::FromFactory<Factory> from_factory(const Factory& factory) {
  return {factory};
}

// g_out[i] = functor(g_in[i]...) for i < n: tensors without gaps, each pointer aligned to its element.
template <class Functor, class R, class... In>
[[nodiscard]] Status elementwise_with(const Functor& functor, StreamRef stream,
                                      const DeviceProperties& device, std::int64_t n, R* g_out,
                                      const In*... g_in) {
  static_assert(sizeof...(In) >= 1 && sizeof...(In) <= 3, "functions of one, two or three arguments");
  if (n < 0) return invalid_argument("elementwise_with: n is negative");
  if (n == 0) return {};
  const auto view_of = [&](const void* g_data, DType dtype) {
    return ConstTensorView(g_data, dtype, stream.device, {n}, {1});
  };
  const ConstTensorView inputs[] = {view_of(g_in, dtype_of<In>)...};
  const ConstTensorView out = view_of(g_out, dtype_of<R>);
  return elementwise_engine::launch_any(elementwise_layout::layout_of(inputs, out), {g_in..., g_out},
                                        elementwise_engine::Types<R(In...)>::body(functor), stream, device);
}

// The same of views of any strides, the inputs broadcast to out's shape. Signature names the element types: R(In...).
template <class Signature, class Functor, class... View>
[[nodiscard]] Status elementwise_views_with(const Functor& functor, StreamRef stream,
                                            const DeviceProperties& device, const TensorView& out,
                                            const View&... in) {
  using Types = elementwise_engine::Types<Signature>;
  if (!Types::fit(out, in...))
    return invalid_argument("elementwise_views_with: a view's dtype is not the signature's");
  Extents shape = out.shape;
  if (!((elementwise_layout::broadcast(shape, in.shape) && shape == out.shape) && ...))
    return invalid_argument("elementwise_views_with: an input is not broadcast to out's shape");
  if (out.numel() == 0) return {};
  const ConstTensorView inputs[] = {ConstTensorView(in)...};
  return elementwise_engine::launch_any(elementwise_layout::layout_of(inputs, out), {in.data..., out.data},
                                        Types::body(functor), stream, device);
}

}  // namespace rooftile::ROOFTILE_TARGET
