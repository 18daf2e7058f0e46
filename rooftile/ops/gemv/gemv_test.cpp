// What is special to gemv: layouts of the matrix, what is not read, and its contract at the edges, on every device that is usable
// here. The cases themselves run through the lab.
#include "rooftile/ops/gemv/gemv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/element.h"
#include "rooftile/core/host_tensor.h"
#include "rooftile/core/operator.h"
#include "rooftile/ops/gemv/gemv_plan.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

constexpr DType kDTypes[] = {DType::f32, DType::f16, DType::bf16, DType::f64};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Small integers without a period: sums of their products are exact in f32, and in 16 bits where few are not 0.
double number_at(std::int64_t i) { return static_cast<double>(1 + i * i / 5 % 3); }

class GemvTest : public OnEveryDevice {
 protected:
  template <class Value>
  Tensor tensor(DType dtype, const Extents& shape, Value value) {
    HostTensor host = HostTensor::create(dtype, shape).value();
    for (std::int64_t i = 0; i < host.numel(); ++i) host.set(i, value(i));
    return Tensor::from(context(), host.view()).value();
  }
  Tensor numbers(DType dtype, const Extents& shape) { return tensor(dtype, shape, number_at); }
  Tensor filled(DType dtype, const Extents& shape, double value) {
    return tensor(dtype, shape, [value](std::int64_t) { return value; });
  }
  // A one in every seventh element.
  Tensor ones(DType dtype, std::int64_t n) {
    return tensor(dtype, {n}, [](std::int64_t i) { return i % 7 == 0 ? 1.0 : 0.0; });
  }

  static std::vector<double> values(const Tensor& tensor) {
    std::vector<double> result;
    switch (tensor.dtype()) {
      case DType::f64:
        return tensor.to_vector<double>().value();
      case DType::f32:
        for (const float x : tensor.to_vector<float>().value()) result.push_back(x);
        return result;
      case DType::f16:
        for (const Float16 x : tensor.to_vector<Float16>().value()) result.push_back(to_float(x));
        return result;
      default:
        for (const BFloat16 x : tensor.to_vector<BFloat16>().value()) result.push_back(to_float(x));
        return result;
    }
  }

  // By every rung that serves the call: `expected` each time, in the memory of `out`.
  void expect_of_all(const GemvArgs& args, Tensor& out, const std::vector<double>& expected,
                     const std::string& what) {
    int rungs = 0;
    for (const RungRow& rung : gemv_operator().rungs) {
      if (!unsupported_reason(rung, ArgsRef::of(args), context().properties()).empty()) continue;
      ++rungs;
      const Status status = run_rung(gemv_operator(), rung, context(), AnyArgs::of(args));
      ASSERT_TRUE(status.ok()) << rung.id << ": " << status.message();
      EXPECT_EQ(values(out), expected) << rung.id << " " << what;
    }
    EXPECT_GE(rungs, GetParam().kind == DeviceKind::cpu ? 2 : 1) << what;
  }

  std::string refusal(const GemvArgs& args) {
    const Status status = gemv(context(), args);
    return status.ok() ? "accepted" : std::string(status.rule());
  }
};

// Every relative alignment of rows and x, and leading dimensions around the columns.
TEST_P(GemvTest, RowsAndVectorsMayLieAnyhowToEachOther) {
  constexpr std::int64_t kRows = 5;
  constexpr std::int64_t kRoom = 5600;
  for (const DType dtype : kDTypes) {
    const Tensor a = numbers(dtype, {kRoom});
    const Tensor x = ones(dtype, kRoom);
    for (const std::int64_t n : {1, 7, 40, 300}) {
      for (std::int64_t skew = 0; skew < 9; ++skew) {
        const std::int64_t pitch = n + skew % 4;
        const std::int64_t x_from = (3 * skew) % 8;
        ConstTensorView matrix = a.view().slice(0, skew, skew + n);
        matrix.shape = {kRows, n};
        matrix.strides = {pitch, 1};
        std::vector<double> expected(kRows);
        for (std::int64_t i = 0; i < kRows; ++i) {
          for (std::int64_t j = 0; j < n; ++j)
            expected[static_cast<std::size_t>(i)] +=
                (x_from + j) % 7 == 0 ? number_at(skew + i * pitch + j) : 0.0;
        }
        Tensor y = filled(dtype, {kRows}, kNan);
        expect_of_all(
            {.a = matrix, .x = x.view().slice(0, x_from, x_from + n), .y = y}, y, expected,
            std::string(to_string(dtype)) + " n=" + std::to_string(n) + " skew=" + std::to_string(skew));
      }
    }
  }
}

