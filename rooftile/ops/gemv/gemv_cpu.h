// What the CPU rungs share: elements as numbers that the host computes with, and results.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/element.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/gemv/gemv_plan.h"

namespace rooftile::cpu::gemv_rungs {

using Types = DTypes<double, float, Float16, BFloat16>;

inline double number(double x) { return x; }
inline float number(float x) { return x; }
inline float number(Float16 x) { return to_float(x); }
inline float number(BFloat16 x) { return to_float(x); }

// The call's tensors by batch and index.
template <class T>
struct Operands {
  const GemvArgs& args;
  gemv_plan::Geometry shape;
  explicit Operands(const GemvArgs& call) : args(call), shape(gemv_plan::geometry(call)) {}
  [[nodiscard]] const T* row(std::int64_t batch, std::int64_t i) const {
    return static_cast<const T*>(args.a.data) + batch * shape.a_batch + i * shape.pitch;
  }
  [[nodiscard]] T x(std::int64_t batch, std::int64_t i) const {
    return static_cast<const T*>(args.x.data)[batch * shape.x_batch + i * shape.x_step];
  }
  // c is read where beta is not 0 alone; without elements to add the sum is 0, whatever alpha is.
  void store(std::int64_t batch, std::int64_t i, double sum) const {
    const bool narrow = args.a.dtype != DType::f64;
    const auto rounded = [narrow](double x) {
      return narrow ? static_cast<double>(static_cast<float>(x)) : x;
    };
    double value = shape.reduced() == 0 ? 0.0 : rounded(args.alpha) * sum;
    if (args.beta != 0) {
      const T c = static_cast<const T*>(args.c.data)[batch * shape.c_batch + i * shape.c_step];
      value += rounded(args.beta) * number(c);
    }
    store_from_double(static_cast<T*>(args.y.data) + batch * shape.y_batch + i * shape.y_step, args.a.dtype,
                      value);
  }
};

}  // namespace rooftile::cpu::gemv_rungs
