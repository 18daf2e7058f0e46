// What is special to rope: both forms against the definition, the way back, packed tensors, and what it refuses, on every device that is
// usable here. The cases themselves run through the lab.
#include "rooftile/ops/rope/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/operator.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Without a period that heads could have in common; between -3 and 3.
float number_at(std::int64_t i) { return static_cast<float>(i * i / 3 % 97) / 16.0f - 3.0f; }

class RopeTest : public OnEveryDevice {
 protected:
  std::string refusal(const RopeArgs& args) {
    const Status status = rope(context(), args);
    return status.ok() ? "accepted" : std::string(status.rule());
  }
};

// Position 0 leaves everything as it is; pair 0 turns by one radian a step.
TEST_P(RopeTest, TurnsPairsByTheirPositions) {
  for (const RopeForm form : {RopeForm::half, RopeForm::interleaved}) {
    const std::vector<float> head = {1, 2, 3, 4, 5, 6, 7, 8};
    const Tensor q =
        tensor({1, 3, 1, 8}, [&](std::int64_t i) { return head[static_cast<std::size_t>(i % 8)]; });
    Tensor out = tensor({1, 3, 1, 8}, [](std::int64_t) { return kNan; });
    const RopeArgs args{.q = q, .q_out = out, .form = form};
    for_every_rung(rope_operator(), args, 2, [&](const std::string& rung) {
      const std::vector<float> all = out.to_vector<float>().value();
      for (std::size_t token = 0; token < 3; ++token) {
        for (std::size_t i = 0; i < 4; ++i) {
          const std::size_t a = form == RopeForm::half ? i : 2 * i;
          const std::size_t b = form == RopeForm::half ? i + 4 : 2 * i + 1;
          const double angle = static_cast<double>(token) * std::pow(10000.0, -static_cast<double>(i) / 4);
          EXPECT_NEAR(all[token * 8 + a], head[a] * std::cos(angle) - head[b] * std::sin(angle), 2e-6)
              << rung;
          EXPECT_NEAR(all[token * 8 + b], head[b] * std::cos(angle) + head[a] * std::sin(angle), 2e-6)
              << rung;
        }
      }
    });
  }
}

// The inverse is the transpose: what a gradient goes through on its way back.
TEST_P(RopeTest, TheInverseTurnsBack) {
  const Tensor q = tensor({2, 5, 3, 64}, number_at);
  Tensor there = tensor({2, 5, 3, 64}, [](std::int64_t) { return kNan; });
  const RopeArgs args{.q = q, .q_out = there, .rotary = 48};
  for_every_rung(rope_operator(), args, 2, [&](const std::string& rung) {
    const RopeArgs back{.q = there, .q_out = there, .rotary = 48, .inverse = true};
    const RungRow* row = rope_operator().find_rung(rung);
    ASSERT_TRUE(run_rung(rope_operator(), *row, context(), AnyArgs::of(back)).ok());
    const std::vector<float> all = there.to_vector<float>().value();
    for (std::size_t i = 0; i < all.size(); ++i)
      ASSERT_NEAR(all[i], number_at(static_cast<std::int64_t>(i)), 2e-6) << rung << " " << i;
  });
}

// q and k as they come out of one product, [b, s, heads of q + of k + of v, d], turned in place; v stays.
TEST_P(RopeTest, PackedHeadsAreTurnedInPlace) {
  constexpr std::int64_t kQ = 4;
  constexpr std::int64_t kK = 2;
  constexpr std::int64_t kAll = kQ + 2 * kK;
  constexpr std::int64_t kWidth = 16;
  const Tensor before = tensor({2, 3, kAll, kWidth}, number_at);
  Tensor q_alone = tensor({2, 3, kQ, kWidth}, [](std::int64_t) { return kNan; });
  Tensor k_alone = tensor({2, 3, kK, kWidth}, [](std::int64_t) { return kNan; });
  const ConstTensorView all = std::as_const(before).view();
  ASSERT_TRUE(
      rope(context(),
           {.q = all.slice(2, 0, kQ), .k = all.slice(2, kQ, kQ + kK), .q_out = q_alone, .k_out = k_alone})
          .ok());
  for (const RungRow& rung : rope_operator().rungs) {
    Tensor packed = tensor({2, 3, kAll, kWidth}, number_at);
    const TensorView q = packed.view().slice(2, 0, kQ);
    const TensorView k = packed.view().slice(2, kQ, kQ + kK);
    const RopeArgs args{.q = q, .k = k, .q_out = q, .k_out = k};
    if (!unsupported_reason(rung, ArgsRef::of(args), context().properties()).empty()) continue;
    ASSERT_TRUE(run_rung(rope_operator(), rung, context(), AnyArgs::of(args)).ok()) << rung.id;
    const std::vector<float> result = packed.to_vector<float>().value();
    const std::vector<float> of_q = q_alone.to_vector<float>().value();
    const std::vector<float> of_k = k_alone.to_vector<float>().value();
    for (std::size_t token = 0; token < 6; ++token) {
      for (std::size_t h = 0; h < kAll; ++h) {
        for (std::size_t e = 0; e < kWidth; ++e) {
          const std::size_t at = (token * kAll + h) * kWidth + e;
          const float expected = h < kQ        ? of_q[(token * kQ + h) * kWidth + e]
                                 : h < kQ + kK ? of_k[(token * kK + h - kQ) * kWidth + e]
                                               : number_at(static_cast<std::int64_t>(at));
          ASSERT_NEAR(result[at], expected, 1e-6) << rung.id << " " << at;
        }
      }
    }
  }
}

TEST_P(RopeTest, WithoutKThereIsNothingOfIt) {
  const auto result = rope(context(), tensor({1, 2, 3, 8}, number_at));
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ((*result)[1].view().numel(), 0);
}

TEST_P(RopeTest, RefusesWhatItCannotServe) {
  const Tensor q = tensor({2, 3, 4, 7}, number_at);
  const Tensor even = tensor({2, 3, 4, 8}, number_at);
  const Tensor k = tensor({2, 4, 4, 8}, number_at);
  Tensor out = tensor({2, 3, 4, 7}, number_at);
  Tensor wide = tensor({2, 3, 4, 8}, number_at);
  Tensor k_out = tensor({2, 4, 4, 8}, number_at);
  EXPECT_EQ(refusal({.q = q, .q_out = out}),
            "rotary is 7: it must be even, and at most the head's 7 elements");
  EXPECT_EQ(refusal({.q = even, .q_out = wide, .rotary = 10}),
            "rotary is 10: it must be even, and at most the head's 8 elements");
  EXPECT_EQ(refusal({.q = even, .k = k, .q_out = wide, .k_out = k_out}),
            "k must have the batches, tokens and head width of q: [2,3,4,8]");
  EXPECT_NE(refusal({.q = even, .positions = k, .q_out = wide}), "accepted");
  EXPECT_NE(refusal({.q = even, .q_out = wide, .base = -1}), "accepted");
  EXPECT_EQ(refusal({.q = even,
                     .q_out = wide,
                     .scaling = RopeScaling::llama3,
                     .low_frequency = 4,
                     .high_frequency = 4}),
            "low_frequency must be below high_frequency");
}

INSTANTIATE_TEST_SUITE_P(Devices, RopeTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