TEST_P(GemvTest, ColumnMajorIsTheOtherWayRound) {
  constexpr std::int64_t kM = 21;
  constexpr std::int64_t kN = 70;
  for (const DType dtype : kDTypes) {
    const Tensor a = numbers(dtype, {kN, kM});  // column-major [kM, kN]
    for (const bool transpose : {false, true}) {
      const std::int64_t outputs = transpose ? kN : kM;
      const std::int64_t inputs = transpose ? kM : kN;
      std::vector<double> expected(static_cast<std::size_t>(outputs));
      for (std::int64_t i = 0; i < outputs; ++i) {
        for (std::int64_t j = 0; j < inputs; j += 7)
          expected[static_cast<std::size_t>(i)] += number_at(transpose ? i * kM + j : j * kM + i);
      }
      const Tensor x = ones(dtype, inputs);
      Tensor y = filled(dtype, {outputs}, kNan);
      expect_of_all({.a = a.view().permute({1, 0}), .x = x, .y = y, .transpose = transpose}, y, expected,
                    std::string(to_string(dtype)) + (transpose ? " transposed" : ""));
    }
  }
}

// One matrix for all vectors; vectors backwards, with gaps, and one element again and again.
TEST_P(GemvTest, StridesOfBatchesAndVectors) {
  constexpr std::int64_t kM = 6;
  constexpr std::int64_t kN = 20;
  for (const bool transpose : {false, true}) {
    const std::int64_t outputs = transpose ? kN : kM;
    const std::int64_t inputs = transpose ? kM : kN;
    const auto element = [&](std::int64_t i, std::int64_t j) {
      return number_at(transpose ? j * kN + i : i * kN + j);
    };
    const Tensor a = numbers(DType::f32, {1, kM, kN});
    const Tensor x = numbers(DType::f32, {3, 2 * inputs});
    Tensor room = filled(DType::f32, {3, 2 * outputs}, -1);
    std::vector<double> expected(static_cast<std::size_t>(6 * outputs), -1);
    for (std::int64_t b = 0; b < 3; ++b) {
      for (std::int64_t i = 0; i < outputs; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < inputs; ++j)
          sum += element(i, j) * number_at(b * 2 * inputs + 2 * (inputs - 1 - j));
        expected[static_cast<std::size_t>(b * 2 * outputs + 2 * i)] = sum;
      }
    }
    expect_of_all({.a = a.view().expand({3, kM, kN}),
                   .x = x.view().slice(1, 0, 2 * inputs, 2).flip(1),
                   .y = room.view().slice(1, 0, 2 * outputs, 2),
                   .transpose = transpose},
                  room, expected, transpose ? "transposed" : "");
  }
  const Tensor a = numbers(DType::f32, {3, 5});
  const Tensor two = filled(DType::f32, {1}, 2);
  Tensor y = filled(DType::f32, {3}, kNan);
  std::vector<double> expected(3);
  for (std::int64_t i = 0; i < 15; ++i) expected[static_cast<std::size_t>(i / 5)] += 2 * number_at(i);
  expect_of_all({.a = a, .x = two.view().expand({5}), .y = y}, y, expected, "one element again and again");
}

// What beta = 0 and alpha = 0 do not read may be NaN; without columns y is scaled.
TEST_P(GemvTest, WhatIsNotReadDoesNotComeThrough) {
  for (const DType dtype : kDTypes) {
    for (const bool transpose : {false, true}) {
      const Tensor a = filled(dtype, {40, 40}, 1);
      const Tensor nan = filled(dtype, {40, 40}, kNan);
      const Tensor x = ones(dtype, 40);
      const Tensor nan_x = filled(dtype, {40}, kNan);
      const std::vector<double> six(40, 6);
      Tensor y = filled(dtype, {40}, kNan);
      expect_of_all({.a = a, .x = x, .c = y, .y = y, .transpose = transpose}, y, six, "c is NaN");
      expect_of_all({.a = a, .x = x, .c = nan_x, .y = y, .transpose = transpose}, y, six, "another c is NaN");
      const Tensor c = filled(dtype, {40}, 3);
      expect_of_all({.a = nan, .x = nan_x, .c = c, .y = y, .alpha = 0, .beta = 2, .transpose = transpose}, y,
                    six, "a and x are NaN");
      const Tensor none = filled(dtype, transpose ? Extents{0, 40} : Extents{40, 0}, 0);
      const Tensor nothing = filled(dtype, {0}, 0);
      expect_of_all(
          {.a = none, .x = nothing, .c = c, .y = y, .alpha = INFINITY, .beta = 2, .transpose = transpose}, y,
          six, "no columns");
      expect_of_all({.a = none, .x = nothing, .y = y, .transpose = transpose}, y, std::vector<double>(40, 0),
                    "no columns, no c");
    }
  }
}

