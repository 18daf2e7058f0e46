// The chains that programs are full of, compiled: bias and activation, gates, scale and shift.
//
// Idea       what the interpreter of fused_chain pays for every element, a compiler pays once: the chain is a functor, and
//            runs by the engine that runs single functions. With rows of any strides and broadcasts: a bias is a row.
// Limits     the chains below, of f32, f16 or bf16, all tensors alike.
// Bottleneck DRAM.
// Source     what fusing compilers make of a chain, written down.
#include "rooftile/ops/elementwise/rungs/typed_functions.h"

namespace rooftile::ROOFTILE_TARGET::elementwise_rungs {
namespace {

template <ElementwiseOp kOp>
__device__ __forceinline__ float apply(float x, float y, float z) {
  return elementwise_math::Function<kOp, float>{}(x, y, z);
}

template <ElementwiseOp... kOps>
struct Steps {};

// The result so far through the rest of the chain, which takes its further arguments from the front of those left.
__device__ __forceinline__ float run_steps(Steps<>, float x) { return x; }
template <ElementwiseOp kOp, ElementwiseOp... kRest>
__device__ __forceinline__ float run_steps(Steps<kOp, kRest...>, float x) {
  return run_steps(Steps<kRest...>{}, apply<kOp>(x, 0.0f, 0.0f));
}
template <ElementwiseOp kOp, ElementwiseOp... kRest, class... Further>
__device__ __forceinline__ float run_steps(Steps<kOp, kRest...>, float x, float next, Further... further) {
  if constexpr (elementwise_arguments(kOp) == 1)
    return run_steps(Steps<kRest...>{}, apply<kOp>(x, 0.0f, 0.0f), next, further...);
  else
    return run_steps(Steps<kRest...>{}, apply<kOp>(x, next, 0.0f), further...);
}

template <class T, ElementwiseOp... kOps>
struct Chained {
  template <class... Further>
  __device__ T operator()(T x, Further... further) const {
    return narrowed<T>(run_steps(Steps<kOps...>{}, widened(x), widened(further)...));
  }
};

template <class... Chains>
struct List {};

// elementwise_program::is_usual_chain has the same list.
#if defined(ROOFTILE_SIM_CHECKED)
using UsualChains = List<Steps<ElementwiseOp::add>, Steps<ElementwiseOp::mul>,
                         Steps<ElementwiseOp::add, ElementwiseOp::gelu_tanh>,
                         Steps<ElementwiseOp::add, ElementwiseOp::gelu_tanh, ElementwiseOp::mul>>;
#else
using UsualChains =
    List<Steps<ElementwiseOp::add>, Steps<ElementwiseOp::mul>,                                            //
         Steps<ElementwiseOp::mul, ElementwiseOp::add>,                                                   //
         Steps<ElementwiseOp::add, ElementwiseOp::relu>, Steps<ElementwiseOp::add, ElementwiseOp::silu>,  //
         Steps<ElementwiseOp::add, ElementwiseOp::gelu_tanh>,                                             //
         Steps<ElementwiseOp::add, ElementwiseOp::gelu_erf>,                                              //
         Steps<ElementwiseOp::silu, ElementwiseOp::mul>, Steps<ElementwiseOp::gelu_tanh, ElementwiseOp::mul>,
         Steps<ElementwiseOp::add, ElementwiseOp::gelu_tanh, ElementwiseOp::mul>>;
#endif

template <class T, ElementwiseOp... kOps>
Status launch_chain(Steps<kOps...>, const Call<ElementwiseArgs>& call) {
  constexpr int kArguments = 1 + (0 + ... + (elementwise_arguments(kOps) - 1));
  const Chained<T, kOps...> functor;
  const auto launch_as = [&]<class... In>(const In*... in) {
    auto* out = static_cast<T*>(call.args.out.data);
    return elementwise_engine::launch_any(call.config<elementwise_program::Plan>().layout, {in..., out},
                                          elementwise_engine::Types<T(In...)>::body(functor), call.stream,
                                          call.device);
  };
  const auto elements = [](const ConstTensorView& view) { return static_cast<const T*>(view.data); };
  if constexpr (kArguments == 2)
    return launch_as(elements(call.args.a), elements(call.args.b));
  else
    return launch_as(elements(call.args.a), elements(call.args.b), elements(call.args.c));
}

template <ElementwiseOp... kOps>
bool try_chain(Steps<kOps...> steps, const Call<ElementwiseArgs>& call, Status& status) {
  if (!(call.args.op == ElementwiseChain{kOps...})) return false;
  status =
      dispatch(TypedElements{}, call.args.out.dtype, [&]<class T>() { return launch_chain<T>(steps, call); });
  return true;
}
template <class... Chains>
Status launch_usual(List<Chains...>, const Call<ElementwiseArgs>& call) {
  Status status;
  const bool found = (try_chain(Chains{}, call, status) || ...);
  return found ? status : unsupported(std::string(kThisBuild) + " is not compiled for this chain");
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ElementwiseArgs>& call) { return launch_usual(UsualChains{}, call); }

}  // namespace rooftile::ROOFTILE_TARGET::elementwise_rungs
