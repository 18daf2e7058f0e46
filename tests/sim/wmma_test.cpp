// Matrix operations of a warp against plain loops.
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/sim/wmma_test.h"

namespace rooftile::sim_testing {
namespace {

struct TypeCase {
  const char* name;
  WmmaType type;
  WmmaSum c, d;
  std::vector<WmmaShape> shapes;
};
const TypeCase kTypes[] = {
    {"half", WmmaType::float16, WmmaSum::float16, WmmaSum::float16, {kSixteen, kTall, kWide}},
    {"half_to_float", WmmaType::float16, WmmaSum::float16, WmmaSum::float32, {kSixteen, kTall, kWide}},
    {"half_from_float", WmmaType::float16, WmmaSum::float32, WmmaSum::float16, {kSixteen, kTall, kWide}},
    {"half_in_float", WmmaType::float16, WmmaSum::float32, WmmaSum::float32, {kSixteen, kTall, kWide}},
    {"bfloat16", WmmaType::bfloat16, WmmaSum::float32, WmmaSum::float32, {kSixteen, kTall, kWide}},
    {"tf32", WmmaType::tf32, WmmaSum::float32, WmmaSum::float32, {kTf32}},
    {"int8", WmmaType::int8, WmmaSum::int32, WmmaSum::int32, {kSixteen, kTall, kWide}},
    {"uint8", WmmaType::uint8, WmmaSum::int32, WmmaSum::int32, {kSixteen, kTall, kWide}},
};

struct Operands {
  Placed a, b, c, d;
  Matrix a_matrix, b_matrix, c_matrix, d_matrix;

  Operands(const WmmaProduct& p, bool padded)
      : a(placed(dtype_of(p.type), p.shape.m, p.shape.k, p.a_row_major, padded)),
        b(placed(dtype_of(p.type), p.shape.k, p.shape.n, p.b_row_major, padded)),
        c(placed(dtype_of(p.c), p.shape.m, p.shape.n, p.cd_row_major, padded)),
        d(placed(dtype_of(p.d), p.shape.m, p.shape.n, p.cd_row_major, padded)) {}

