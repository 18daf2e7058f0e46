// A chain as a body of the engine: an interpreter of elements in registers.
//
// The switch over functions stands outside of the loop over a thread's elements, and all threads take the same branch.
// What a step costs beside its arithmetic is shared by all elements of a thread.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/ops/elementwise/elementwise_engine.h"
#include "rooftile/ops/elementwise/elementwise_math.h"
#include "rooftile/ops/elementwise/elementwise_program.h"
#include "rooftile/ops/elementwise/rungs/chain_elements.h"

namespace rooftile::ROOFTILE_TARGET::elementwise_rungs {

using elementwise_program::Compute;
using elementwise_program::Plan;
using elementwise_program::Program;

template <class Acc, int kElements>
struct ChainBody {
  static constexpr int kInputs = 3;
  static constexpr int kPack = kElements;
  __host__ __device__ static constexpr int size(int) { return 0; }
  static constexpr bool kTyped = false;
  static constexpr int kResidentBlocks = kPack * sizeof(Acc) > 32 ? 4 : 5;  // 128 registers, 96

  ElementwiseOp ops[8];
  int count;
  int inputs;
  DType dtypes[elementwise_layout::kMostOperands];
  elementwise_math::Numbers<Acc> numbers;

  template <int kUnroll>
  __device__ __forceinline__ void compute(const RawPack (&in)[kInputs][kUnroll],
                                          RawPack (&out)[kUnroll]) const {
    Acc x[kUnroll * kPack];
    decode_all(0, in[0], x);
    int next = 1;
    for (int step = 0; step < count; ++step) {
      const ElementwiseOp op = ops[step];
      const int further = elementwise_arguments(op) - 1;
      // A function does not look at arguments that it does not have: x stands for them, so that no register waits.
      Acc y[kUnroll * kPack];
      Acc z[kUnroll * kPack];
      decode_if(further > 0, next, in, x, y);
      decode_if(further > 1, 2, in, x, z);
      next += further;
      elementwise_math::with_function<Acc>(
          op, numbers, [&](auto length, const auto& function) { apply(length, function, x, y, z); });
    }
    encode_all(x, out);
  }

 private:
  template <int kUnroll>
  __device__ __forceinline__ void decode_all(int input, const RawPack (&in)[kUnroll],
                                             Acc (&x)[kUnroll * kPack]) const {
    decode<kPack>(dtypes[input], in, x);
  }
  template <int kUnroll>
  __device__ __forceinline__ void encode_all(const Acc (&x)[kUnroll * kPack], RawPack (&out)[kUnroll]) const {
    encode<kPack>(dtypes[inputs], x, out);
  }

  // b or c as the next argument, or x where there is none.
  template <int kUnroll>
  __device__ __forceinline__ void decode_if(bool wanted, int input, const RawPack (&in)[kInputs][kUnroll],
                                            const Acc (&x)[kUnroll * kPack],
                                            Acc (&argument)[kUnroll * kPack]) const {
    if (wanted) {
      RawPack chosen[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) chosen[u] = input == 1 ? in[1][u] : in[2][u];
      decode_all(input, chosen, argument);
    } else {
#pragma unroll
      for (int j = 0; j < kUnroll * kPack; ++j) argument[j] = x[j];
    }
  }

  template <class Function, int kCount>
  __device__ __forceinline__ static void apply(elementwise_math::Short, const Function& function,
                                               Acc (&x)[kCount], const Acc (&y)[kCount],
                                               const Acc (&z)[kCount]) {
#pragma unroll
    for (int j = 0; j < kCount; ++j) x[j] = function(x[j], y[j], z[j]);
  }
  // Not side by side for all elements, which would take 200 registers: two at a time, and the others move up.
  template <class Function, int kCount>
  __device__ __forceinline__ static void apply(elementwise_math::Long, const Function& function,
                                               Acc (&x)[kCount], Acc (&y)[kCount], Acc (&z)[kCount]) {
    constexpr int kTogether = sizeof(Acc) == 8 || kCount < 4 ? 2 : 4;
#pragma unroll 1
    for (int done = 0; done < kCount; done += kTogether) {
      Acc results[kTogether];
#pragma unroll
      for (int j = 0; j < kTogether; ++j) results[j] = function(x[j], y[j], z[j]);
#pragma unroll
      for (int j = 0; j + kTogether < kCount; ++j) {
        x[j] = x[j + kTogether];
        y[j] = y[j + kTogether];
        z[j] = z[j + kTogether];
      }
#pragma unroll
      for (int j = 0; j < kTogether; ++j) x[kCount - kTogether + j] = results[j];
    }
  }
};

template <class Acc, int kPack, int kUnroll, elementwise_engine::Reach kReach>
[[nodiscard]] Status launch_chain(const ElementwiseArgs& args, const Plan& plan, StreamRef stream,
                                  int multiprocessors) {
  using Body = ChainBody<Acc, kPack>;
  const Program program = elementwise_program::program_of(args);
  const elementwise_program::Inputs inputs = elementwise_program::inputs_of(args);
  Body body{.ops = {},
            .count = program.count,
            .inputs = inputs.count,
            .dtypes = {},
            .numbers = {static_cast<Acc>(program.alpha), static_cast<Acc>(program.low),
                        static_cast<Acc>(program.high)}};
  elementwise_engine::Pointers pointers = {};
  for (int i = 0; i < program.count; ++i) body.ops[i] = program.ops[static_cast<std::size_t>(i)];
  for (int o = 0; o <= inputs.count; ++o) {
    body.dtypes[o] = plan.dtypes[static_cast<std::size_t>(o)];
    pointers[o] = o < inputs.count ? inputs.views[static_cast<std::size_t>(o)].data : args.out.data;
  }
  return elementwise_engine::launch_reach<Body, kReach, kUnroll>(plan.layout, pointers, body, stream,
                                                                 multiprocessors);
}

}  // namespace rooftile::ROOFTILE_TARGET::elementwise_rungs
