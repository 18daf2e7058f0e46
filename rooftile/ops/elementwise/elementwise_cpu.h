// What the CPU rungs share: stretches of elements through a chain, in buffers that stay in the first cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "rooftile/core/element.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/elementwise/elementwise.h"
#include "rooftile/ops/elementwise/elementwise_math.h"
#include "rooftile/ops/elementwise/elementwise_program.h"

namespace rooftile::cpu::elementwise_rungs {

using elementwise_layout::Layout;
using elementwise_layout::Operand;
using elementwise_program::Compute;
using elementwise_program::Plan;
using elementwise_program::Program;

using AllTypes =
    DTypes<double, float, Float16, BFloat16, Float8E4M3, Float8E5M2, std::int8_t, std::int16_t, std::int32_t,
           std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

template <class T>
inline constexpr bool kIsNumber = std::is_arithmetic_v<T>;

template <class Acc, class T>
Acc widened(T x) {
  if constexpr (kIsNumber<T>)
    return static_cast<Acc>(x);
  else
    return static_cast<Acc>(to_float(x));
}

template <class T, class Acc>
T narrowed(Acc x) {
  if constexpr (std::is_integral_v<T>) {
    return elementwise_math::ToInteger<T>()(x);
  } else if constexpr (kIsNumber<T>) {
    return static_cast<T>(x);
  } else {
    const auto wide = static_cast<double>(elementwise_math::exact(x));
    if constexpr (std::is_same_v<T, Float16>) return to_float16(wide);
    if constexpr (std::is_same_v<T, BFloat16>) return to_bfloat16(wide);
    if constexpr (std::is_same_v<T, Float8E4M3>) return to_float8_e4m3(wide);
    if constexpr (std::is_same_v<T, Float8E5M2>) return to_float8_e5m2(wide);
  }
}

// `count` elements, `step` bytes apart.
template <class Acc>
void load_elements(DType dtype, const char* source, std::int64_t step, std::int64_t count, Acc* x) {
  // Every dtype is in the list.
  (void)dispatch(AllTypes{}, dtype, [&]<class T>() -> Status {
    if (step == sizeof(T)) {
      const T* elements = reinterpret_cast<const T*>(source);
      for (std::int64_t i = 0; i < count; ++i) x[i] = widened<Acc>(elements[i]);
    } else {
      for (std::int64_t i = 0; i < count; ++i)
        x[i] = widened<Acc>(*reinterpret_cast<const T*>(source + i * step));
    }
    return {};
  });
}
template <class Acc>
void store_elements(DType dtype, const Acc* x, std::int64_t step, std::int64_t count, char* target) {
  (void)dispatch(AllTypes{}, dtype, [&]<class T>() -> Status {
    if (step == sizeof(T)) {
      T* elements = reinterpret_cast<T*>(target);
      for (std::int64_t i = 0; i < count; ++i) elements[i] = narrowed<T>(x[i]);
    } else {
      for (std::int64_t i = 0; i < count; ++i) *reinterpret_cast<T*>(target + i * step) = narrowed<T>(x[i]);
    }
    return {};
  });
}

inline constexpr std::int64_t kStretch = 1024;  // elements: 8 KiB of doubles for each of three buffers

// A stretch of a row: where its first element lies in each tensor.
struct Stretch {
  std::array<char*, elementwise_layout::kMostOperands> data{};
  std::int64_t count = 0;
};

// The stretch of `count` elements from `column` on of a row.
inline Stretch stretch_at(const ElementwiseArgs& args, const Plan& plan, std::int64_t row,
                          std::int64_t column, std::int64_t count) {
  const elementwise_program::Inputs inputs = elementwise_program::inputs_of(args);
  const Layout& layout = plan.layout;
  Stretch stretch{.count = count};
  for (int o = 0; o <= layout.inputs; ++o) {
    const auto at = static_cast<std::size_t>(o);
    const void* data = o < layout.inputs ? inputs.views[at].data : args.out.data;
    std::int64_t offset = column * layout.operands[at].element_step;
    std::int64_t rest = row;
    for (int d = layout.outer - 1; d >= 0; --d) {
      const auto dim = static_cast<std::size_t>(d);
      offset += rest % layout.extents[dim] * layout.operands[at].outer_steps[dim];
      rest /= layout.extents[dim];
    }
    stretch.data[at] = static_cast<char*>(const_cast<void*>(data)) + offset;
  }
  return stretch;
}

template <class Acc>
void run_stretch(const Plan& plan, const Program& program, const Stretch& stretch) {
  std::array<Acc, kStretch> x;
  std::array<Acc, kStretch> y;
  std::array<Acc, kStretch> z;
  const elementwise_math::Numbers<Acc> numbers{static_cast<Acc>(program.alpha), static_cast<Acc>(program.low),
                                               static_cast<Acc>(program.high)};
  const std::int64_t count = stretch.count;
  std::size_t next = 0;
  const auto load_next = [&](std::array<Acc, kStretch>& buffer) {
    load_elements(plan.dtypes[next], stretch.data[next], plan.layout.operands[next].element_step, count,
                  buffer.data());
    ++next;
  };
  load_next(x);
  for (const ElementwiseOp op : program.steps()) {
    const int arguments = elementwise_arguments(op);
    if (arguments > 1) load_next(y);
    if (arguments > 2) load_next(z);
    elementwise_math::with_function<Acc>(op, numbers, [&](auto, const auto& function) {
      for (std::int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        // A function does not look at arguments that it does not have.
        x[at] = function(x[at], arguments > 1 ? y[at] : Acc{}, arguments > 2 ? z[at] : Acc{});
      }
    });
  }
  store_elements(plan.dtypes[next], x.data(), plan.layout.operands[next].element_step, count,
                 stretch.data[next]);
}

inline void run_stretch(const Plan& plan, const Program& program, const Stretch& stretch) {
  switch (plan.compute) {
    case Compute::f32:
      return run_stretch<float>(plan, program, stretch);
    case Compute::f64:
      return run_stretch<double>(plan, program, stretch);
    case Compute::i64:
      return run_stretch<std::int64_t>(plan, program, stretch);
    case Compute::u64:
      return run_stretch<std::uint64_t>(plan, program, stretch);
  }
}

}  // namespace rooftile::cpu::elementwise_rungs
