// What is special to access_swap: the rung that is wrong on purpose is never run by the library. The cases
// themselves run through the lab.
#include "rooftile/lessons/access_swap/access_swap.h"

#include <gtest/gtest.h>

#include <vector>

#include "rooftile/core/operator.h"

namespace rooftile {
namespace {

TEST(AccessSwapTest, NeverRunsTheRace) {
  Result<Context> context = Context::create(kSim);
  ASSERT_TRUE(context.ok()) << context.status().message();
  const std::vector<float> x(33, 2.0f);
  std::vector<float> y(33);
  const AccessSwapArgs args{.x = view(x.data(), {33}, kSim), .y = view(y.data(), {33}, kSim)};
  const OperatorDescriptor& op = access_swap_operator();
  const Status race = run_rung(op, *op.find_rung("missing_syncwarp"), *context, AnyArgs::of(args));
  EXPECT_EQ(race.code(), StatusCode::unsupported);
  EXPECT_NE(race.rule().find("wrong on purpose: a race"), std::string::npos) << race.rule();

  ASSERT_TRUE(run(access_swap_operator(), *context, ArgsRef::of(args)).ok());
  EXPECT_EQ(y[0], 3.0f);   // the upper half's x + 1
  EXPECT_EQ(y[16], 4.0f);  // the lower half's 2 * x
  EXPECT_EQ(y[32], 1.0f);  // its opposite lies behind the end
}

}  // namespace
}  // namespace rooftile