TEST_P(GemvTest, AddsToItself) {
  const Tensor a = numbers(DType::f32, {3, 3});
  const Tensor x = filled(DType::f32, {3}, 1);
  Tensor y = filled(DType::f32, {3}, 10);
  ASSERT_TRUE(gemv(context(), {.a = a, .x = x, .c = y, .y = y, .alpha = 2, .beta = -1}).ok());
  std::vector<double> expected(3, -10);
  for (std::int64_t i = 0; i < 9; ++i) expected[static_cast<std::size_t>(i / 3)] += 2 * number_at(i);
  EXPECT_EQ(values(y), expected);
  const Result<Tensor> made = gemv(context(), a, x, {.alpha = 0.5});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->shape(), Extents{3});
}

TEST_P(GemvTest, BadCallsAreToldWhatToMend) {
  const Tensor a = numbers(DType::f32, {4, 6});
  const Tensor x = numbers(DType::f32, {6});
  const Tensor half = numbers(DType::f16, {6});
  Tensor y = filled(DType::f32, {4}, 0);
  EXPECT_EQ(refusal({.a = a, .x = x, .y = y}), "accepted");
  EXPECT_EQ(refusal({.a = a, .x = x.view().slice(0, 0, 5), .y = y}),
            "x must have the shape [6], an element for each of a's columns");
  EXPECT_EQ(refusal({.a = a, .x = x, .y = y, .transpose = true}),
            "x must have the shape [4], an element for each of a's rows");
  EXPECT_EQ(refusal({.a = a, .x = half, .y = y}), "x must have the dtype of a, f32");
  EXPECT_EQ(refusal({.a = a, .x = x, .y = y.view().slice(0, 0, 3)}), "y must have the shape [4]");
  EXPECT_EQ(refusal({.a = a, .x = x, .c = x, .y = y, .beta = 1}), "c must have the shape of y");
  EXPECT_EQ(
      refusal({.a = a, .x = x, .y = y, .beta = 1}),
      "c is absent and beta is not 0: give what beta multiplies, which may be y itself (y = alpha op(a) x + "
      "beta y)");
  ConstTensorView narrow = a;
  narrow.strides = {5, 1};
  EXPECT_EQ(refusal({.a = narrow, .x = x, .y = y}),
            "a's leading dimension is 5, and 6 elements lie side by side: it must be at least as many");
  narrow.strides = {1, 3};
  EXPECT_EQ(refusal({.a = narrow, .x = x, .y = y}),
            "a's leading dimension is 3, and 4 elements lie side by side: it must be at least as many");
  narrow.shape = {4, 3};
  narrow.strides = {6, 2};
  EXPECT_EQ(
      refusal({.a = narrow, .x = x.view().slice(0, 0, 3), .y = y}),
      "a's elements must lie side by side along its rows or its columns: copy it first, or give one of its last "
      "two strides as 1");
  narrow.shape = {-4, 6};
  narrow.strides = {6, 1};
  EXPECT_NE(refusal({.a = narrow, .x = x, .y = y}).find("a"), std::string::npos);
  EXPECT_NE(refusal({.a = narrow, .x = x, .y = y}), "accepted");
  // Outputs that lie in an input.
  Tensor room = numbers(DType::f32, {40});
  TensorView square = room.view().slice(0, 0, 16);
  square.shape = {4, 4};
  square.strides = {4, 1};
  const auto four = [&](std::int64_t from) { return room.view().slice(0, from, from + 4); };
  EXPECT_EQ(refusal({.a = square, .x = four(20), .y = four(14)}), "y must not overlap a");
  EXPECT_EQ(refusal({.a = square, .x = four(20), .y = four(23)}), "y must not overlap x");
  EXPECT_EQ(refusal({.a = square, .x = four(20), .c = four(30), .y = four(31), .beta = 1}),
            "y must be c itself, with its shape and strides, or not overlap it");
}

