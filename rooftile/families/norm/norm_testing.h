// What the tests of layer_norm and rms_norm share.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "rooftile/core/context.h"
#include "rooftile/core/memory.h"
#include "rooftile/core/stream.h"
#include "rooftile/core/tensor.h"

namespace rooftile::norm_testing {

// m x n f32 without a period that rows could have in common, normalised by call(context, x, y) in a graph that is replayed, and on two
// streams at once, each time onto poisoned results: the same bits as alone. Of a GPU.
template <class Call>
void expect_the_same_in_graphs_and_streams(Context& context, std::int64_t m, std::int64_t n, Call call) {
  const auto count = static_cast<std::size_t>(m * n);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * i / 3 % 97) / 16.0f - 3.0f;
  const auto tensor_of = [&](const std::vector<float>& from) {
    return Tensor::from(context, view(from.data(), {m, n})).value();
  };
  const std::vector<float> poison(count, std::numeric_limits<float>::quiet_NaN());
  const Tensor x = tensor_of(values);
  Tensor y = tensor_of(poison);
  Tensor y_there = tensor_of(poison);
  ASSERT_TRUE(call(context, x, y).ok());
  const std::vector<float> expected = y.to_vector<float>().value();

  Result<Graph> graph = Graph::record(context, [&] { return call(context, x, y); });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Result<GraphExec> exec = GraphExec::instantiate(*graph);
  ASSERT_TRUE(exec.ok()) << exec.status().message();
  for (int replay = 0; replay < 3; ++replay) {
    ASSERT_TRUE(fill_bytes(context.stream(), y.data(), 0xFF, count * sizeof(float)).ok());
    ASSERT_TRUE(exec->launch(context.stream()).ok());
    EXPECT_EQ(y.to_vector<float>().value(), expected) << m << " x " << n << ", replay " << replay;
  }

  Result<Context> other = Context::create(context.device());
  ASSERT_TRUE(other.ok()) << other.status().message();
  ASSERT_TRUE(fill_bytes(context.stream(), y.data(), 0xFF, count * sizeof(float)).ok());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(call(context, x, y).ok());
    ASSERT_TRUE(call(*other, x, y_there).ok());
  }
  ASSERT_TRUE(other->synchronize().ok());
  EXPECT_EQ(y.to_vector<float>().value(), expected) << m << " x " << n;
  EXPECT_EQ(y_there.to_vector<float>().value(), expected) << m << " x " << n << ", the other stream";
}

}  // namespace rooftile::norm_testing
