// What is special to gemm: layouts, what is not read, and bad calls, on every device that is usable here. The cases themselves run
// through the lab.
#include "rooftile/ops/gemm/gemm.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/ops/gemm/gemm_testing.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

class GemmTest : public WithMatrices<OnEveryDevice> {
 protected:
  // By every rung that serves the call: `expected` each time, in the memory of `out`.
  void expect_of_all(const GemmArgs& args, Tensor& out, const std::vector<double>& expected,
                     const std::string& what) {
    int rungs = 0;
    for (const RungRow& rung : gemm_operator().rungs) {
      if (!unsupported_reason(rung, ArgsRef::of(args), context().properties()).empty()) continue;
      ++rungs;
      const Status status = run_rung(gemm_operator(), rung, context(), AnyArgs::of(args));
      ASSERT_TRUE(status.ok()) << rung.id << ": " << status.message();
      EXPECT_EQ(values(out), expected) << rung.id << " " << what;
    }
    EXPECT_GE(rungs, GetParam().kind == DeviceKind::cpu ? 3 : 1) << what;
  }

  std::string refusal(const GemmArgs& args) {
    const Status status = gemm(context(), args);
    return status.ok() ? "accepted" : std::string(status.rule());
  }
};

TEST_P(GemmTest, OneCallMakesAMatrix) {
  const Tensor a = numbers(DType::f32, {3, 5});
  const Tensor b = numbers(DType::f32, {5, 4});
  const Result<Tensor> out = gemm(context(), a, b);
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_EQ(out->shape(), (Extents{3, 4}));
  EXPECT_EQ(values(*out), product(3, 4, 5));
}

TEST_P(GemmTest, AColumnMajorResultIsTheTransposedProduct) {
  constexpr std::int64_t kM = 70;
  constexpr std::int64_t kN = 36;
  constexpr std::int64_t kK = 20;
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor a = numbers(dtype, {kM, kK});
    const Tensor b = numbers(dtype, {kK, kN});
    Tensor out = filled(dtype, {kN, kM}, kNan);
    const std::vector<double> rows = product(kM, kN, kK);
    std::vector<double> columns(rows.size());
    for (std::int64_t i = 0; i < kM; ++i)
      for (std::int64_t j = 0; j < kN; ++j)
        columns[static_cast<std::size_t>(j * kM + i)] = rows[static_cast<std::size_t>(i * kN + j)];
    expect_of_all({.a = a, .b = b, .out = out.view().permute({1, 0})}, out, columns, "column-major");
  }
}

TEST_P(GemmTest, OneMatrixServesAWholeBatch) {
  const Tensor a = numbers(DType::f32, {7, 6});
  const Tensor b = tensor(DType::f32, {3, 6, 5}, [](std::int64_t i) { return number_at(i % 30); });
  Tensor out = filled(DType::f32, {3, 7, 5}, kNan);
  std::vector<double> expected;
  for (int batch = 0; batch < 3; ++batch)
    for (const double x : product(7, 5, 6)) expected.push_back(x);
  expect_of_all({.a = a, .b = b, .out = out}, out, expected, "a without a batch");
}

TEST_P(GemmTest, StridesThatNoMatrixInBlasHas) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    const Tensor a = numbers(dtype, {3, 10});
    const Tensor b = numbers(dtype, {5, 4});
    Tensor out = filled(dtype, {3, 4}, kNan);
    // Every second column, from the last one on.
    const ConstTensorView backwards = a.view().slice(1, 0, 10, 2).flip(1);
    std::vector<double> expected(12);
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t j = 0; j < 4; ++j) {
        for (std::int64_t l = 0; l < 5; ++l)
          expected[static_cast<std::size_t>(i * 4 + j)] +=
              number_at(i * 10 + 8 - 2 * l) * number_at(l * 4 + j);
      }
    }
    expect_of_all({.a = backwards, .b = b, .out = out}, out, expected,
                  "backwards " + std::string(to_string(dtype)));
  }
}

