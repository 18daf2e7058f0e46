// Packs: 16 bytes per access, one pack of each tensor per thread.
//
// Idea       a quarter (f32) or an eighth (16 bits) of the requests for the same bytes; 16-bit floats are added and
//            multiplied two at a time. The packs begin at a line of out; an input that is not aligned to its packs is read
//            in narrower pieces, the others are not.
// Limits     one function of f32, f16 or bf16, all tensors alike, and the casts that programs make; rows without gaps.
//            What else there is: fused_chain.
// Bottleneck DRAM. Blocks of 128 threads that end after one pack do not lose to anything longer lived: what is on its way
//            is the next block's.
// Source     CUDA C++ Programming Guide, "Size and Alignment Requirement".
#include "rooftile/ops/elementwise/rungs/typed_functions.h"

namespace rooftile::ROOFTILE_TARGET::elementwise_rungs {
namespace {

template <ElementwiseOp... kOps>
struct Functions {};

#if defined(ROOFTILE_SIM_CHECKED)
// Some of each number of arguments: the others access memory no differently.
using Compiled = Functions<ElementwiseOp::neg, ElementwiseOp::add, ElementwiseOp::mul,
                           ElementwiseOp::gelu_tanh, ElementwiseOp::fma, ElementwiseOp::where>;
#else
using Compiled =
    Functions<ElementwiseOp::neg, ElementwiseOp::abs, ElementwiseOp::relu, ElementwiseOp::exp,
              ElementwiseOp::log, ElementwiseOp::sqrt, ElementwiseOp::rsqrt, ElementwiseOp::sin,
              ElementwiseOp::tanh, ElementwiseOp::sigmoid, ElementwiseOp::silu, ElementwiseOp::gelu_erf,
              ElementwiseOp::gelu_tanh, ElementwiseOp::clamp, ElementwiseOp::add, ElementwiseOp::sub,
              ElementwiseOp::mul, ElementwiseOp::div, ElementwiseOp::min, ElementwiseOp::max,
              ElementwiseOp::pow, ElementwiseOp::saxpy, ElementwiseOp::fma, ElementwiseOp::where>;
#endif

template <ElementwiseOp... kOps>
Status launch_function(Functions<kOps...>, const Call<ElementwiseArgs>& call) {
  Status status;
  const bool found =
      ((kOps == call.args.op[0] && (status = dispatch_typed<kOps>(call.args, packs_of(call)), true)) || ...);
  return found ? status : unsupported(std::string(kThisBuild) + " is not compiled for this function");
}

template <class R, class T>
struct Pair {};
template <class... Pairs>
struct Casts {};

// elementwise_program::is_usual_cast has the same list by dtypes.
#if defined(ROOFTILE_SIM_CHECKED)
using UsualCasts = Casts<Pair<__half, float>, Pair<E4m3, float>, Pair<float, double>>;
#else
using UsualCasts =
    Casts<Pair<float, double>, Pair<double, float>,                                                     //
          Pair<__half, float>, Pair<__nv_bfloat16, float>, Pair<E4m3, float>, Pair<E5m2, float>,        //
          Pair<float, __half>, Pair<__nv_bfloat16, __half>, Pair<E4m3, __half>, Pair<E5m2, __half>,     //
          Pair<float, __nv_bfloat16>, Pair<__half, __nv_bfloat16>, Pair<E4m3, __nv_bfloat16>,           //
          Pair<E5m2, __nv_bfloat16>, Pair<float, E4m3>, Pair<__half, E4m3>, Pair<__nv_bfloat16, E4m3>,  //
          Pair<float, E5m2>, Pair<__half, E5m2>, Pair<__nv_bfloat16, E5m2>,                             //
          Pair<float, std::uint8_t>, Pair<__half, std::uint8_t>, Pair<__nv_bfloat16, std::uint8_t>,     //
          Pair<float, std::int8_t>, Pair<std::uint8_t, float>, Pair<std::int8_t, float>>;
#endif

template <class T>
inline constexpr DType kDTypeOf = dtype_of<T>;
template <>
inline constexpr DType kDTypeOf<E4m3> = DType::f8e4m3;
template <>
inline constexpr DType kDTypeOf<E5m2> = DType::f8e5m2;

template <class R, class T>
bool try_cast(Pair<R, T>, const Call<ElementwiseArgs>& call, Status& status) {
  if (call.args.out.dtype != kDTypeOf<R> || call.args.a.dtype != kDTypeOf<T>) return false;
  status = packs_of(call)(Cast<R, T>{}, static_cast<R*>(call.args.out.data),
                          static_cast<const T*>(call.args.a.data));
  return true;
}
template <class... Pairs>
Status launch_cast(Casts<Pairs...>, const Call<ElementwiseArgs>& call) {
  Status status;
  const bool found = (try_cast(Pairs{}, call, status) || ...);
  return found ? status : unsupported(std::string(kThisBuild) + " is not compiled for this cast");
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ElementwiseArgs>& call) {
  if (call.args.op[0] == ElementwiseOp::cast) return launch_cast(UsualCasts{}, call);
  return launch_function(Compiled{}, call);
}

}  // namespace rooftile::ROOFTILE_TARGET::elementwise_rungs
