// What is special to reduce: its contract at the edges. The cases themselves run through the lab.
#include "rooftile/ops/reduce/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace rooftile {
namespace {

class ReduceTest : public ::testing::Test {
 protected:
  static Context context() {
    Result<Context> created = Context::create(kCpu);
    EXPECT_TRUE(created.ok()) << created.status().message();
    return std::move(*created);
  }

  template <class In, class Out>
  static Status run(const std::vector<In>& in, Out& out, ReduceOp op) {
    Context ctx = context();
    const Extents shape{static_cast<std::int64_t>(in.size())};
    return reduce(ctx, {.in = contiguous_view<const void>(in.data(), dtype_of<In>, kCpu, shape),
                        .out = contiguous_view<void>(&out, dtype_of<Out>, kCpu, Extents{}),
                        .op = op});
  }
};

TEST_F(ReduceTest, SumOfNothingIsZero) {
  float out = 7.0f;
  ASSERT_TRUE(run(std::vector<float>{}, out, ReduceOp::sum).ok());
  EXPECT_EQ(out, 0.0f);
}

TEST_F(ReduceTest, MaxOfNothingIsAnErrorThatSaysSo) {
  float out = 7.0f;
  const Status status = run(std::vector<float>{}, out, ReduceOp::max);
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_EQ(status.message(),
            "reduce: max of an empty input has no value: give at least one element (in f32[0], out f32[], op=max)");
  EXPECT_EQ(out, 7.0f);
}

TEST_F(ReduceTest, IntegerSumDoesNotOverflow) {
  const std::vector<std::int32_t> in(100000, std::numeric_limits<std::int32_t>::max());
  std::int64_t out = 0;
  ASSERT_TRUE(run(in, out, ReduceOp::sum).ok());
  EXPECT_EQ(out, std::int64_t{100000} * std::numeric_limits<std::int32_t>::max());
}

TEST_F(ReduceTest, MaxReturnsNanWhereverItStands) {
  for (const std::size_t place : {std::size_t{0}, std::size_t{50}, std::size_t{99}}) {
    std::vector<float> in(100, 1.0f);
    in[place] = std::numeric_limits<float>::quiet_NaN();
    float out = 0.0f;
    ASSERT_TRUE(run(in, out, ReduceOp::max).ok());
    EXPECT_TRUE(std::isnan(out)) << "NaN at " << place;
  }
}

TEST_F(ReduceTest, MaxOfNegativesIsNotTheIdentity) {
  float out = 0.0f;
  ASSERT_TRUE(run(std::vector<float>{-3.0f, -2.0f, -5.0f}, out, ReduceOp::max).ok());
  EXPECT_EQ(out, -2.0f);
}

TEST_F(ReduceTest, RefusesWhatItDoesNotServe) {
  Context ctx = context();
  std::vector<float> x(16, 1.0f);
  float out = 0.0f;
  const TensorView scalar = contiguous_view<void>(&out, DType::f32, kCpu, Extents{});
  const ConstTensorView in = contiguous_view<const void>(x.data(), DType::f32, kCpu, Extents{16});

  ConstTensorView strided = in;
  strided.shape = Extents{8};
  strided.strides = Extents{2};
  EXPECT_EQ(reduce(ctx, {strided, scalar, ReduceOp::sum}).code(), StatusCode::unsupported);

  const TensorView two = contiguous_view<void>(x.data(), DType::f32, kCpu, Extents{2});
  EXPECT_EQ(reduce(ctx, {in, two, ReduceOp::sum}).rule(), "out must hold exactly one element");

  const TensorView inside = contiguous_view<void>(x.data() + 3, DType::f32, kCpu, Extents{});
  EXPECT_EQ(reduce(ctx, {in, inside, ReduceOp::sum}).rule(), "out must not overlap in");

  ConstTensorView half = in;
  half.dtype = DType::f16;
  EXPECT_EQ(reduce(ctx, {half, scalar, ReduceOp::sum}).code(), StatusCode::unsupported);

  ConstTensorView misaligned = in;
  misaligned.data = reinterpret_cast<const std::byte*>(x.data()) + 1;
  misaligned.shape = Extents{8};
  EXPECT_EQ(reduce(ctx, {misaligned, scalar, ReduceOp::sum}).code(), StatusCode::invalid_argument);

  ConstTensorView elsewhere = in;
  elsewhere.device = kSim;
  EXPECT_EQ(reduce(ctx, {elsewhere, scalar, ReduceOp::sum}).rule(), "in and out must be on the same device");

  TensorView scalar_elsewhere = scalar;
  scalar_elsewhere.device = kSim;
  EXPECT_EQ(reduce(ctx, {elsewhere, scalar_elsewhere, ReduceOp::sum}).rule(),
            "the tensors are on sim and the call runs on cpu: use a Context or stream of their device");
}

TEST_F(ReduceTest, SameBitsOnEveryRun) {
  std::vector<float> in(1000003);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(std::sin(static_cast<double>(i)));
  float first = 0.0f;
  ASSERT_TRUE(run(in, first, ReduceOp::sum).ok());
  for (int i = 0; i < 5; ++i) {
    float again = 0.0f;
    ASSERT_TRUE(run(in, again, ReduceOp::sum).ok());
    EXPECT_EQ(again, first);
  }
}

}  // namespace
}  // namespace rooftile
