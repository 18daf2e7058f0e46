// What textures give for coordinates inside, outside and between the texels.
#include "rooftile/sim/texture.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "rooftile/core/dtype.h"
#include "tests/sim/sim_test.h"
#include "tests/sim/textures.h"

namespace rooftile::sim_testing {
namespace {

using namespace sim::sim_tests;
using simt::AddressMode;
using simt::FilterMode;
using simt::float4;
using simt::ReadMode;
using simt::texel_format;
using simt::TextureObject;
using simt::TextureOptions;
using simt::uchar4;

using At = std::array<float, 2>;

constexpr unsigned kWidth = 4;
constexpr unsigned kHeight = 3;
constexpr unsigned kPitch = 8;  // elements: rows have more behind them than texels

class Textures : public ::testing::Test {
 protected:
  void SetUp() override {
    use(kSchedules[0]);
    for (unsigned y = 0; y < kHeight; ++y) {
      for (unsigned x = 0; x < kPitch; ++x) image_[y * kPitch + x] = texel(x, y);
    }
  }

  static float texel(unsigned x, unsigned y) { return static_cast<float>(x < kWidth ? 10 * y + x : 999); }

  [[nodiscard]] TextureObject make(const TextureOptions& options) const {
    auto made = simt::make_texture_2d(image_.data(), kWidth, kHeight, kPitch * sizeof(float),
                                      texel_format<float>(), options);
    EXPECT_TRUE(is_ok(made.status()));
    return std::move(*made);
  }

  // The first channel of each fetch.
  static std::vector<float> fetch(const TextureObject& texture, const std::vector<At>& at,
                                  Fetch kind = Fetch::tex2D, ReadAs as = ReadAs::float1) {
    std::vector<float> out(4 * at.size(), -1);
    EXPECT_TRUE(is_ok(run_fetch(kStream, kind, as, texture.handle(), static_cast<unsigned>(at.size()),
                                at[0].data(), out.data())));
    std::vector<float> first(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) first[i] = out[4 * i];
    return first;
  }

  static Status try_fetch(unsigned long long object, ReadAs as = ReadAs::float1, Fetch kind = Fetch::tex2D) {
    const At at{0, 0};
    float out[4];
    return run_fetch(kStream, kind, as, object, 1, at.data(), out);
  }

