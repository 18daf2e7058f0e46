#include "rooftile/core/dlpack.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace rooftile {
namespace {

TEST(DLPack, ATensorGoesOutAndComesBack) {
  Context context(kCpu);
  Tensor tensor = Tensor::full(context, {2, 3, 4}, std::int16_t{7}).value();
  const void* const data = tensor.data();
  dlpack::ManagedTensor* out = to_dlpack(std::move(tensor)).value();
  EXPECT_EQ(out->dl_tensor.data, data);
  EXPECT_EQ(out->dl_tensor.device.device_type, 1);
  EXPECT_EQ(out->dl_tensor.ndim, 3);
  EXPECT_EQ(out->dl_tensor.dtype.code, 0);
  EXPECT_EQ(out->dl_tensor.dtype.bits, 16);
  EXPECT_EQ(out->dl_tensor.strides[0], 12);
  const TensorView back = view_dlpack(out->dl_tensor).value();
  EXPECT_EQ(back.data, data);
  EXPECT_EQ(back.to_string(), "i16[2,3,4]");
  EXPECT_EQ(Tensor::from(context, back)->to_vector<std::int16_t>().value(), std::vector<std::int16_t>(24, 7));
  out->deleter(out);
}

TEST(DLPack, EveryDtypeComesBack) {
  Context context(kCpu);
  for (const DType dtype : all_dtypes()) {
    dlpack::ManagedTensor* out = to_dlpack(Tensor::zeros(context, {}, dtype).value()).value();
    EXPECT_EQ(view_dlpack(out->dl_tensor)->dtype, dtype);
    EXPECT_EQ(out->dl_tensor.dtype.bits, 8 * size_of(dtype));
    out->deleter(out);
  }
}

TEST(DLPack, ViewsHaveStridesAndOffsets) {
  std::vector<float> x(12);
  std::int64_t shape[] = {3, 2};
  std::int64_t strides[] = {4, -1};
  dlpack::DLTensor theirs{x.data(), {1, 0}, 2, {2, 32, 1}, shape, strides, 4};
  const TensorView view = view_dlpack(theirs).value();
  EXPECT_EQ(view.data, x.data() + 1);
  EXPECT_EQ(view.to_string(), "f32[3,2] with strides [4,-1]");
  theirs.strides = nullptr;
  EXPECT_TRUE(view_dlpack(theirs)->contiguous());
  theirs.device = {2, 3};
  EXPECT_EQ(view_dlpack(theirs)->device, cuda_device(3));
}

TEST(DLPack, WhatIsNoneOfOursIsAnError) {
  float x = 0;
  std::int64_t shape[] = {1};
  const dlpack::DLTensor good{&x, {1, 0}, 1, {2, 32, 1}, shape, nullptr, 0};
  ASSERT_TRUE(view_dlpack(good).ok());
  dlpack::DLTensor bad = good;
  bad.dtype = {5, 64, 1};  // complex
  EXPECT_EQ(view_dlpack(bad).status().code(), StatusCode::unsupported);
  bad = good;
  bad.dtype.lanes = 4;
  EXPECT_EQ(view_dlpack(bad).status().code(), StatusCode::unsupported);
  bad = good;
  bad.device.device_type = 4;  // OpenCL
  EXPECT_EQ(view_dlpack(bad).status().code(), StatusCode::unsupported);
  for (const int ndim : {-1, 9}) {
    bad = good;
    bad.ndim = ndim;
    EXPECT_EQ(view_dlpack(bad).status().code(), StatusCode::invalid_argument);
  }
  bad = good;
  bad.byte_offset = 2;
  EXPECT_EQ(view_dlpack(bad).status().code(), StatusCode::invalid_argument) << "off its alignment";
}

}  // namespace
}  // namespace rooftile
