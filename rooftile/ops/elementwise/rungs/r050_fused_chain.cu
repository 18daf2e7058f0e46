// All functions of a chain in one pass, of any dtypes and strides.
//
// Idea       the chain is data, not code: one kernel for what is computed in and the widest dtype interprets it, so that
//            every chain, every mix of dtypes and every broadcast is one launch that reads and writes each element
//            once. What is read does not go back to memory before it is done.
// Limits     none: what no other rung serves.
// Bottleneck DRAM where rows are long and accesses whole; the instructions of exact functions (sin, pow, f64) where there
//            are many of them per byte.
// Source     the observation behind every fusing compiler: PyTorch's NNC and inductor, XLA.
#include "rooftile/ops/elementwise/rungs/chain_body.h"

namespace rooftile::ROOFTILE_TARGET::elementwise_rungs {

namespace {

template <class Acc, int kPack, int kUnroll>
Status launch_pack(const Call<ElementwiseArgs>& call) {
  using elementwise_engine::Reach;
  const Plan& plan = call.config<Plan>();
  const int sms = call.device.multiprocessors;
  if (plan.layout.outer > 0)
    return launch_chain<Acc, kPack, kUnroll, Reach::rows>(call.args, plan, call.stream, sms);
  return launch_chain<Acc, kPack, kUnroll, Reach::row>(call.args, plan, call.stream, sms);
}

}  // namespace

// Eight elements of a thread at once where they have 32 bits, and fewer of 64: what stays in registers.
Status ROOFTILE_RUNG(const Call<ElementwiseArgs>& call) {
  const Plan& plan = call.config<Plan>();
  const int pack = plan.layout.pack;
  switch (plan.compute) {
    case Compute::f64:
      return pack == 2 ? launch_pack<double, 2, 1>(call) : launch_pack<double, 4, 1>(call);
    case Compute::u64:
      return launch_pack<std::uint64_t, 2, 1>(call);
    case Compute::i64:
      if (pack == 2) return launch_pack<std::int64_t, 2, 1>(call);
      return pack == 4 ? launch_pack<std::int64_t, 4, 1>(call) : launch_pack<std::int64_t, 8, 1>(call);
    case Compute::f32:
      break;
  }
  return pack == 4 ? launch_pack<float, 4, 2>(call) : launch_pack<float, 8, 1>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::elementwise_rungs
