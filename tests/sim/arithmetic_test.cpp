// Arithmetic that names its rounding, and integers: compared with the exact values.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "rooftile/core/dtype.h"
#include "tests/sim/arithmetic.h"
#include "tests/sim/sim_test.h"

namespace rooftile::sim_testing {
namespace {

using namespace sim::sim_tests;

__extension__ using Wide = __float128;  // exact for all that is compared here

constexpr unsigned kCases = 20000;
enum Rounding { kNearest, kTowardZero, kUp, kDown };

// A number of about 2^exponent.
template <class T>
T draw(std::mt19937_64& random, int exponents) {
  const auto mantissa = static_cast<T>(1) + static_cast<T>(random() >> 11) * static_cast<T>(0x1p-53);
  const int exponent = static_cast<int>(random() % static_cast<unsigned>(exponents)) - exponents / 2;
  const T value = std::ldexp(mantissa, exponent);
  return (random() & 1u) != 0 ? value : -value;
}

// How the exact result compares with `r`: of its sign. Multiplied out, where the result itself is not exact.
template <class T>
int exact_compared_with(Operation operation, const T* in, T r) {
  const Wide a = in[0];
  const Wide b = in[1];
  const Wide c = in[2];
  Wide difference = 0;
  switch (operation) {
    case Operation::add:
      difference = a + b - r;
      break;
    case Operation::subtract:
      difference = a - b - r;
      break;
    case Operation::multiply:
      difference = a * b - r;
      break;
    case Operation::divide:
      difference = (a - b * r) * (b < 0 ? -1 : 1);
      break;
    case Operation::reciprocal:
      difference = (1 - a * r) * (a < 0 ? -1 : 1);
      break;
    case Operation::square_root:
      difference = r < 0 ? Wide{1} : a - Wide{r} * r;
      break;
    case Operation::multiply_add:
      difference = a * b + c - r;
      break;
  }
  return difference > 0 ? 1 : (difference < 0 ? -1 : 0);
}

// `compare(r)`: of the exact value with r. `out`: in the order of the roundings.
template <class T, class Compare>
void expect_rounded(const T* out, Compare compare) {
  const T infinity = std::numeric_limits<T>::infinity();
  const int up = compare(out[kUp]);
  ASSERT_LE(up, 0);
  ASSERT_GT(compare(std::nextafter(out[kUp], -infinity)), 0) << "up is not the next one";
  ASSERT_GE(compare(out[kDown]), 0);
  ASSERT_LT(compare(std::nextafter(out[kDown], infinity)), 0) << "down is not the next one";
  ASSERT_EQ(out[kTowardZero], out[kUp] > 0 ? out[kDown] : out[kUp]);
  ASSERT_TRUE(out[kNearest] == out[kUp] || out[kNearest] == out[kDown]);
  if (up == 0) {
    ASSERT_EQ(out[kDown], out[kUp]);
  }
}

template <class T>
void expect_operations_rounded() {
  use(kSchedules[0]);
  std::mt19937_64 random(20261);
  for (const Operation operation :
       {Operation::add, Operation::subtract, Operation::multiply, Operation::divide, Operation::reciprocal,
        Operation::square_root, Operation::multiply_add}) {
    std::vector<T> in(3 * kCases);
    for (T& value : in) value = draw<T>(random, operation == Operation::multiply_add ? 4 : 40);
    if (operation == Operation::square_root) {
      for (T& value : in) value = std::abs(value);
    }
    std::vector<T> out(kRoundings * kCases);
    ASSERT_TRUE(is_ok(run_rounded(kStream, operation, kCases, in.data(), out.data())));
    bool differ = false;
    for (unsigned i = 0; i < kCases; ++i) {
      ASSERT_NO_FATAL_FAILURE(
          expect_rounded(&out[4 * i], [&](T r) { return exact_compared_with(operation, &in[3 * i], r); }))
          << static_cast<int>(operation) << " of " << in[3 * i] << ", " << in[3 * i + 1] << ", "
          << in[3 * i + 2];
      differ = differ || out[4 * i + kUp] != out[4 * i + kDown];
    }
    EXPECT_TRUE(differ);
  }
}

TEST(RoundedArithmetic, OfFloatIsTheNeighbourOfTheExactValue) { expect_operations_rounded<float>(); }
TEST(RoundedArithmetic, OfDoubleIsTheNeighbourOfTheExactValue) { expect_operations_rounded<double>(); }

TEST(RoundedArithmetic, ZerosAndOverflowFollowTheMode) {
  use(kSchedules[0]);
  constexpr float kLargest = std::numeric_limits<float>::max();
  const float in[] = {1, -1, 0, kLargest, kLargest, 0, -kLargest, -kLargest, 0};
  float out[12];
  ASSERT_TRUE(is_ok(run_rounded(kStream, Operation::add, 3, in, out)));
  EXPECT_FALSE(std::signbit(out[kNearest]));
  EXPECT_TRUE(out[kDown] == 0 && std::signbit(out[kDown]));
  EXPECT_TRUE(out[kUp] == 0 && !std::signbit(out[kUp]));
  EXPECT_EQ(out[4 + kNearest], INFINITY);
  EXPECT_EQ(out[4 + kTowardZero], kLargest);
  EXPECT_EQ(out[4 + kUp], INFINITY);
  EXPECT_EQ(out[4 + kDown], kLargest);
  EXPECT_EQ(out[8 + kUp], -kLargest);
  EXPECT_EQ(out[8 + kDown], -INFINITY);
  // What comes after is rounded to nearest again.
  ASSERT_TRUE(is_ok(run_rounded(kStream, Operation::divide, 1, std::array{1.0f, 3.0f, 0.0f}.data(), out)));
  volatile float one = 1;
  EXPECT_EQ(one / 3, out[kNearest]);
}

template <class From, class To>
void expect_conversions_rounded() {
  use(kSchedules[0]);
  std::mt19937_64 random(3);
  std::vector<From> in(kCases);
  for (From& value : in) {
    if constexpr (std::is_integral_v<From>) {
      value = static_cast<From>(random() >> random() % 64);
    } else {
      value = draw<From>(random, 60);
    }
  }
  in[0] = std::numeric_limits<From>::max();
  std::vector<To> out(kRoundings * kCases);
  ASSERT_TRUE(is_ok(run_rounded_conversion(kStream, kCases, in.data(), out.data())));
  for (unsigned i = std::is_integral_v<From> ? 0 : 1; i < kCases; ++i) {
    ASSERT_NO_FATAL_FAILURE(expect_rounded(&out[4 * i], [&](To r) {
      const Wide difference = Wide(in[i]) - r;
      return difference > 0 ? 1 : (difference < 0 ? -1 : 0);
    })) << in[i];
  }
}

TEST(RoundedConversions, AreTheNeighboursOfTheExactValue) {
  expect_conversions_rounded<double, float>();
  expect_conversions_rounded<int, float>();
  expect_conversions_rounded<unsigned, float>();
  expect_conversions_rounded<long long, float>();
  expect_conversions_rounded<unsigned long long, float>();
  expect_conversions_rounded<long long, double>();
  expect_conversions_rounded<unsigned long long, double>();
}

template <class Storage>
void expect_rounded_to_16(bool to_bfloat16) {
  use(kSchedules[0]);
  std::mt19937_64 random(5);
  std::vector<float> in(kCases);
  for (float& value : in) value = draw<float>(random, 44);  // subnormal halves, and beyond the largest one
  in[0] = 1.5f;
  in[1] = 0x1p-80f;
  in[2] = -0x1p-80f;
  std::vector<std::uint16_t> bits(std::size_t{kRoundings} * kCases);
  ASSERT_TRUE(is_ok(run_rounded_to_16(kStream, to_bfloat16, kCases, in.data(), bits.data())));
  for (unsigned i = 0; i < kCases; ++i) {
    const auto value = [&](unsigned rounding) { return to_float(Storage{bits[4 * i + rounding]}); };
    const auto neighbour = [&](unsigned rounding, int step) {
      return to_float(Storage{static_cast<std::uint16_t>(bits[4 * i + rounding] + step)});
    };
    ASSERT_LE(value(kDown), in[i]);
    ASSERT_GE(value(kUp), in[i]);
    if (value(kUp) != in[i]) {
      // The bits of a magnitude are in order: one step from one bound is the other; zero has two signs.
      ASSERT_EQ(neighbour(kDown, in[i] > 0 ? 1 : -1), value(kUp)) << in[i];
      ASSERT_LT(value(kDown), in[i]);
    }
    ASSERT_EQ(bits[4 * i + kTowardZero], bits[4 * i + (in[i] > 0 ? kDown : kUp)]);
    ASSERT_TRUE(value(kNearest) == value(kUp) || value(kNearest) == value(kDown));
  }
}

TEST(RoundedConversions, ToHalfAndBfloat16AreNeighbours) {
  expect_rounded_to_16<Float16>(false);
  expect_rounded_to_16<BFloat16>(true);
}

TEST(Packed, PartsDoNotTouchEachOther) {
  use(kSchedules[0]);
  struct Case {
    unsigned words[2];
    std::array<unsigned, kPackedResults> expected;
  };
  // Two 16-bit parts and four 8-bit parts of every function, in the order of the kernel.
  const Case cases[] = {
      {{0x7f80ff01u, 0x01ff0180u},
       {0x817f0081u, 0x807f0081u, 0x7fff0081u, 0x7f800081u, 0x817fffffu, 0x80ffff81u, 0x7d81fd81u,
        0x7e81fe81u, 0x7d81fd81u, 0x7e81fe7fu, 0x7d81fd81u, 0x7e00fe00u, 0x7f8000ffu, 0x7f800101u,
        0x7f8000ffu, 0x7f7f0101u, 0x808000ffu, 0x818001ffu, 0x808000ffu, 0x817f01ffu, 0x7d81027fu,
        0x7e7f0281u, 0x7d81fd81u, 0x7e7ffe7fu, 0x40c00041u, 0x40bf00c0u, 0x40c08041u, 0x40c08041u,
        0x40bf8040u, 0x40bf8040u, 0x7f800180u, 0x7fff0101u, 0x7f80ff01u, 0x7fffff80u, 0x01ffff01u,
        0x0180ff80u, 0x01ff0180u, 0x01800101u, 0x00000000u, 0x00000000u, 0xffffffffu, 0xffffffffu,
        0xffff0000u, 0xff0000ffu, 0xffffffffu, 0xff00ff00u, 0xffff0000u, 0xff0000ffu, 0xffffffffu,
        0xff00ff00u, 0x0000ffffu, 0x00ffff00u, 0x00000000u, 0x00ff00ffu, 0x0000ffffu, 0x00ffff00u,
        0x00000000u, 0x00ff00ffu, 0x00000000u, 0x00000000u, 0x00010001u, 0x01010101u, 0x00010000u,
        0x01000001u, 0x00010001u, 0x01000100u, 0x00010000u, 0x01000001u, 0x00010001u, 0x01000100u,
        0x00000001u, 0x00010100u, 0x00000000u, 0x00010001u, 0x00000001u, 0x00010100u, 0x00000000u,
        0x00010001u, 0x00008000u, 0x00000180u, 0x00017b02u, 0x0000027au}},
      {{0x80008081u, 0x7fff8080u},
       {0xffff0101u, 0xffff0001u, 0xffff8000u, 0xffff8080u, 0xffffffffu, 0xffffffffu, 0x00010001u,
        0x01010001u, 0x80000001u, 0x80010001u, 0x00010001u, 0x01000001u, 0x80007f7fu, 0x8000807fu,
        0x7fff7f7fu, 0x7f007f7fu, 0x80007f7fu, 0x8000807fu, 0x7fff7f7fu, 0x7f007f7fu, 0xffff0001u,
        0xff010001u, 0x00010001u, 0x01ff0001u, 0xffff8080u, 0xffff8080u, 0x80008081u, 0x80808081u,
        0x7fff8080u, 0x7f7f8080u, 0x7fff8081u, 0x7f008081u, 0x80008081u, 0x80ff8081u, 0x80008080u,
        0x80ff8080u, 0x7fff8080u, 0x7f008080u, 0x00000000u, 0x0000ff00u, 0xffffffffu, 0xffff00ffu,
        0x0000ffffu, 0x00ffffffu, 0xffffffffu, 0xff00ffffu, 0x0000ffffu, 0x00ff00ffu, 0xffffffffu,
        0xff0000ffu, 0xffff0000u, 0xff00ff00u, 0x00000000u, 0x00ffff00u, 0xffff0000u, 0xff000000u,
        0x00000000u, 0x00ff0000u, 0x00000000u, 0x00000100u, 0x00010001u, 0x01010001u, 0x00000001u,
        0x00010101u, 0x00010001u, 0x01000101u, 0x00000001u, 0x00010001u, 0x00010001u, 0x01000001u,
        0x00010000u, 0x01000100u, 0x00000000u, 0x00010100u, 0x00010000u, 0x01000000u, 0x00000000u,
        0x00010000u, 0x00010000u, 0x00000101u, 0x00000002u, 0x00000101u}},
  };
  for (const Case& c : cases) {
    std::array<unsigned, kPackedResults> results{};
    ASSERT_TRUE(is_ok(run_packed(kStream, c.words, results.data())));
    for (unsigned i = 0; i < kPackedResults; ++i) {
      EXPECT_EQ(results[i], c.expected[i])
          << "function " << i / 2 << (i % 2 == 0 ? ", 2 parts" : ", 4 parts");
    }
  }
}

TEST(Integers, AreCudas) {
  use(kSchedules[0]);
  const int in[] = {-7, 2147483647, static_cast<int>(0x80000011u)};
  Integers n{};
  ASSERT_TRUE(is_ok(run_integers(kStream, in, &n)));
  EXPECT_EQ(n.hadd, -5);  // -4.5, rounded down
  EXPECT_EQ(n.rhadd, 2147483647);
  EXPECT_EQ(n.uhadd, 0xc0000008u);
  EXPECT_EQ(n.urhadd, 0xc0000008u);
  EXPECT_EQ(n.dp2a_lo, 10 + 3 * -7 + -2 * -1);
  EXPECT_EQ(n.dp2a_hi, -7 + 3 * -128 + -2 * 5);
  EXPECT_EQ(n.dp2a_hi_unsigned, 0x80000011u + 3 * 0x80 + 0xfffeu * 5);
  EXPECT_EQ(n.smaller, 5u);
  EXPECT_EQ(n.larger, 0x80000011u);
  EXPECT_EQ(n.ll_smaller, -7);
  EXPECT_EQ(n.ll_larger, 1ll << 40);
  EXPECT_EQ(n.ull_smaller, 0x80000011u);
  EXPECT_EQ(n.ull_larger, 1ull << 63);
  EXPECT_EQ(n.found[0], 4u);
  EXPECT_EQ(n.found[1], 0u);
  EXPECT_EQ(n.found[2], 31u);
  EXPECT_EQ(n.found[3], 0xffffffffu);
  EXPECT_EQ(n.found[4], 0xffffffffu);
  EXPECT_EQ(n.half_to_int_rz, -3);
  EXPECT_EQ(n.half_to_int_ru, 4);
  EXPECT_EQ(n.half_sum, -7.0f);
}

TEST(Specials, AreTheFunctionsTheyAreNamedFor) {
  use(kSchedules[0]);
  const float in[] = {2.0f, 1e37f};
  Specials n{};
  ASSERT_TRUE(is_ok(run_specials(kStream, in, &n)));
  EXPECT_FLOAT_EQ(n.norm3, 7e37f);
  EXPECT_FLOAT_EQ(n.rnorm3, 1.0f / 7);
  EXPECT_FLOAT_EQ(n.norm4, 9.0f);
  EXPECT_FLOAT_EQ(n.rhypot, 0.1f);
  EXPECT_FLOAT_EQ(n.sine_pi, 0.5f);
  EXPECT_FLOAT_EQ(n.cosine_pi, 0.866025404f);
  EXPECT_FLOAT_EQ(n.sine, 0.909297427f);
  EXPECT_FLOAT_EQ(n.cosine, -0.416146837f);
  EXPECT_FLOAT_EQ(n.erfcx_small, 0.255395676f);
  EXPECT_FLOAT_EQ(n.erfcx_large, 0.00564161378f);
  EXPECT_FLOAT_EQ(n.quantile, 1.95996398f);
  EXPECT_FLOAT_EQ(n.quantile_tail, -6.36134090f);
  EXPECT_FLOAT_EQ(n.erf_inverse, 0.225312055f);
  EXPECT_FLOAT_EQ(n.erfc_inverse, 2.32675377f);
  EXPECT_DOUBLE_EQ(n.sine_double, M_SQRT1_2);  // 2e9 + 1/4: whole turns change nothing
  EXPECT_DOUBLE_EQ(n.cosine_double, M_SQRT1_2);
  EXPECT_DOUBLE_EQ(n.norm3_double, 1e200 * std::sqrt(16.0 + 36.0 + 144.0));
  EXPECT_DOUBLE_EQ(n.quantile_double, -2.3263478740408408);
  EXPECT_DOUBLE_EQ(n.erfc_inverse_double, 2.3267537655135246);
}

}  // namespace
}  // namespace rooftile::sim_testing
