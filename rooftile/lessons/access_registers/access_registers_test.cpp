// What is special to access_registers: 64 rows, and what its maximum passes over. The cases themselves run
// through the lab.
#include "rooftile/lessons/access_registers/access_registers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "rooftile/core/operator.h"

namespace rooftile {
namespace {

TEST(AccessRegistersTest, PassesOverNaN) {
  for (const Device device : {kCpu, kSim}) {
    Result<Context> context = Context::create(device);
    ASSERT_TRUE(context.ok()) << context.status().message();
    std::vector<float> x(64, 1.0f);
    x[0] = std::numeric_limits<float>::quiet_NaN();
    x[63] = 3.0f;
    std::vector<float> y(64);
    const Status status = run(access_registers_operator(), *context,
                              ArgsRef::of(AccessRegistersArgs{.x = view(x.data(), {64, 1}, device),
                                                              .y = view(y.data(), {64, 1}, device)}));
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_EQ(y[1], -2.0f);
    EXPECT_EQ(y[63], 0.0f);
  }
}

TEST(AccessRegistersTest, RefusesOtherRows) {
  Result<Context> context = Context::create(kCpu);
  ASSERT_TRUE(context.ok()) << context.status().message();
  std::vector<float> memory(256);
  const auto run = [&](const Extents& shape) {
    return rooftile::run(access_registers_operator(), *context,
                         ArgsRef::of(AccessRegistersArgs{.x = view(memory.data(), shape),
                                                         .y = view(memory.data() + 128, shape)}))
        .rule();
  };
  EXPECT_EQ(run({64, 2}), "");
  EXPECT_EQ(run({64, 0}), "");
  EXPECT_EQ(run({63, 2}), "x must have 64 rows and n columns");
  EXPECT_EQ(run({64}), "x must have 2 dimensions");
}

}  // namespace
}  // namespace rooftile
