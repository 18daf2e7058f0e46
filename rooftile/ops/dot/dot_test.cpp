// What is special to dot: vectors that lie anyhow to each other, gaps, sums in 16 bits, and its contract at the edges, on
// every device that is usable here. The cases themselves run through the lab.
#include "rooftile/ops/dot/dot.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/core/element.h"
#include "rooftile/core/host_tensor.h"
#include "rooftile/core/operator.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

class DotTest : public OnEveryDevice {
 protected:
  static constexpr double kNone = -1e30;  // no result is

  Tensor tensor(DType dtype, const std::vector<double>& values) {
    HostTensor host = HostTensor::create(dtype, {static_cast<std::int64_t>(values.size())}).value();
    for (std::size_t i = 0; i < values.size(); ++i) host.set(static_cast<std::int64_t>(i), values[i]);
    return Tensor::from(context(), host.view()).value();
  }
  static double number(const Tensor& out) {
    switch (out.dtype()) {
      case DType::f64:
        return out.to_vector<double>().value()[0];
      case DType::f32:
        return out.to_vector<float>().value()[0];
      case DType::f16:
        return to_float(out.to_vector<Float16>().value()[0]);
      default:
        return to_float(out.to_vector<BFloat16>().value()[0]);
    }
  }
  double result(const ConstTensorView& a, const ConstTensorView& b, const DotArgs& options = {}) {
    Result<Tensor> out = dot(context(), a, b, options);
    EXPECT_TRUE(out.ok()) << out.status().message();
    return out.ok() ? number(*out) : kNone;
  }
  // By every rung that serves the call, each of which must agree.
  double result_of_all(const ConstTensorView& a, const ConstTensorView& b, const DotArgs& options = {}) {
    Tensor out = Tensor::empty(context(), {}, options.out_dtype.value_or(a.dtype)).value();
    DotArgs args = options;
    args.a = a;
    args.b = b;
    args.out = out;
    std::optional<double> first;
    for (const RungRow& rung : dot_operator().rungs) {
      if (!unsupported_reason(rung, ArgsRef::of(args), context().properties()).empty()) continue;
      EXPECT_TRUE(run_rung(dot_operator(), rung, context(), AnyArgs::of(args)).ok()) << rung.id;
      const double value = number(out);
      if (!first) first = value;
      EXPECT_EQ(value, *first) << rung.id;
    }
    return first.value_or(kNone);
  }
  std::string refusal(const ConstTensorView& a, const ConstTensorView& b, const DotArgs& options = {}) {
    const Result<Tensor> out = dot(context(), a, b, options);
    return out.ok() ? "accepted" : out.status().rule();
  }
};

constexpr DType kDTypes[] = {DType::f32, DType::f16, DType::bf16, DType::f64};

// Small integers without a period.
std::vector<double> integers(std::int64_t n) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<double>(1 + i * i / 5 % 3));
  return values;
}
// A one in every `step`-th element: sums of products with integers() are exact in 16 bits, too.
std::vector<double> some_ones(std::int64_t n, std::int64_t step) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(i % step == 0 ? 1.0 : 0.0);
  return values;
}

TEST_P(DotTest, VectorsMayLieAnyhowToEachOther) {
  constexpr std::int64_t kRoom = 12000;
  for (const DType dtype : kDTypes) {
    const std::vector<double> ones = some_ones(kRoom, 211);
    const std::vector<double> numbers = integers(kRoom);
    const Tensor a = tensor(dtype, ones);
    const Tensor b = tensor(dtype, numbers);
    for (const std::int64_t n : {1, 9, 100, 1234, 9001}) {
      for (std::int64_t a_from = 0; a_from < 9; a_from += 4) {
        for (std::int64_t b_from = 0; b_from < 9; ++b_from) {
          double expected = 0;
          for (std::int64_t i = 0; i < n; ++i)
            expected +=
                ones[static_cast<std::size_t>(a_from + i)] * numbers[static_cast<std::size_t>(b_from + i)];
          EXPECT_EQ(result_of_all(a.view().slice(0, a_from, a_from + n),
                                  b.view().slice(0, b_from, b_from + n), {.compute_dtype = dtype}),
                    expected)
              << to_string(dtype) << " n=" << n << " from " << a_from << " and " << b_from;
        }
      }
    }
  }
}

// A one in each place of the second vector finds the element that is left out, or taken twice.
TEST_P(DotTest, EveryElementIsTakenOnce) {
  constexpr std::int64_t kN = 4500;
  for (const DType dtype : {DType::f16, DType::bf16}) {
    std::vector<double> values(kN, 1.0);
    const Tensor a = tensor(dtype, values);
    for (const std::int64_t at : {std::int64_t{0}, std::int64_t{1}, std::int64_t{255}, std::int64_t{256},
                                  kN / 2 - 1, kN / 2, kN - 2, kN - 1}) {
      std::vector<double> one(kN, 0.0);
      one[static_cast<std::size_t>(at)] = 3.0;
      const Tensor b = tensor(dtype, one);
      EXPECT_EQ(result_of_all(a, b, {.compute_dtype = dtype}), 3.0) << to_string(dtype) << " at " << at;
    }
  }
}

