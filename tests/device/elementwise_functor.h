// Functions of one's own, as a user of elementwise_functor.h writes them, and what their tests share on every target.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "rooftile/core/context.h"
#include "rooftile/core/memory.h"
#include "rooftile/core/tensor.h"

namespace rooftile {

// What the tests call: g_out = g_x + *g_weight * g_y by a factory, with f32, f16 and f64; out = x * y by a functor that takes
// two elements at a time, of views.
#define ROOFTILE_TEST_FUNCTORS                                                                  \
  Status blend(StreamRef stream, const DeviceProperties& device, std::int64_t n, double* g_out, \
               const float* g_x, const void* g_y, const float* g_weight);                       \
  Status product(StreamRef stream, const DeviceProperties& device, const TensorView& out,       \
                 const ConstTensorView& x, const ConstTensorView& y);
namespace sim {
ROOFTILE_TEST_FUNCTORS
}
namespace cuda {
ROOFTILE_TEST_FUNCTORS
}

namespace testing_elementwise {

using Blend = Status (*)(StreamRef, const DeviceProperties&, std::int64_t, double*, const float*, const void*,
                         const float*);
using Product = Status (*)(StreamRef, const DeviceProperties&, const TensorView&, const ConstTensorView&,
                           const ConstTensorView&);

// Pointers off their alignment by a different number of elements each.
inline void expect_blend(Device device, Blend blend) {
  Context context = Context::create(device).value();
  for (const std::int64_t n : {0, 1, 7, 33, 1000, 70001}) {
    std::vector<float> x(static_cast<std::size_t>(n) + 1);
    std::vector<Float16> y(static_cast<std::size_t>(n) + 3);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = to_float16(static_cast<double>(i % 64));
    const Tensor on_x = Tensor::from(context, view(x)).value();
    const Tensor on_y = Tensor::from(context, view(y)).value();
    const Tensor weight = Tensor::full(context, {1}, 0.5f).value();
    Tensor out = Tensor::full(context, {n + 2}, -1.0).value();
    const Status status =
        blend(context.stream(), context.properties(), n, static_cast<double*>(out.data()) + 1,
              static_cast<const float*>(on_x.data()) + 1, static_cast<const Float16*>(on_y.data()) + 3,
              static_cast<const float*>(weight.data()));
    ASSERT_TRUE(status.ok()) << status.message();
    const std::vector<double> values = out.to_vector<double>().value();
    EXPECT_EQ(values.front(), -1.0);
    EXPECT_EQ(values.back(), -1.0);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      ASSERT_EQ(values[at + 1], x[at + 1] + 0.5 * static_cast<double>((at + 3) % 64))
          << "n = " << n << ", " << i;
    }
  }
}

// A matrix of columns times a row that is broadcast, into every second column.
inline void expect_product(Device device, Product product) {
  Context context = Context::create(device).value();
  constexpr std::int64_t kRows = 5;
  constexpr std::int64_t kColumns = 37;
  std::vector<Float16> x(kRows * kColumns);
  std::vector<Float16> y(kColumns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = to_float16(static_cast<double>(i % 16));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = to_float16(static_cast<double>(i % 8));
  const Tensor on_x = Tensor::from(context, view(x, {kColumns, kRows})).value();
  const Tensor on_y = Tensor::from(context, view(y)).value();
  Tensor out = Tensor::full(context, {kRows, 2 * kColumns}, to_float16(-1)).value();
  const Status status =
      product(context.stream(), context.properties(), out.view().slice(1, 0, 2 * kColumns, 2),
              ConstTensorView(on_x.view()).permute({1, 0}), on_y);
  ASSERT_TRUE(status.ok()) << status.message();
  const std::vector<Float16> values = out.to_vector<Float16>().value();
  for (std::int64_t i = 0; i < kRows; ++i) {
    for (std::int64_t j = 0; j < kColumns; ++j) {
      const auto at = static_cast<std::size_t>(i * 2 * kColumns + 2 * j);
      ASSERT_EQ(to_float(values[at]), to_float(x[static_cast<std::size_t>(j * kRows + i)]) *
                                          to_float(y[static_cast<std::size_t>(j)]));
      ASSERT_EQ(to_float(values[at + 1]), -1.0f);
    }
  }
  const Status refused = product(context.stream(), context.properties(), out, on_x, on_y);
  EXPECT_EQ(refused.rule(), "elementwise_views_with: an input is not broadcast to out's shape");
  const Tensor wide = Tensor::full(context, {kColumns}, 1.0f).value();
  const Status mistyped = product(context.stream(), context.properties(), out, on_x, wide);
  EXPECT_EQ(mistyped.rule(), "elementwise_views_with: a view's dtype is not the signature's");
}

}  // namespace testing_elementwise
}  // namespace rooftile