// a, and what is added to it, have one row in memory.
TEST_P(GemmTest, OneRowForAll) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    for (const std::int64_t k : {5, 16}) {
      const Tensor a = numbers(dtype, {1, k});
      const Tensor b = numbers(dtype, {k, 8});
      const Tensor c = numbers(dtype, {1, 8});
      Tensor out = filled(dtype, {70, 8}, kNan);
      ConstTensorView row_of_a = a.view();
      row_of_a.shape = {70, k};
      row_of_a.strides = {0, 1};
      ConstTensorView row_of_c = c.view();
      row_of_c.shape = {70, 8};
      row_of_c.strides = {0, 1};
      std::vector<double> row = product(1, 8, k);
      for (std::size_t j = 0; j < row.size(); ++j) row[j] += number_at(static_cast<std::int64_t>(j));
      std::vector<double> expected;
      for (int i = 0; i < 70; ++i) expected.insert(expected.end(), row.begin(), row.end());
      expect_of_all({.a = row_of_a, .b = b, .c = row_of_c, .out = out, .beta = 1}, out, expected,
                    std::string(to_string(dtype)) + " k " + std::to_string(k));
    }
  }
}

// More products than a grid has blocks along y or z: without a step, and of the rungs that serve any strides.
TEST_P(GemmTest, MoreProductsThanAGridIsHigh) {
  constexpr std::int64_t kBatches = 65537;
  const DType dtype = DType::bf16;
  const auto halves = [&](std::int64_t count, double value) {
    return filled(dtype, {kBatches, count, 1}, value);
  };
  const Tensor empty = filled(dtype, {kBatches, 2, 0}, 0);
  const Tensor b_empty = filled(dtype, {kBatches, 0, 1}, 0);
  const Tensor c = halves(2, 3);
  Tensor out = halves(2, kNan);
  const GemmArgs none = {.a = empty, .b = b_empty, .c = c, .out = out, .beta = 2};
  ASSERT_TRUE(gemm(context(), none).ok());
  const std::vector<double> sixes(static_cast<std::size_t>(kBatches) * 2, 6.0);
  EXPECT_EQ(values(out), sixes);

  const Tensor a =
      tensor(dtype, {kBatches, 2, 3}, [](std::int64_t i) { return i / 6 == kBatches - 1 ? 2.0 : 1.0; });
  const Tensor b = filled(dtype, {kBatches, 3, 1}, 1);
  std::vector<double> expected(sixes.size(), 3.0);
  expected[expected.size() - 2] = expected.back() = 6.0;
  Tensor other = halves(2, kNan);
  const GemmArgs args = {.a = a, .b = b, .out = other};
  const RungRow& rung = *gemm_operator().find_rung("wmma_naive");
  if (GetParam().kind == DeviceKind::cpu || !unavailable_reason(rung, context().properties()).empty()) return;
  const Status status = run_rung(gemm_operator(), rung, context(), AnyArgs::of(args));
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(values(other), expected);
}

// Zeros say nothing about what is not finite.
TEST_P(GemmTest, WhatAFactorOfZeroSaysNothingAboutIsNotRead) {
  constexpr std::pair<DType, DType> kTypes[] = {{DType::f32, DType::f32},
                                                {DType::f64, DType::f64},
                                                {DType::bf16, DType::bf16},
                                                {DType::bf16, DType::f32},
                                                {DType::f16, DType::f16}};
  for (const auto& [dtype, out_dtype] : kTypes) {
    // Rows that hold no vectors, and rows that do.
    for (const auto& [n, k] : {std::pair{12, 9}, std::pair{16, 8}}) {
      const Tensor a = numbers(dtype, {70, k});
      const Tensor b = numbers(dtype, {k, n});
      const Tensor nan_a = filled(dtype, {70, k}, kNan);
      const Tensor c = numbers(out_dtype, {70, n});
      Tensor out = filled(out_dtype, {70, n}, kNan);
      const std::string what = std::string(to_string(dtype)) + " to " + std::string(to_string(out_dtype));
      expect_of_all({.a = a, .b = b, .c = out, .out = out, .beta = 0, .out_dtype = out_dtype}, out,
                    product(70, n, k), "beta = 0, " + what);
      std::vector<double> twice = values(c);
      for (double& x : twice) x *= 2;
      expect_of_all({.a = nan_a, .b = b, .c = c, .out = out, .alpha = 0, .beta = 2, .out_dtype = out_dtype},
                    out, twice, "alpha = 0, " + what);
    }
  }
}

