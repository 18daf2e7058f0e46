// What is special to elementwise: mixes of dtypes, broadcasts and strides that no case draws, in place, and its contract at
// the edges, on every device that is usable here. The cases themselves run through the lab.
#include "rooftile/ops/elementwise/elementwise.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "rooftile/core/operator.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

using Op = ElementwiseOp;

class ElementwiseTest : public OnEveryDevice {
 protected:
  template <class T>
  Tensor tensor(const std::vector<T>& values, const Extents& shape) {
    return Tensor::from(context(), view(values, shape)).value();
  }
  template <class T>
  std::vector<T> result(const Tensor& a, const ElementwiseArgs& options) {
    Result<Tensor> out = elementwise(context(), a, options);
    EXPECT_TRUE(out.ok()) << out.status().message();
    return out.ok() ? out->to_vector<T>().value() : std::vector<T>();
  }
  std::string refusal(const ConstTensorView& a, const ElementwiseArgs& options) {
    const Result<Tensor> out = elementwise(context(), a, options);
    return out.ok() ? "accepted" : out.status().rule();
  }
};

TEST_P(ElementwiseTest, MixesDtypesInOneCall) {
  const Tensor a = tensor<float>({0.5f, 1.5f, -2.0f}, {3});
  const Tensor b = tensor<std::int8_t>({1, -2, 3}, {3});
  const Tensor c = tensor<Float16>({to_float16(0.25), to_float16(8), to_float16(-1)}, {3});
  EXPECT_EQ(result<float>(a, {.b = b, .c = c, .op = Op::fma}), (std::vector<float>{0.75f, 5.0f, -7.0f}));
  const std::vector<std::int16_t> truncated = {0, 5, -7};
  EXPECT_EQ(result<std::int16_t>(a, {.b = b, .c = c, .op = Op::fma, .out_dtype = DType::i16}), truncated);
}

TEST_P(ElementwiseTest, WideIntegersAndFloatsMeetInDouble) {
  const Tensor a = tensor<std::int32_t>({16777217, -16777217}, {2});  // no floats
  const Tensor b = tensor<float>({0.5f, 0.5f}, {2});
  EXPECT_EQ(result<double>(a, {.b = b, .op = Op::add, .out_dtype = DType::f64}),
            (std::vector<double>{16777217.5, -16777216.5}));
}

TEST_P(ElementwiseTest, IntegersOf64BitsKeepTheirLastBit) {
  constexpr std::int64_t kLarge = (std::int64_t{1} << 62) + 1;
  const Tensor a = tensor<std::int64_t>({kLarge, std::numeric_limits<std::int64_t>::min(), 7, 7}, {4});
  const Tensor b = tensor<std::int64_t>({1, -1, 0, -1}, {4});
  EXPECT_EQ(result<std::int64_t>(a, {.b = b, .op = Op::add}),
            (std::vector<std::int64_t>{kLarge + 1, std::numeric_limits<std::int64_t>::max(), 7, 6}));
  EXPECT_EQ(result<std::int64_t>(a, {.b = b, .op = Op::div}),
            (std::vector<std::int64_t>{kLarge, std::numeric_limits<std::int64_t>::min(), 0, -7}));
}

// 2^54 + 2^46 + 1 lies just above the middle of two bf16s; through f64, which drops the 1, it would be at it.
TEST_P(ElementwiseTest, AnIntegerIsRoundedOnce) {
  const Tensor a = tensor<std::int64_t>({(std::int64_t{1} << 54) + (std::int64_t{1} << 46) + 1}, {1});
  const auto rounded = result<BFloat16>(a, {.op = Op::cast, .out_dtype = DType::bf16});
  ASSERT_EQ(rounded.size(), 1u);
  EXPECT_EQ(to_float(rounded[0]), std::ldexp(1.0f, 54) + std::ldexp(1.0f, 47));
}

TEST_P(ElementwiseTest, OutMayBeAnyOfTheInputs) {
  for (const int which : {0, 1, 2}) {
    std::array<Tensor, 3> in = {tensor<float>({1, 2, 3, 4, 5}, {5}), tensor<float>({10, 20, 30, 40, 50}, {5}),
                                tensor<float>({100, 200, 300, 400, 500}, {5})};
    const Status status = elementwise(
        context(),
        {.a = in[0], .b = in[1], .c = in[2], .out = in[static_cast<std::size_t>(which)], .op = Op::fma});
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(in[static_cast<std::size_t>(which)].to_vector<float>().value(),
              (std::vector<float>{110, 240, 390, 560, 750}));
  }
}

TEST_P(ElementwiseTest, OneTensorMayBeBothArgumentsAndTheResult) {
  Tensor x = tensor<float>({1, -2, 3}, {3});
  const Status status = elementwise(context(), {.a = x, .b = x, .out = x, .op = Op::mul});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(x.to_vector<float>().value(), (std::vector<float>{1, 4, 9}));
}