// What choose() names, by what is in flight: the numbers of an H200.
TEST(GemvTestPlan, ChoosesByShape) {
  DeviceProperties gpu = *device_properties(kSim).value();
  gpu.device = cuda_device(0);
  gpu.compute_capability = 90;
  gpu.multiprocessors = 132;
  const auto chosen = [&](DType dtype, std::int64_t m, std::int64_t n, bool transpose = false) {
    auto* memory = reinterpret_cast<void*>(std::uintptr_t{1} << 40);
    GemvArgs args{.a = contiguous_view<void>(memory, dtype, gpu.device, {m, n}),
                  .x = contiguous_view<void>(memory, dtype, gpu.device, {transpose ? m : n}),
                  .transpose = transpose};
    args.y = contiguous_view<void>(memory, dtype, gpu.device, {transpose ? n : m});
    return std::string(gemv_operator().choose(ArgsRef::of(args), gpu));
  };
  EXPECT_EQ(chosen(DType::bf16, 4096, 4096), "whole_rows");
  EXPECT_EQ(chosen(DType::bf16, 4096, 14336), "whole_rows");
  EXPECT_EQ(chosen(DType::f32, 4096, 4096), "whole_rows");
  EXPECT_EQ(chosen(DType::f32, 4096, 4095), "vectorized");    // rows begin anywhere
  EXPECT_EQ(chosen(DType::f32, 16384, 512), "vectorized");    // half of a block's threads would have nothing
  EXPECT_EQ(chosen(DType::f32, 66, 4096), "whole_rows");      // two rounds of loads for each block
  EXPECT_EQ(chosen(DType::f32, 16384, 16384), "whole_rows");  // 64 KiB of x
  EXPECT_EQ(chosen(DType::f32, 4096, 28672), "split_columns");  // more of it
  EXPECT_EQ(chosen(DType::f32, 264, 16384), "split_columns");   // too few rows for so many rounds
  EXPECT_EQ(chosen(DType::f32, 16, 1 << 20), "split_columns");
  EXPECT_EQ(chosen(DType::f32, 1, 1 << 20), "split_columns");
  EXPECT_EQ(chosen(DType::f32, 5000, 1 << 17), "split_columns");
  EXPECT_EQ(chosen(DType::f32, 1 << 20, 16), "several_rows_per_warp");
  EXPECT_EQ(chosen(DType::f32, 1 << 20, 1), "column_parallel");
  EXPECT_EQ(chosen(DType::f32, 1 << 20, 16, true), "column_parallel");
  EXPECT_EQ(chosen(DType::f32, 1 << 20, 1, true), "split_columns");
}

TEST_P(GemvTest, RecordedReplayedAndOnTwoStreamsAtOnce) {
  if (GetParam().kind != DeviceKind::cuda)
    GTEST_SKIP() << "streams of cpu and sim run at once and cannot be recorded";
  const Tensor a = filled(DType::f32, {4, 1 << 18}, 1);
  const Tensor x = ones(DType::f32, 1 << 18);
  constexpr int kOnes = ((1 << 18) + 6) / 7;
  const std::vector<double> expected(4, kOnes);
  Tensor y = filled(DType::f32, {4}, 0);
  Graph graph = Graph::record(context(), [&] { return gemv(context(), {.a = a, .x = x, .y = y}); }).value();
  for (int replay = 0; replay < 3; ++replay) {
    ASSERT_TRUE(graph.launch(context().stream()).ok());
    EXPECT_EQ(values(y), expected);
  }
  Context other = Context::create(GetParam()).value();
  Tensor second = Tensor::zeros(other, {4}, DType::f32).value();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(gemv(context(), {.a = a, .x = x, .y = y}).ok());
    ASSERT_TRUE(gemv(other, {.a = a, .x = x, .y = second}).ok());
  }
  EXPECT_EQ(values(y), expected);
  EXPECT_EQ(values(second), expected);
}

INSTANTIATE_TEST_SUITE_P(Devices, GemvTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
