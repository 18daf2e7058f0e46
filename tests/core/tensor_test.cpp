#include "rooftile/core/tensor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <numeric>
#include <utility>
#include <vector>

#include "rooftile/core/detail/fault.h"

namespace rooftile {
namespace {

class HostTensors : public testing::TestWithParam<Device> {
 protected:
  void TearDown() override { detail::fail_allocation_after(-1); }
  Context context_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Devices, HostTensors, testing::Values(kCpu, kSim),
                         [](const auto& test) { return to_string(test.param); });

TEST_P(HostTensors, ZerosAndFull) {
  Tensor zeros = Tensor::zeros(context_, {2, 3}, DType::i32).value();
  EXPECT_EQ(zeros.to_vector<std::int32_t>().value(), std::vector<std::int32_t>(6, 0));
  EXPECT_EQ(zeros.device(), GetParam());
  EXPECT_EQ(zeros.dtype(), DType::i32);
  EXPECT_EQ(zeros.numel(), 6);
  EXPECT_EQ(zeros.bytes(), 24u);
  // Neither a power of two nor one less: every copy of the doubling is needed.
  const Tensor full = Tensor::full(context_, {3, 37}, 2.5).value();
  EXPECT_EQ(full.dtype(), DType::f64);
  EXPECT_EQ(full.to_vector<double>().value(), std::vector<double>(111, 2.5));
  EXPECT_EQ(Tensor::full(context_, {}, std::uint8_t{7})->item<std::uint8_t>().value(), 7);
  EXPECT_TRUE(Tensor::full(context_, {0, 4}, 1.0f).ok());
}

TEST_P(HostTensors, FromAnyStrides) {
  std::vector<float> x(60);
  std::iota(x.begin(), x.end(), 0.0f);
  const auto cube = view(x, {3, 4, 5});
  EXPECT_EQ(Tensor::from(context_, cube)->to_vector<float>().value(), x);
  const Tensor part = Tensor::from(context_, cube.slice(1, 0, 4, 2).flip(2).permute({2, 0, 1})).value();
  EXPECT_TRUE(part.shape() == (Extents{5, 3, 2}));
  const std::vector<float> got = part.to_vector<float>().value();
  std::vector<float> wanted;
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 2; ++k) wanted.push_back(static_cast<float>(j * 20 + 2 * k * 5 + 4 - i));
    }
  }
  EXPECT_EQ(got, wanted);
  const float one = 3.0f;
  EXPECT_EQ(Tensor::from(context_, view(one).expand({4}))->to_vector<float>().value(),
            std::vector<float>(4, 3.0f));
  EXPECT_TRUE(Tensor::from(context_, cube.slice(0, 2, 2)).ok()) << "nothing";
}

TEST_P(HostTensors, ErrorsNameTheLineOfTheCaller) {
  const Tensor two = Tensor::zeros(context_, {2}, DType::i32).value();
  unsigned line = 0;
  const auto here = [&line](unsigned at, const Status& status) {
    EXPECT_EQ(status.where().line, at) << status;
    EXPECT_TRUE(std::string_view(status.where().file).ends_with("tensor_test.cpp")) << status.where().file;
    ++line;
  };
  here(__LINE__, Tensor::zeros(context_, {-1}, DType::f32).status());
  here(__LINE__, Tensor::full(context_, {-1}, 1.0f).status());
  here(__LINE__, Tensor::from(context_, ConstTensorView(nullptr, DType::f32, kCpu, {3}, {1})).status());
  here(__LINE__, Tensor::load_npy(context_, "no such file.npy").status());
  here(__LINE__, two.save_npy("no such folder/x.npy"));
  here(__LINE__, two.item<std::int32_t>().status());
  here(__LINE__, two.to_vector<float>().status());
  EXPECT_EQ(line, 7u);
}

TEST_P(HostTensors, OutliveTheirContextAndMove) {
  Tensor kept;
  EXPECT_EQ(kept.numel(), 0);
  {
    Context other(GetParam());
    kept = Tensor::full(other, {5}, 4.0f).value();
  }
  Tensor moved = std::move(kept);
  EXPECT_EQ(moved.to_vector<float>().value(), std::vector<float>(5, 4.0f));
  EXPECT_EQ(moved.to(context_)->to_vector<float>().value(), std::vector<float>(5, 4.0f));
}

TEST_P(HostTensors, NpyComesBack) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("rooftile_tensor_" + to_string(GetParam()) + ".npy");
  std::vector<std::int16_t> x{1, -2, 3, 4, 5, 6};
  ASSERT_TRUE(Tensor::from(context_, view(x, {2, 3}))->save_npy(file.string()).ok());
  const Result<Tensor> back = Tensor::load_npy(context_, file.string());
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(back->shape() == (Extents{2, 3}));
  EXPECT_EQ(back->to_vector<std::int16_t>().value(), x);
  std::filesystem::remove(file);
  EXPECT_EQ(Tensor::load_npy(context_, file.string()).status().code(), StatusCode::io_error);
}

TEST_P(HostTensors, WhatCannotBeIsAnErrorOfOneLine) {
  EXPECT_EQ(Tensor::zeros(context_, {-1}, DType::f32).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(Tensor::zeros(context_, {std::int64_t{1} << 62, 8}, DType::f32).status().code(),
            StatusCode::invalid_argument);
  EXPECT_EQ(Tensor::zeros(context_, {4}, static_cast<DType>(99)).status().code(),
            StatusCode::invalid_argument);
  const Tensor two = Tensor::full(context_, {2}, 1.0f).value();
  EXPECT_EQ(two.item<float>().status().rule(),
            "item() is of a tensor with one element, this is " + two.view().to_string());
  EXPECT_EQ(two.to_vector<double>().status().code(), StatusCode::invalid_argument);
  float x = 0;
  EXPECT_EQ(Tensor::from(context_, view(x).squeeze(0)).status().code(), StatusCode::invalid_argument);
  Context moved = std::move(context_);
  EXPECT_EQ(Tensor::zeros(context_, {4}, DType::f32).status().code(), StatusCode::invalid_argument);
}

TEST_P(HostTensors, FailedAllocationsAreAStatusAndTheNextCallWorks) {
  detail::fail_allocation_after(0);
  EXPECT_EQ(Tensor::zeros(context_, {4}, DType::f32).status().code(), StatusCode::out_of_memory);
  EXPECT_TRUE(Tensor::zeros(context_, {4}, DType::f32).ok());
}

}  // namespace
}  // namespace rooftile