TEST_P(ElementwiseTest, AStridedResultLeavesWhatLiesBetween) {
  const Tensor a = tensor<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  Tensor out = tensor<float>(std::vector<float>(24, -1.0f), {2, 12});
  const TensorView every_third = out.view().slice(1, 1, 10, 3).flip(1);
  const Status status = elementwise(context(), {.a = a, .out = every_third, .op = Op::neg});
  ASSERT_TRUE(status.ok()) << status.message();
  std::vector<float> expected(24, -1.0f);
  for (const std::size_t row : {0u, 1u}) {
    for (const std::size_t i : {0u, 1u, 2u})
      expected[row * 12 + 7 - 3 * i] = -static_cast<float>(row * 3 + i + 1);
  }
  EXPECT_EQ(out.to_vector<float>().value(), expected);
}

TEST_P(ElementwiseTest, BroadcastsAnElementARowAndAColumnOfRepeatedMemory) {
  const Tensor a = tensor<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor one = tensor<float>({10}, {});
  const Tensor column = tensor<float>({100, 200}, {2, 1});
  EXPECT_EQ(result<float>(a, {.b = one, .c = column, .op = {Op::add, Op::add}}),
            (std::vector<float>{111, 112, 113, 214, 215, 216}));
  const ConstTensorView repeated = ConstTensorView(one.view()).expand({2, 3});
  EXPECT_EQ(result<float>(a, {.b = repeated, .op = Op::sub}), (std::vector<float>{-9, -8, -7, -6, -5, -4}));
  const Tensor row = tensor<float>({1, 2, 3}, {3});
  EXPECT_EQ(result<float>(row, {.b = column, .op = Op::add}),
            (std::vector<float>{101, 102, 103, 201, 202, 203}));
}

TEST_P(ElementwiseTest, NaNStaysAndZerosOfEitherSignAreEqual) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor a = tensor<float>({nan, 1, -infinity}, {3});
  const Tensor b = tensor<float>({1, nan, 2}, {3});
  for (const Op op : {Op::min, Op::max, Op::relu, Op::clamp, Op::gelu_erf, Op::gelu_tanh, Op::silu}) {
    const bool two = elementwise_arguments(op) == 2;
    const auto values =
        result<float>(a, {.b = two ? ConstTensorView(b.view()) : ConstTensorView(), .op = op});
    ASSERT_EQ(values.size(), 3u);
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_EQ(std::isnan(values[1]), two);
    EXPECT_FALSE(std::isnan(values[2])) << enum_name(op) << " of -infinity";
  }
}

TEST_P(ElementwiseTest, BadCallsAreToldWhatToMend) {
  const Tensor f = tensor<float>({1, 2, 3}, {3});
  const Tensor two = tensor<float>({1, 2}, {2});
  const Tensor u64 = tensor<std::uint64_t>({1, 2, 3}, {3});
  const Tensor i32 = tensor<std::int32_t>({1, 2, 3}, {3});
  EXPECT_EQ(refusal(f, {.op = Op::add}), "the chain asks for a and b: give them all");
  EXPECT_EQ(refusal(f, {.b = f, .op = Op::neg}), "the chain asks for a: leave the others out");
  EXPECT_EQ(refusal(f, {.c = f, .op = Op::add}), "c is given and b is not: give b first");
  EXPECT_EQ(refusal(f, {.b = f, .c = f, .op = {Op::fma, Op::add}}),
            "the chain asks for 4 tensors and there are three: divide it into two calls");
  EXPECT_EQ(
      refusal(f, {.b = two, .op = Op::add}),
      "a, b and c are not broadcast to one shape: an extent of 1 meets any other, others must be equal");
  EXPECT_EQ(refusal(u64, {.b = i32, .op = Op::add}),
            "u64 does not mix with signed integers, which it has no room for: cast one of them first");
  EXPECT_EQ(refusal(f, {.op = Op::clamp, .low = 2, .high = 1}),
            "low is above high, or one of them is NaN: clamp needs low <= high");
  EXPECT_EQ(refusal(i32, {.op = Op::clamp, .low = 0.5, .high = 1}),
            "alpha, low and high must be whole numbers for integers, up to 2^53, and not negative with u64");
  EXPECT_EQ(
      refusal(f, {.op = {Op::neg, Op::neg, Op::neg, Op::neg, Op::neg, Op::neg, Op::neg, Op::neg, Op::neg}}),
      "op is neg,neg,neg,neg,neg,neg,neg,neg,...: use " + legal_values(elementwise_operator().params[0]));
  Tensor out = tensor<float>({0, 0, 0, 0}, {4});
  const Status overlap = elementwise(
      context(), {.a = out.view().slice(0, 0, 3), .out = out.view().slice(0, 1, 4), .op = Op::neg});
  EXPECT_EQ(overlap.rule(), "out must be a itself, with its shape and strides, or not overlap it");
}

INSTANTIATE_TEST_SUITE_P(Devices, ElementwiseTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
