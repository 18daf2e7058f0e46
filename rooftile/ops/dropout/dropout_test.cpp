// What is special to dropout: that only an element's place decides, how many are kept, counters, masks, and what it refuses, on every
// device that is usable here. The cases themselves run through the lab.
#include "rooftile/ops/dropout/dropout.h"

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

float one(std::int64_t) { return 1; }

class DropoutTest : public OnEveryDevice {
 protected:
  std::string refusal(const DropoutArgs& args) {
    const Status status = dropout(context(), args);
    return status.ok() ? "accepted" : std::string(status.rule());
  }
  // Of ones, by the rung that is chosen: 0 and 1 / (1 - p).
  std::vector<float> dropped(std::int64_t n, DropoutArgs options) {
    const auto result = dropout(context(), tensor({n}, one), options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return (*result)[0].to_vector<float>().value();
  }
};

// A longer tensor begins with what a shorter one is; every rung and every device has the same elements.
TEST_P(DropoutTest, OnlyThePlaceDecides) {
  const std::vector<float> all = dropped(5000, {.seed = 11});
  for (const std::int64_t n : {1, 7, 1023, 4096}) {
    const std::vector<float> part = dropped(n, {.seed = 11});
    EXPECT_EQ(part, std::vector<float>(all.begin(), all.begin() + n)) << n;
  }
  const Tensor x = tensor({5000}, one);
  Tensor y = tensor({5000}, [](std::int64_t) { return kNan; });
  for_every_rung(dropout_operator(), DropoutArgs{.x = x, .y = y, .seed = 11}, 2,
                 [&](const std::string& rung) { EXPECT_EQ(y.to_vector<float>().value(), all) << rung; });
  Result<Context> host = Context::create(kCpu);
  ASSERT_TRUE(host.ok());
  const std::vector<float> ones(5000, 1.0f);
  const Tensor there = Tensor::from(*host, rooftile::view(ones, {5000})).value();
  EXPECT_EQ((*dropout(*host, there, {.seed = 11}))[0].to_vector<float>().value(), all);
}

// The words of Philox4x32-10 of counter 0 and key 0 as its authors publish them: an element whose word is p * 2^32 or more is kept.
TEST_P(DropoutTest, KeepsByThePublishedWords) {
  constexpr double kWords[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  const Tensor x = tensor({4}, one);
  Tensor y = tensor({4}, [](std::int64_t) { return kNan; });
  for (const double p : {0.2, 0.5, 0.7, 0.9}) {
    for_every_rung(dropout_operator(), DropoutArgs{.x = x, .y = y, .p = p}, 2, [&](const std::string& rung) {
      const std::vector<float> all = y.to_vector<float>().value();
      for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_EQ(all[i] != 0, kWords[i] >= p * 4294967296.0) << rung << " " << p << " " << i;
    });
  }
}

// Six deviations of a binomial distribution; neighbouring streams and seeds have nothing in common.
TEST_P(DropoutTest, AsManyAreKeptAsPSays) {
  constexpr std::int64_t kCount = 100000;
  for (const double p : {0.1, 0.5, 0.9}) {
    const std::vector<float> first = dropped(kCount, {.p = p, .seed = 5});
    const std::vector<float> next = dropped(kCount, {.p = p, .seed = 5, .offset = 1});
    const std::vector<float> other = dropped(kCount, {.p = p, .seed = 6});
    double kept = 0;
    double with_next = 0;
    double with_other = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_TRUE(first[i] == 0 || std::abs(first[i] - 1 / (1 - p)) < 1e-5);
      kept += first[i] != 0 ? 1 : 0;
      with_next += first[i] != 0 && next[i] != 0 ? 1 : 0;
      with_other += first[i] != 0 && other[i] != 0 ? 1 : 0;
    }
    const auto expect_share = [&](double count, double share) {
      const auto n = static_cast<double>(kCount);
      EXPECT_LT(std::abs(count - share * n), 6 * std::sqrt(n * share * (1 - share))) << p;
    };
    expect_share(kept, 1 - p);
    expect_share(with_next, (1 - p) * (1 - p));
    expect_share(with_other, (1 - p) * (1 - p));
  }
}

// Every call has another stream, and the replay the one before: what forward and backward of a step want.
TEST_P(DropoutTest, ACounterGoesOnAndMayBeReplayed) {
  const std::vector<std::int64_t> start = {40};
  Tensor counter = Tensor::from(context(), view(start, {1})).value();
  const std::vector<float> first = dropped(3000, {.counter = counter, .seed = 3});
  const std::vector<float> second = dropped(3000, {.counter = counter, .seed = 3});
  EXPECT_EQ(counter.to_vector<std::int64_t>().value(), std::vector<std::int64_t>{42});
  EXPECT_EQ(first, dropped(3000, {.seed = 3, .offset = 40}));
  EXPECT_EQ(second, dropped(3000, {.seed = 3, .offset = 41}));
  EXPECT_EQ(second, dropped(3000, {.counter = counter, .seed = 3, .replay = true}));
  EXPECT_EQ(counter.to_vector<std::int64_t>().value(), std::vector<std::int64_t>{42});
}

// Without elements nothing is done: a counter stays.
TEST_P(DropoutTest, AnEmptyTensorLeavesTheCounter) {
  const std::vector<std::int64_t> start = {40};
  const Tensor x = tensor({0, 8}, one);
  Tensor y = tensor({0, 8}, one);
  Tensor counter = Tensor::from(context(), view(start, {1})).value();
  const DropoutArgs args{.x = x, .counter = counter, .y = y};
  for_every_rung(dropout_operator(), args, 2, [&](const std::string& rung) {
    EXPECT_EQ(counter.to_vector<std::int64_t>().value(), start) << rung;
  });
}

// So near to 1 that p * 2^32 is 2^32: no word is that large.
TEST_P(DropoutTest, NothingIsKeptWhereEveryWordIsBelow) {
  EXPECT_EQ(dropped(100, {.p = 1 - 1e-11}), std::vector<float>(100, 0.0f));
}

// A mask of either form is what was kept, and given as `kept` gives the same back.
TEST_P(DropoutTest, MasksAreWhatWasKept) {
  constexpr std::int64_t kCount = 1003;
  for (const MaskForm form : {MaskForm::bytes, MaskForm::bits}) {
    const DropoutArgs options{.p = 0.25, .form = form, .seed = 9};
    auto result = dropout(context(), tensor({kCount}, one), options);
    ASSERT_TRUE(result.ok()) << result.status().message();
    const std::vector<float> y = (*result)[0].to_vector<float>().value();
    const std::vector<std::uint8_t> mask = (*result)[1].to_vector<std::uint8_t>().value();
    for (std::size_t i = 0; i < y.size(); ++i) {
      const int kept = form == MaskForm::bytes ? mask[i] : mask[i / 8] >> (i % 8) & 1;
      ASSERT_EQ(kept, y[i] != 0 ? 1 : 0) << i;
    }
    DropoutArgs again = options;
    again.kept = std::as_const((*result)[1]).view();
    again.seed = 10;
    EXPECT_EQ(dropped(kCount, again), y);
  }
}

// What is left out may have been anything.
TEST_P(DropoutTest, NothingOfWhatIsLeftOutComesThrough) {
  const Tensor x = tensor({300}, [](std::int64_t) { return kNan; });
  Tensor y = tensor({300}, one);
  for_every_rung(dropout_operator(), DropoutArgs{.x = x, .y = y, .p = 1}, 2, [&](const std::string& rung) {
    EXPECT_EQ(y.to_vector<float>().value(), std::vector<float>(300, 0.0f)) << rung;
  });
}

TEST_P(DropoutTest, RefusesWhatItCannotServe) {
  const Tensor x = tensor({4, 6}, one);
  const Tensor bias = tensor({5}, one);
  Tensor y = tensor({4, 6}, one);
  const std::vector<std::uint8_t> bytes(24, 1);
  const Tensor kept = Tensor::from(context(), view(bytes, {24})).value();
  EXPECT_EQ(refusal({.x = x, .bias = bias, .y = y}), "bias must have an element for each column of x");
  EXPECT_NE(refusal({.x = x, .y = y, .p = 1.5}), "accepted");
  EXPECT_NE(refusal({.x = x, .y = y, .p = std::nan("")}), "accepted");
  EXPECT_EQ(refusal({.x = x, .kept = kept, .y = y}),
            "kept needs form: it says whether they are bytes or bits");
  EXPECT_EQ(refusal({.x = x, .kept = kept, .y = y, .form = MaskForm::bytes}),
            "kept must have the shape [4,6], as form says");
  EXPECT_EQ(refusal({.x = x, .y = y, .replay = true}),
            "replay is of a counter: without one the stream is offset, every time");
}

INSTANTIATE_TEST_SUITE_P(Devices, DropoutTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
