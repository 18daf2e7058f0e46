// What the CPU rungs share: elements as numbers that the host computes with.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/element.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/dot/dot.h"

namespace rooftile::cpu::dot_rungs {

using Types = DTypes<double, float, Float16, BFloat16>;

inline double number(double x) { return x; }
inline double number(float x) { return x; }
inline double number(Float16 x) { return to_float(x); }
inline double number(BFloat16 x) { return to_float(x); }

// The elements of both vectors by their index.
template <class T>
struct Elements {
  const T* a;
  const T* b;
  std::int64_t a_stride;
  std::int64_t b_stride;
  explicit Elements(const DotArgs& args)
      : a(static_cast<const T*>(args.a.data)),
        b(static_cast<const T*>(args.b.data)),
        a_stride(args.a.strides[0]),
        b_stride(args.b.strides[0]) {}
  [[nodiscard]] bool dense() const { return a_stride == 1 && b_stride == 1; }
};

}  // namespace rooftile::cpu::dot_rungs
