#include "rooftile/core/philox.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace rooftile {
namespace {

struct KnownAnswer {
  PhiloxCounter counter;
  PhiloxKey key;
  PhiloxCounter result;
};

// The vectors of Random123 (kat_vectors, philox4x32 with 10 rounds).
constexpr std::array<KnownAnswer, 3> kKnownAnswers = {{
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
}};

TEST(Philox, GivesTheKnownAnswers) {
  for (const KnownAnswer& known : kKnownAnswers) {
    const PhiloxCounter result = philox4x32_10(known.counter, known.key);
    EXPECT_EQ(result.x, known.result.x);
    EXPECT_EQ(result.y, known.result.y);
    EXPECT_EQ(result.z, known.result.z);
    EXPECT_EQ(result.w, known.result.w);
  }
}

TEST(Philox, IsUsableInConstantExpressions) {
  static_assert(philox4x32_10({0, 0, 0, 0}, {0, 0}).x == 0x6627e8d5u);
}

TEST(Philox, CounterAndKeyKeepAllBits) {
  const PhiloxCounter counter = philox_counter(0x1122334455667788u, 0x99aabbccddeeff00u);
  EXPECT_EQ(counter.x, 0x55667788u);
  EXPECT_EQ(counter.y, 0x11223344u);
  EXPECT_EQ(counter.z, 0xddeeff00u);
  EXPECT_EQ(counter.w, 0x99aabbccu);
  const PhiloxKey key = philox_key(0x0123456789abcdefu);
  EXPECT_EQ(key.x, 0x89abcdefu);
  EXPECT_EQ(key.y, 0x01234567u);
}

TEST(Philox, UnitFloatsStayBelowOne) {
  EXPECT_EQ(philox_unit_float(0), 0.0f);
  EXPECT_EQ(philox_unit_float(0xffu), 0.0f);
  EXPECT_EQ(philox_unit_float(0x100u), 0x1p-24f);
  EXPECT_EQ(philox_unit_float(0x80000000u), 0.5f);
  EXPECT_LT(philox_unit_float(0xffffffffu), 1.0f);
}

}  // namespace
}  // namespace rooftile
