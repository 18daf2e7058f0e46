#include "rooftile/cases/compare.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>

namespace rooftile {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

HostTensor tensor(DType dtype, std::initializer_list<double> values) {
  Result<HostTensor> made = HostTensor::create(dtype, Extents{static_cast<std::int64_t>(values.size())});
  EXPECT_TRUE(made.ok());
  HostTensor result = std::move(*made);
  std::int64_t i = 0;
  for (const double value : values) result.set(i++, value);
  return result;
}

Expected expect(std::initializer_list<double> exact, double floor = 0.0) {
  Expected expected;
  expected.exact = tensor(DType::f64, exact);
  expected.floor = floor;
  return expected;
}

bool passes(const HostTensor& out, const Expected& expected) {
  return compare(out, expected).mismatch.empty();
}

TEST(Compare, NanAndInfinitiesByPlace) {
  const HostTensor out = tensor(DType::f32, {1.0, kNan, kInf, -kInf});
  EXPECT_TRUE(passes(out, expect({1.0, kNan, kInf, -kInf})));
  EXPECT_FALSE(passes(out, expect({1.0, 2.0, kInf, -kInf}, 1e30)));
  EXPECT_FALSE(passes(out, expect({kNan, kNan, kInf, -kInf}, 1e30)));
  EXPECT_FALSE(passes(out, expect({1.0, kNan, -kInf, -kInf}, 1e30)));
  EXPECT_FALSE(passes(out, expect({1.0, kNan, kInf, 5.0}, 1e30)));
}

TEST(Compare, AToleranceThatIsNoNumberFails) {
  EXPECT_FALSE(passes(tensor(DType::f32, {1.0}), expect({1.0}, kNan)));
  EXPECT_FALSE(passes(tensor(DType::f32, {1.0}), expect({1.0}, kInf)));
}

TEST(Compare, TheBaselineWidensTheTolerance) {
  Expected expected = expect({1.0});
  expected.factor = 2.0;
  EXPECT_FALSE(passes(tensor(DType::f32, {1.25}), expected));
  expected.same_precision = tensor(DType::f64, {1.125});
  EXPECT_TRUE(passes(tensor(DType::f32, {1.25}), expected));
  EXPECT_FALSE(passes(tensor(DType::f32, {1.2501}), expected));
  expected.same_precision = tensor(DType::f64, {kInf});
  EXPECT_FALSE(passes(tensor(DType::f32, {1.25}), expected));
}

TEST(Compare, OverflowOfTheOutputTypeIsAnInfinity) {
  EXPECT_TRUE(passes(tensor(DType::f16, {kInf}), expect({1e6})));
  EXPECT_FALSE(passes(tensor(DType::f16, {65504.0}), expect({1e6})));
}

TEST(Compare, IntegersBeyondDoublesAreExact) {
  Result<HostTensor> out = HostTensor::create(DType::i64, Extents{1});
  Expected expected;
  Result<HostTensor> exact = HostTensor::create(DType::i64, Extents{1});
  ASSERT_TRUE(out.ok() && exact.ok());
  out->as<std::int64_t>()[0] = (std::int64_t{1} << 60) + 1;
  exact->as<std::int64_t>()[0] = std::int64_t{1} << 60;
  expected.exact = std::move(*exact);
  EXPECT_FALSE(passes(*out, expected));
  expected.exact.as<std::int64_t>()[0] += 1;
  EXPECT_TRUE(passes(*out, expected));
}

TEST(Compare, AReferenceOfAnotherShapeOrTypeFails) {
  EXPECT_FALSE(passes(tensor(DType::f32, {1.0, 2.0}), expect({1.0})));
  Expected integers;
  integers.exact = tensor(DType::i32, {1.0});
  EXPECT_FALSE(passes(tensor(DType::f32, {1.0}), integers));
  EXPECT_FALSE(passes(tensor(DType::i64, {1.0}), integers));
}

TEST(Compare, TheFirstMismatchAndTheCountAreNamed) {
  const Comparison result = compare(tensor(DType::f32, {1.0, 2.5, 3.5}), expect({1.0, 2.0, 3.0}, 0.25));
  EXPECT_EQ(result.mismatch.find("element 1: got 2.5, expected 2"), 0u) << result.mismatch;
  EXPECT_NE(result.mismatch.find("2 of 3"), std::string::npos);
  EXPECT_DOUBLE_EQ(result.max_error, 0.5);
}

}  // namespace
}  // namespace rooftile