  Status run(WmmaProduct p) {
    p.lda = a.stride;
    p.ldb = b.stride;
    p.ldc = c.stride;
    p.ldd = d.stride;
    p.a_bytes = a.bytes();
    p.b_bytes = b.bytes();
    p.c_bytes = c.bytes();
    p.d_bytes = kMatrixBytes;
    return run_wmma_product(kStream, p, a_matrix.data(), b_matrix.data(), c_matrix.data(), d_matrix.data());
  }
};

// Small integers: every sum is exact in every type.
void expect_exact_product(const WmmaProduct& product, bool padded, std::mt19937& random) {
  Operands operands(product, padded);
  const int least = product.type == WmmaType::uint8 ? 0 : -4;
  std::uniform_int_distribution<int> draw(least, 4);
  const auto drawn = [&](int, int) { return double(draw(random)); };
  operands.a.fill(operands.a_matrix, drawn);
  operands.b.fill(operands.b_matrix, drawn);
  operands.c.fill(operands.c_matrix, drawn);
  Matrix expected;
  operands.d.fill(expected, [&](int row, int column) {
    double sum = operands.c.at(operands.c_matrix, row, column);
    for (int k = 0; k < product.shape.k; ++k) {
      sum += operands.a.at(operands.a_matrix, row, k) * operands.b.at(operands.b_matrix, k, column);
    }
    return 2 * sum + 1;
  });
  ASSERT_TRUE(is_ok(operands.run(product)));
  EXPECT_EQ(std::memcmp(operands.d_matrix.data(), expected.data(), kMatrixBytes), 0);
}

class EveryType : public ::testing::TestWithParam<TypeCase> {};

TEST_P(EveryType, MultipliesExactlyInEveryShapeAndLayout) {
  std::mt19937 random(11);
  for (const Schedule& schedule : kSchedules) {
    use(schedule);
    for (const WmmaShape& shape : GetParam().shapes) {
      for (unsigned bits = 0; bits < 64; ++bits) {
        WmmaProduct product{};
        product.shape = shape;
        product.type = GetParam().type;
        product.c = GetParam().c;
        product.d = GetParam().d;
        product.a_row_major = (bits & 1u) != 0;
        product.b_row_major = (bits & 2u) != 0;
        product.cd_row_major = (bits & 4u) != 0;
        product.through_shared = (bits & 8u) != 0;
        product.in_place = (bits & 16u) != 0;
        SCOPED_TRACE(std::string(schedule.name) + " " + std::to_string(shape.m) + "x" +
                     std::to_string(shape.n) + " bits " + std::to_string(bits));
        expect_exact_product(product, (bits & 32u) != 0, random);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
      }
    }
  }
}

void PrintTo(const TypeCase& type, std::ostream* out) { *out << type.name; }
INSTANTIATE_TEST_SUITE_P(Wmma, EveryType, ::testing::ValuesIn(kTypes),
                         [](const auto& of) { return std::string(of.param.name); });

// The only products are a(0,k) * b(k,0); c and d row-major, without the kernel's 2 * d + 1 undone.
double first_sum(WmmaType type, WmmaSum c_type, WmmaSum d_type, double c, const std::vector<double>& a,
                 const std::vector<double>& b, bool saturate = false) {
  WmmaProduct product{};
  product.shape = type == WmmaType::tf32 ? kTf32 : kSixteen;
  product.type = type;
  product.c = c_type;
  product.d = d_type;
  product.a_row_major = product.b_row_major = product.cd_row_major = true;
  product.saturate = saturate;
  Operands operands(product, false);
  const auto of = [](const std::vector<double>& values, int at, int other) {
    return other == 0 && at < static_cast<int>(values.size()) ? values[static_cast<std::size_t>(at)] : 0.0;
  };
  operands.a.fill(operands.a_matrix, [&](int row, int k) { return of(a, k, row); });
  operands.b.fill(operands.b_matrix, [&](int k, int column) { return of(b, k, column); });
  operands.c.fill(operands.c_matrix, [&](int, int) { return c; });
  EXPECT_TRUE(is_ok(operands.run(product)));
  const double stored = operands.d.at(operands.d_matrix, 0, 0);
  return saturate ? stored : (stored - 1) / 2;
}

TEST(WmmaSums, OfHalfAreRoundedOnceAtTheEnd) {
  use(kSchedules[0]);
  // Next to 1024 the halves are 1 apart: a quarter would be lost each time.
  const std::vector<double> quarters(16, 0.25);
  const std::vector<double> ones(16, 1.0);
  EXPECT_EQ(first_sum(WmmaType::float16, WmmaSum::float16, WmmaSum::float16, 512, quarters, ones), 516);
  EXPECT_EQ(first_sum(WmmaType::float16, WmmaSum::float16, WmmaSum::float16, 512, {0.25}, ones), 512);
  EXPECT_EQ(first_sum(WmmaType::float16, WmmaSum::float32, WmmaSum::float32, 512, {0.25}, ones), 512.25);
}

TEST(WmmaSums, OfProductsBeyondHalfAreKeptInFloat) {
  use(kSchedules[0]);
  EXPECT_EQ(first_sum(WmmaType::float16, WmmaSum::float32, WmmaSum::float32, 0, {2048}, {2048}),
            2048.0 * 2048);
  EXPECT_EQ(first_sum(WmmaType::float16, WmmaSum::float32, WmmaSum::float16, 0, {2048}, {2048}),
            std::numeric_limits<double>::infinity());
}

TEST(WmmaSums, OfTf32TakeTenBits) {
  use(kSchedules[0]);
  const double more = 1 + std::ldexp(1.0, -10);
  EXPECT_EQ(first_sum(WmmaType::tf32, WmmaSum::float32, WmmaSum::float32, 0, {more}, {1}), more);
  EXPECT_EQ(
      first_sum(WmmaType::tf32, WmmaSum::float32, WmmaSum::float32, 0, {more + std::ldexp(1.0, -11)}, {1}),
      more);
}

TEST(WmmaSums, OfIntWrapOrSaturate) {
  use(kSchedules[0]);
  constexpr double kMost = std::numeric_limits<int>::max();
  constexpr double kLeast = std::numeric_limits<int>::min();
  const auto sum = [](double c, double a, double b, bool saturate) {
    return first_sum(WmmaType::int8, WmmaSum::int32, WmmaSum::int32, c, {a, a}, {b, b}, saturate);
  };
  EXPECT_EQ(sum(kMost - 5, 127, 127, true), kMost);
  EXPECT_EQ(sum(kLeast + 5, 127, -128, true), kLeast);
  EXPECT_EQ(sum(kMost - 5, 1, 2, true), kMost - 1);
  // Wrapped once by the sum; what the kernel makes of it, twice that and 1, wraps again.
  EXPECT_EQ(sum(kMost, 1, 2, false), 3);
}

TEST(WmmaTf32, RoundsToNearestTiesAway) {
  use(kSchedules[0]);
  const float tie = std::ldexp(1.0f, -11);
  const float step = std::ldexp(1.0f, -10);
  const float infinity = std::numeric_limits<float>::infinity();
  const float in[] = {1 + tie,
                      -1 - tie,
                      std::nextafter(1 + tie, 0.0f),
                      1 + step + tie,
                      std::numeric_limits<float>::max(),
                      infinity,
                      -infinity,
                      std::bit_cast<float>(0x7f800001u),
                      0.0f};
  const float expected[] = {1 + step, -1 - step, 1, 1 + 2 * step, infinity, infinity, -infinity, 0, 0};
  float out[std::size(in)];
  ASSERT_TRUE(is_ok(run_to_tf32(kStream, static_cast<int>(std::size(in)), in, out)));
  for (std::size_t i = 0; i < std::size(in); ++i) {
    if (std::isnan(in[i])) {
      EXPECT_TRUE(std::isnan(std::bit_cast<float>(std::bit_cast<std::uint32_t>(out[i]) & 0xffffe000u)));
    } else {
      EXPECT_EQ(out[i], expected[i]) << i;
    }
  }
}

}  // namespace
}  // namespace rooftile::sim_testing
