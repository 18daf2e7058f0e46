// What the tests of layer_norm_backward and rms_norm_backward share.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/core/context.h"
#include "rooftile/core/memory.h"
#include "rooftile/core/operator.h"

namespace rooftile::norm_backward_testing {

// Rows and columns of f32 by which each slot of a ring has more than two rows: of 16 rings a block, and of two.
inline std::vector<std::pair<std::int64_t, std::int64_t>> shapes_that_go_round(const Context& context) {
  const std::int64_t blocks = context.properties().multiprocessors;
  return {{blocks * 16 * 17 + 5, 20}, {blocks * 2 * 15 + 3, 2000}};
}

// shared_ring's `outputs` of f32, which args has, are fused's; each time onto poisoned ones. Those of one axis are sums over `rows` rows
// of numbers of about 1, which cancel: each addition rounds by so much.
template <class Args>
void expect_rings_give_what_registers_do(const OperatorDescriptor& op, Context& context, const Args& args,
                                         const std::vector<Tensor*>& outputs, std::int64_t rows) {
  constexpr double kRounding = 0x1p-24;
  const auto values_by = [&](std::string_view id) {
    for (Tensor* output : outputs) {
      const auto bytes = static_cast<std::size_t>(output->numel()) * sizeof(float);
      EXPECT_TRUE(fill_bytes(context.stream(), output->data(), 0xFF, bytes).ok());
    }
    for (const RungRow& rung : op.rungs) {
      if (rung.id != id) continue;
      EXPECT_TRUE(run_rung(op, rung, context, AnyArgs::of(args)).ok()) << id;
    }
    std::vector<double> values;
    for (const Tensor* output : outputs) {
      const std::vector<float> floats = output->to_vector<float>().value();
      values.insert(values.end(), floats.begin(), floats.end());
    }
    return values;
  };
  const std::vector<double> expected = values_by("fused");
  const std::vector<double> values = values_by("shared_ring");
  ASSERT_EQ(values.size(), expected.size());
  std::size_t i = 0;
  for (const Tensor* output : outputs) {
    const double additions = output->rank() == 1 ? static_cast<double>(rows) : 64.0;
    for (std::int64_t of_output = 0; of_output < output->numel(); ++of_output, ++i)
      ASSERT_NEAR(values[i], expected[i], kRounding * additions * (1 + std::abs(expected[i]))) << i;
  }
}

}  // namespace rooftile::norm_backward_testing