  alignas(16) std::array<float, std::size_t{kPitch} * kHeight> image_{};
};

TEST_F(Textures, PointsAreTheTexelsThatHoldThem) {
  const TextureObject texture = make({});
  const std::vector<At> at{{0, 0}, {0.99f, 0}, {1, 0}, {3.5f, 2.5f}, {2.999f, 1.001f}};
  const std::vector<float> expected{0, 0, 1, 23, 12};
  EXPECT_EQ(fetch(texture, at), expected);
  EXPECT_EQ(fetch(texture, at, Fetch::tex2D_level), expected);
  EXPECT_EQ(fetch(texture, at, Fetch::tex2D_pointer), expected);
}

TEST_F(Textures, OutsideIsWhatTheModeSays) {
  const std::vector<At> at{{-0.25f, 0}, {-2, 1}, {4, 1}, {5.5f, -7}, {100, 100}, {1e30f, 1}, {-INFINITY, 0}};
  EXPECT_EQ(fetch(make({}), at), (std::vector<float>{0, 10, 13, 3, 23, 13, 0}));
  TextureOptions options{.address = {AddressMode::border, AddressMode::border}, .border = {7, 0, 0, 0}};
  EXPECT_EQ(fetch(make(options), at), (std::vector<float>(7, 7.0f)));
  options.address = {AddressMode::clamp, AddressMode::border};
  EXPECT_EQ(fetch(make(options), at), (std::vector<float>{0, 10, 13, 7, 7, 13, 0}));
  // Without normalised coordinates these are clamp.
  options.address = {AddressMode::wrap, AddressMode::mirror};
  EXPECT_EQ(fetch(make(options), at), (std::vector<float>{0, 10, 13, 3, 23, 13, 0}));
}

TEST_F(Textures, NormalisedCoordinatesRepeat) {
  const std::vector<At> at{{0.125f, 0.5f}, {1.125f, 0.5f}, {-0.125f, 0.5f},
                           {2.9f, 0.5f},   {0.3f, -0.1f},  {-1.2f, 2.5f}};
  TextureOptions options{.normalized_coordinates = true};
  EXPECT_EQ(fetch(make(options), at), (std::vector<float>{10, 13, 10, 13, 1, 20}));
  options.address = {AddressMode::wrap, AddressMode::wrap};
  EXPECT_EQ(fetch(make(options), at), (std::vector<float>{10, 10, 13, 13, 21, 13}));
  // Forth and back: 1.125 is 0.875, 2.9 is 0.9, -1.2 is 0.8, 2.5 is 0.5.
  options.address = {AddressMode::mirror, AddressMode::mirror};
  EXPECT_EQ(fetch(make(options), at), (std::vector<float>{10, 13, 10, 13, 1, 13}));
}

TEST_F(Textures, LinearFilteringWeighsTheFourAround) {
  TextureOptions options{.filter = FilterMode::linear};
  // Centres lie at +0.5.
  EXPECT_EQ(fetch(make(options), {{1.5f, 1.5f}, {2, 1.5f}, {1.75f, 1}, {0, 0}, {4, 3}, {-9, 1.5f}}),
            (std::vector<float>{11, 11.5f, 1.25f + 5, 0, 23, 10}));
  // Eight bits of fraction: a 512th is rounded up, what is less is lost.
  EXPECT_EQ(
      fetch(make(options), {{1.5f + 1 / 256.0f, 0.5f}, {1.5f + 1 / 512.0f, 0.5f}, {1.5f + 1 / 520.0f, 0.5f}}),
      (std::vector<float>{1 + 1 / 256.0f, 1 + 1 / 256.0f, 1}));
  options.address = {AddressMode::border, AddressMode::clamp};
  options.border = {100, 0, 0, 0};
  EXPECT_EQ(fetch(make(options), {{0, 0.5f}, {4, 1.5f}, {-0.5f, 1.5f}}),
            (std::vector<float>{50, (13 + 100) / 2.0f, 100}));
  options.address = {AddressMode::wrap, AddressMode::mirror};
  options.normalized_coordinates = true;
  // Between the last column and the first; above the first row lies the first row again.
  EXPECT_EQ(fetch(make(options), {{0, 0.5f}, {1, 0.5f}, {0.375f, 0}}), (std::vector<float>{11.5f, 11.5f, 1}));
}

TEST_F(Textures, WhatHasNoWeightHasNoSay) {
  image_[1] = NAN;
  const TextureObject texture = make({.filter = FilterMode::linear});
  EXPECT_EQ(fetch(texture, {{0.5f, 0.5f}}), (std::vector<float>{0}));
  EXPECT_TRUE(std::isnan(fetch(texture, {{0.75f, 0.5f}})[0]));
}

TEST_F(Textures, FormatsConvertAsTheyAreRead) {
  alignas(8) const std::array<unsigned char, 8> bytes{0, 51, 102, 255, 10, 20, 30, 40};
  const At at{1.5f, 0.5f};
  const auto channels = [&](const Result<TextureObject>& texture, ReadAs as) {
    EXPECT_TRUE(is_ok(texture.status()));
    std::vector<float> out(4, -1);
    EXPECT_TRUE(is_ok(run_fetch(kStream, Fetch::tex2D, as, texture->handle(), 1, at.data(), out.data())));
    return out;
  };
  const auto bytes4 = texel_format<uchar4>();
  EXPECT_EQ(channels(simt::make_texture_2d(bytes.data(), 2, 1, 8, bytes4), ReadAs::uchar4),
            (std::vector<float>{10, 20, 30, 40}));
  const TextureOptions normalised{.read = ReadMode::normalized_float};
  EXPECT_EQ(channels(simt::make_texture_2d(bytes.data(), 2, 1, 8, bytes4, normalised), ReadAs::float4),
            (std::vector<float>{10 / 255.0f, 20 / 255.0f, 30 / 255.0f, 40 / 255.0f}));
  EXPECT_EQ(
      channels(simt::make_texture_2d(bytes.data(), 4, 1, 8, texel_format<unsigned char>()), ReadAs::uchar)[0],
      51);
  TextureOptions filtered = normalised;
  filtered.filter = FilterMode::linear;
  EXPECT_EQ(channels(simt::make_texture_2d(bytes.data(), 4, 1, 8, texel_format<unsigned char>(), filtered),
                     ReadAs::float1)[0],
            51 / 255.0f);
  const std::array<short, 2> shorts{5, -32768};
  EXPECT_EQ(channels(simt::make_texture_2d(shorts.data(), 2, 1, 4, texel_format<short>()), ReadAs::short1)[0],
            -32768);
  EXPECT_EQ(channels(simt::make_texture_2d(shorts.data(), 2, 1, 4, texel_format<short>(), normalised),
                     ReadAs::float1)[0],
            -1);
  alignas(8) const std::array<std::uint16_t, 4> halves{to_float16(1.5).bits, to_float16(-2).bits,
                                                       to_float16(0.25).bits, to_float16(65504).bits};
  EXPECT_EQ(
      channels(simt::make_texture_2d(halves.data(), 2, 1, 8, texel_format<simt::__half2>()), ReadAs::float2),
      (std::vector<float>{0.25f, 65504, -1, -1}));
  EXPECT_EQ(channels(simt::make_texture_2d(halves.data(), 4, 1, 8, texel_format<simt::__half>()),
                     ReadAs::float1)[0],
            -2);
  alignas(16) const std::array<float, 8> floats{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(channels(simt::make_texture_2d(floats.data(), 2, 1, 32, texel_format<float4>()), ReadAs::float4),
            (std::vector<float>{5, 6, 7, 8}));
  // A kernel may take fewer channels than there are.
  EXPECT_EQ(channels(simt::make_texture_2d(floats.data(), 2, 1, 32, texel_format<float4>()), ReadAs::float2),
            (std::vector<float>{5, 6, -1, -1}));
}

TEST_F(Textures, OneDimension) {
  auto line =
      simt::make_texture_1d(image_.data(), kWidth, texel_format<float>(), {.filter = FilterMode::linear});
  ASSERT_TRUE(is_ok(line.status()));
  EXPECT_EQ(fetch(*line, {{0.5f, 0}, {2, 0}, {9, 0}}, Fetch::tex1D), (std::vector<float>{0, 1.5f, 3}));
  auto linear = simt::make_linear_texture(image_.data(), kWidth, texel_format<float>());
  ASSERT_TRUE(is_ok(linear.status()));
  EXPECT_EQ(fetch(*linear, {{0, 0}, {3, 0}, {4, 0}, {-1, 0}}, Fetch::tex1Dfetch),
            (std::vector<float>{0, 3, 0, 0}));
}

TEST_F(Textures, SurfacesAreReadAndWritten) {
  auto surface =
      simt::make_surface_2d(image_.data(), kWidth, kHeight, kPitch * sizeof(float), texel_format<float>());
  ASSERT_TRUE(is_ok(surface.status()));
  float value = 0;
  ASSERT_TRUE(is_ok(run_surface(kStream, surface->handle(), Outside::trap, 8, 1, &value)));
  EXPECT_EQ(value, 12);
  EXPECT_EQ(image_[2 * kPitch + 2], 13);
  ASSERT_TRUE(is_ok(run_surface(kStream, surface->handle(), Outside::zero, 16, 0, &value)));
  EXPECT_EQ(value, 0);
  EXPECT_EQ(image_[kPitch + 4], 999) << "behind the row";
  ASSERT_TRUE(is_ok(run_surface(kStream, surface->handle(), Outside::clamp, 400, 2, &value)));
  EXPECT_EQ(value, 23);
  EXPECT_EQ(image_[2 * kPitch + 3], 24);
  EXPECT_TRUE(mentions(run_surface(kStream, surface->handle(), Outside::trap, 12, 2, &value),
                       "surf2Dwrite: byte 12 of row 3 is outside of a surface of 16 bytes by 3 rows at "
                       "texture_kernels.cu:"));
  EXPECT_TRUE(mentions(run_surface(kStream, surface->handle(), Outside::trap, 6, 2, &value),
                       "surf2Dread: x counts bytes, and 6 is no multiple of the value's 4"));
  alignas(8) std::array<unsigned char, 8> bytes{1, 2, 3, 4, 5, 6, 7, 8};
  auto small = simt::make_surface_2d(bytes.data(), 2, 1, 8, texel_format<uchar4>());
  ASSERT_TRUE(is_ok(small.status()));
  ASSERT_TRUE(is_ok(run_surface_uchar4(kStream, small->handle(), 4, 0)));
  EXPECT_EQ(bytes, (std::array<unsigned char, 8>{1, 2, 3, 4, 5, 200, 7, 8}));
}

TEST_F(Textures, BadUseEndsTheLaunchWithItsLine) {
  unsigned long long handle = 0;
  {
    const TextureObject texture = make({});
    handle = texture.handle();
    EXPECT_TRUE(is_ok(try_fetch(handle)));
    EXPECT_TRUE(
        mentions(try_fetch(handle, ReadAs::uchar4),
                 "tex2D reads 4 channels of 8-bit unsigned integers from a texture of 1 channel of 32-bit "
                 "floats at texture_kernels.cu:"));
    EXPECT_TRUE(mentions(try_fetch(handle, ReadAs::float4), "tex2D reads 4 channels of 32-bit floats"));
    EXPECT_TRUE(mentions(try_fetch(handle, ReadAs::float1, Fetch::tex1Dfetch),
                         "tex1Dfetch: the object is a 2-D texture, for tex2D at texture_kernels.cu:"));
  }
  EXPECT_TRUE(mentions(try_fetch(handle), "has been destroyed at texture_kernels.cu:"));
  const TextureObject another = make({});  // in the same place
  EXPECT_TRUE(mentions(try_fetch(handle), "has been destroyed"));
  for (const unsigned long long foreign : {0ull, 1ull, 0x7f0012345678ull}) {
    EXPECT_TRUE(mentions(try_fetch(foreign), "is none that the simulator made"));
  }
  EXPECT_TRUE(is_ok(try_fetch(another.handle())));
}

TEST_F(Textures, TheHostIsToldWhatIsWrong) {
  const auto message = [](const Result<TextureObject>& made) {
    EXPECT_FALSE(made.ok());
    return made.status();
  };
  const auto floats = texel_format<float>();
  EXPECT_TRUE(mentions(message(simt::make_texture_2d(image_.data(), 4, 3, 12, floats)),
                       "a row of 4 texels takes 16 bytes, and the pitch is 12"));
  EXPECT_TRUE(mentions(message(simt::make_texture_2d(nullptr, 4, 3, 16, floats)), "a texture has texels"));
  EXPECT_TRUE(
      mentions(message(simt::make_texture_2d(image_.data(), 0, 3, 16, floats)), "a texture has texels"));
  EXPECT_TRUE(mentions(message(simt::make_texture_1d(image_.data() + 1, 1, texel_format<float4>())),
                       "multiples of the texel's 16 bytes"));
  EXPECT_TRUE(mentions(message(simt::make_texture_2d(image_.data(), 4, 3, 16, texel_format<uchar4>(),
                                                     {.filter = FilterMode::linear})),
                       "integers are not filtered"));
  EXPECT_TRUE(mentions(
      message(simt::make_linear_texture(image_.data(), 4, texel_format<int>(), ReadMode::normalized_float)),
      "integers of 32 bits are not read as normalised floats"));
  EXPECT_TRUE(
      mentions(message(simt::make_linear_texture(image_.data(), 4, {simt::TexelKind::floating, 8, 1})),
               "no texture has 1 channel of 8-bit floats"));
}

TEST_F(Textures, MovedObjectsKeepTheirHandle) {
  TextureObject first = make({});
  const unsigned long long handle = first.handle();
  TextureObject second = std::move(first);
  EXPECT_EQ(second.handle(), handle);
  EXPECT_TRUE(is_ok(try_fetch(handle)));
  second = make({});
  EXPECT_TRUE(mentions(try_fetch(handle), "has been destroyed"));
  EXPECT_TRUE(is_ok(try_fetch(second.handle())));
}

}  // namespace
}  // namespace rooftile::sim_testing