// Strides that TMA cannot take: of a row that is alone, of a batch that goes backwards.
TEST_P(GemmTest, HalvesOfStridesThatDoNotCount) {
  const Tensor memory = numbers(DType::bf16, {1, 17});
  const ConstTensorView row = memory.view().slice(1, 0, 16, 1);
  const Tensor b = numbers(DType::bf16, {16, 24});
  Tensor out = filled(DType::f32, {1, 24}, kNan);
  expect_of_all({.a = row, .b = b, .out = out}, out, product(1, 24, 16), "one row");
  const Tensor line = numbers(DType::bf16, {1, 17});
  Tensor outer = filled(DType::f32, {8, 16}, kNan);
  const Tensor column = numbers(DType::bf16, {8, 1});
  expect_of_all({.a = column, .b = line.view().slice(1, 0, 16, 1), .out = outer}, outer, product(8, 16, 1),
                "one line");
  const Tensor batch = tensor(DType::bf16, {2, 8, 16},
                              [](std::int64_t i) { return number_at(i % 128) + (i < 128 ? 1.0 : 0.0); });
  Tensor backwards = filled(DType::f32, {2, 8, 24}, kNan);
  std::vector<double> expected = product(8, 24, 16);
  for (std::int64_t i = 0; i < std::int64_t{8} * 24; ++i) {
    double more = expected[static_cast<std::size_t>(i)];
    for (std::int64_t l = 0; l < 16; ++l) more += number_at(l * 24 + i % 24);
    expected.push_back(more);
  }
  expect_of_all({.a = batch.view().flip(0), .b = b, .out = backwards}, backwards, expected, "backwards");
}

TEST_P(GemmTest, ResultsOfHalvesAreHalvesOrFloats) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Tensor a = numbers(dtype, {9, 16});
    const Tensor b = numbers(dtype, {16, 24});
    Tensor wide = filled(DType::f32, {9, 24}, kNan);
    expect_of_all({.a = a, .b = b, .out = wide}, wide, product(9, 24, 16), "f32");
    const Result<Tensor> made = gemm(context(), a, b, {.out_dtype = DType::f32});
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_EQ(made->dtype(), DType::f32);
    const Result<Tensor> half = gemm(context(), a, b);
    ASSERT_TRUE(half.ok()) << half.status().message();
    EXPECT_EQ(half->dtype(), dtype);
  }
  const Tensor a = numbers(DType::bf16, {4, 6});
  const Tensor b = numbers(DType::bf16, {6, 8});
  Tensor out = filled(DType::bf16, {4, 8}, 0);
  Tensor f16 = filled(DType::f16, {4, 8}, 0);
  Tensor f32 = filled(DType::f32, {4, 8}, 0);
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal({.a = a, .b = b, .out = f16}), "out is f16 and must be");
  has(refusal({.a = a, .b = b, .c = f32, .out = out}), "c is f32 and must be of out's dtype, bf16");
  const Tensor bias = numbers(DType::f32, {8});
  has(refusal({.a = a, .b = b, .bias = bias, .out = out}), "bias is f32 and must be of out's dtype, bf16");
  has(refusal({.a = a, .b = b, .out = out, .out_dtype = DType::f32}), "out_dtype is f32 and out is another");
}

TEST_P(GemmTest, BadCallsNameTheArgument) {
  const Tensor a = numbers(DType::f32, {4, 6});
  const Tensor b = numbers(DType::f32, {6, 8});
  Tensor out = filled(DType::f32, {4, 8}, 0);
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal({.a = b, .b = b, .out = out}), "op(a) has 8 columns and op(b) 6 rows");
  ConstTensorView narrow = b;
  narrow.strides = {7, 1};
  has(refusal({.a = a, .b = narrow, .out = out}), "b has a leading dimension of 7");
  TensorView overlapping = out;
  overlapping.strides = {7, 1};
  has(refusal({.a = a, .b = b, .out = overlapping}), "out");
  const Tensor square = numbers(DType::f32, {6, 6});
  Tensor target = filled(DType::f32, {6, 6}, 0);
  has(refusal({.a = target, .b = square, .out = target}), "out must not overlap a");
  has(refusal({.a = square, .b = target, .out = target}), "out must not overlap b");
  const Tensor short_bias = numbers(DType::f32, {7});
  has(refusal({.a = a, .b = b, .bias = short_bias, .out = out}), "bias is [7] and must be [8]");
  const Tensor short_c = numbers(DType::f32, {4, 7});
  has(refusal({.a = a, .b = b, .c = short_c, .out = out}), "c is [4,7]");
  ConstTensorView negative = a;
  negative.shape = {-4, 6};
  EXPECT_NE(refusal({.a = negative, .b = b, .out = out}), "accepted");
}

INSTANTIATE_TEST_SUITE_P(Devices, GemmTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