TEST_P(DotTest, GapsBackwardsAndOneElementAgainAndAgain) {
  const std::vector<double> values = integers(3000);
  for (const DType dtype : kDTypes) {
    const Tensor x = tensor(dtype, values);
    const ConstTensorView column = x.view().slice(0, 1, 3000, 3);
    const ConstTensorView backwards = x.view().slice(0, 2000, 3000).flip(0);
    const ConstTensorView again = x.view().slice(0, 2, 3).expand({1000});
    double of_column = 0;
    double of_again = 0;
    for (std::size_t i = 0; i < 1000; ++i) {
      of_column += values[3 * i + 1] * values[2999 - i];
      of_again += values[2] * values[i];
    }
    const DotArgs wide = {.out_dtype = DType::f32};
    EXPECT_EQ(result_of_all(column, backwards, wide), of_column) << to_string(dtype);
    EXPECT_EQ(result_of_all(again, x.view().slice(0, 0, 1000), wide), of_again) << to_string(dtype);
  }
}

TEST_P(DotTest, AVectorWithItself) {
  const Tensor x = tensor(DType::f32, {3, 4, 12});
  EXPECT_EQ(result_of_all(x, x), 169.0);
}

TEST_P(DotTest, F32InF64LosesNothing) {
  const Tensor a = tensor(DType::f32, {16777216, 1, -16777216, 1});
  const Tensor b = tensor(DType::f32, {16777216, 1, 16777216, 1});
  EXPECT_EQ(result_of_all(a, b, {.compute_dtype = DType::f64, .out_dtype = DType::f64}), 2.0);
  EXPECT_EQ(result(a, b, {.compute_dtype = DType::f64}), 2.0);
}

// What 16 bits cost: ones that are added to 2048 are lost, and a sum in 32 bits is not.
TEST_P(DotTest, AHalfStopsGrowing) {
  if (GetParam().kind == DeviceKind::cpu) GTEST_SKIP() << "no CPU rung accumulates in 16 bits";
  const Tensor ones = tensor(DType::f16, std::vector<double>(6000, 1.0));
  Tensor out = Tensor::empty(context(), {}, DType::f32).value();
  const DotArgs args = {.a = ones, .b = ones, .out = out, .compute_dtype = DType::f16};
  const RungRow* narrow = dot_operator().find_rung("half_atomics");
  ASSERT_NE(narrow, nullptr);
  ASSERT_TRUE(run_rung(dot_operator(), *narrow, context(), AnyArgs::of(args)).ok());
  EXPECT_LE(number(out), 4096.0);
  EXPECT_EQ(result(ones, ones, {.compute_dtype = DType::f16, .out_dtype = DType::f32}), 6000.0);
}

TEST_P(DotTest, BadCallsAreToldWhatToMend) {
  const Tensor a = tensor(DType::f32, {1, 2, 3});
  const Tensor b = tensor(DType::f32, {1, 2});
  const Tensor half = tensor(DType::f16, {1, 2, 3});
  EXPECT_EQ(refusal(a, b), "b must have the shape of a");
  EXPECT_EQ(refusal(a, half), "b must have the dtype of a, f32");
  EXPECT_EQ(refusal(a, a, {.compute_dtype = DType::f16}), "compute_dtype must be f64 f32 for f32 inputs");
  EXPECT_EQ(refusal(half, half, {.compute_dtype = DType::f64}),
            "compute_dtype must be f32 f16 for f16 inputs");
  EXPECT_EQ(refusal(a, a, {.out_dtype = DType::i32}), "out_dtype must be f64 f32 f16 bf16");
  EXPECT_EQ(refusal(a.view().reshape({3, 1}), a.view().reshape({3, 1})), "a must have 1 dimension");
  Tensor out = Tensor::empty(context(), {}, DType::f64).value();
  const Status status = dot(context(), {.a = a, .b = a, .out = out, .out_dtype = DType::f32});
  EXPECT_EQ(status.rule(), "out_dtype is f32 and out is another: leave out_dtype to a call without out");
}

TEST_P(DotTest, RecordedReplayedAndOnTwoStreamsAtOnce) {
  if (GetParam().kind != DeviceKind::cuda)
    GTEST_SKIP() << "streams of cpu and sim run at once and cannot be recorded";
  const std::vector<double> values = some_ones((1 << 20) + 3, 7);
  const Tensor x = tensor(DType::f32, values);
  double expected = 0;
  for (const double value : values) expected += value * value;
  Tensor out = Tensor::zeros(context(), {}, DType::f32).value();
  Graph graph =
      Graph::record(context(), [&] { return dot(context(), {.a = x, .b = x, .out = out}); }).value();
  for (int replay = 0; replay < 3; ++replay) {
    ASSERT_TRUE(graph.launch(context().stream()).ok());
    EXPECT_EQ(number(out), expected);
  }
  Context other = Context::create(GetParam()).value();
  Tensor second = Tensor::zeros(other, {}, DType::f32).value();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(dot(context(), {.a = x, .b = x, .out = out}).ok());
    ASSERT_TRUE(dot(other, {.a = x, .b = x, .out = second}).ok());
  }
  EXPECT_EQ(number(out), expected);
  EXPECT_EQ(number(second), expected);
}

INSTANTIATE_TEST_SUITE_P(Devices, DotTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
