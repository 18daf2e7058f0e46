// Functions and casts as functors of the engine: the function and the dtypes are known when they are compiled.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/elementwise/elementwise_functor.h"
#include "rooftile/ops/elementwise/elementwise_program.h"
#include "rooftile/ops/elementwise/rungs/element_types.h"

namespace rooftile::ROOFTILE_TARGET::elementwise_rungs {

// Two elements of 16 bits as the type of the instruction that takes two at a time.
template <class T>
struct PairOf;
template <>
struct PairOf<__half> {
  using type = __half2;
};
template <>
struct PairOf<__nv_bfloat16> {
  using type = __nv_bfloat162;
};
template <class T>
__device__ __forceinline__ typename PairOf<T>::type as_pair(const Vec<T, 2>& x) {
  typename PairOf<T>::type pair;
  memcpy(static_cast<void*>(&pair), &x, sizeof(pair));
  return pair;
}
template <class T>
__device__ __forceinline__ Vec<T, 2> as_vec(const typename PairOf<T>::type& x) {
  Vec<T, 2> vec;
  memcpy(static_cast<void*>(&vec), static_cast<const void*>(&x), sizeof(vec));
  return vec;
}

// A function of elements of T, computed in f32. A sum or product of two 16-bit floats in f32, rounded, is the one that
// their own instruction gives: 24 bits hold twice 11 and two more.
template <ElementwiseOp kOp, class T>
struct Typed {
  static constexpr bool kHasPairs =
      sizeof(T) == 2 && (kOp == ElementwiseOp::add || kOp == ElementwiseOp::sub || kOp == ElementwiseOp::mul);
  elementwise_math::Function<kOp, float> function;

  template <class... Further>
  __device__ T operator()(T x, Further... further) const {
    if constexpr (sizeof...(Further) == 0) return narrowed<T>(function(widened(x), 0.0f, 0.0f));
    if constexpr (sizeof...(Further) == 1)
      return narrowed<T>(function(widened(x), widened(further)..., 0.0f));
    if constexpr (sizeof...(Further) == 2) return narrowed<T>(function(widened(x), widened(further)...));
  }
  __device__ Vec<T, 2> apply2(const Vec<T, 2>& x, const Vec<T, 2>& y) const requires(kHasPairs) {
    if constexpr (kOp == ElementwiseOp::add) return as_vec<T>(__hadd2(as_pair(x), as_pair(y)));
    if constexpr (kOp == ElementwiseOp::sub) return as_vec<T>(__hsub2(as_pair(x), as_pair(y)));
    if constexpr (kOp == ElementwiseOp::mul) return as_vec<T>(__hmul2(as_pair(x), as_pair(y)));
  }
};

template <class R, class T>
struct Cast {
  using Acc = std::conditional_t<std::is_same_v<T, double> || std::is_same_v<R, double>, double, float>;
  __device__ R operator()(T x) const { return narrowed<R>(static_cast<Acc>(widened(x))); }
};

using TypedElements = CompiledDTypes<DTypes<float, __half, __nv_bfloat16>, DTypes<float, __half>>;

// Calls body(functor, out, in...) for one function of elements of one type.
template <ElementwiseOp kOp, class Body>
[[nodiscard]] Status dispatch_typed(const ElementwiseArgs& args, const Body& body) {
  return dispatch(TypedElements{}, args.out.dtype, [&]<class T>() -> Status {
    const auto number = [](double x) { return static_cast<float>(x); };
    const Typed<kOp, T> functor{{{number(args.alpha), number(args.low), number(args.high)}}};
    const auto elements = [](const ConstTensorView& view) { return static_cast<const T*>(view.data); };
    auto* out = static_cast<T*>(args.out.data);
    if constexpr (elementwise_arguments(kOp) == 1) return body(functor, out, elements(args.a));
    if constexpr (elementwise_arguments(kOp) == 2)
      return body(functor, out, elements(args.a), elements(args.b));
    if constexpr (elementwise_arguments(kOp) == 3)
      return body(functor, out, elements(args.a), elements(args.b), elements(args.c));
  });
}

// The functions of the climb's lessons, of which the lesson is how bytes move.
template <class Body>
[[nodiscard]] Status dispatch_lesson(const ElementwiseArgs& args, const Body& body) {
  if (args.op[0] == ElementwiseOp::add) return dispatch_typed<ElementwiseOp::add>(args, body);
  if (args.op[0] == ElementwiseOp::mul) return dispatch_typed<ElementwiseOp::mul>(args, body);
  return dispatch_typed<ElementwiseOp::gelu_tanh>(args, body);
}

// The launch of a functor over rows without gaps: as many packs in each thread as suit it, or kUnroll of aligned tensors.
template <int kUnroll>
struct LaunchPacks {
  const elementwise_layout::Layout& layout;
  StreamRef stream;
  int multiprocessors;

  template <class Functor, class R, class... In>
  [[nodiscard]] Status operator()(const Functor& functor, R* out, const In*... in) const {
    using elementwise_engine::Reach;
    const auto body = elementwise_engine::Types<R(In...)>::body(functor);
    using Body = std::remove_const_t<decltype(body)>;
    constexpr int kPacks = kUnroll > 0 ? kUnroll : elementwise_engine::kUsualUnroll<Body>;
    if constexpr (kUnroll == 0) {
      if (!layout.aligned())
        return elementwise_engine::launch_reach<Body, Reach::row, 1>(layout, {in..., out}, body, stream,
                                                                     multiprocessors);
    }
    return elementwise_engine::launch_reach<Body, Reach::aligned, kPacks>(layout, {in..., out}, body, stream,
                                                                          multiprocessors);
  }
};
template <int kUnroll = 0>
LaunchPacks<kUnroll> packs_of(const Call<ElementwiseArgs>& call) {
  return {call.config<elementwise_program::Plan>().layout, call.stream, call.device.multiprocessors};
}

}  // namespace rooftile::ROOFTILE_TARGET::elementwise_rungs
