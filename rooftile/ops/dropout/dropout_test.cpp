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

#include "rooftile/core/host_tensor.h"
#include "rooftile/core/operator.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float one(std::int64_t) { return 1; }
// Without a period that rows could have in common; between -3 and 3, and never 0.
float number(std::int64_t i) { return static_cast<float>(i * i / 3 % 97) / 16.0f - 3.03125f; }

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

// Bytes of a mask, wherever it begins: what stands around it stays.
TEST_P(DropoutTest, AMaskMayBeginAnywhere) {
  constexpr std::int64_t kCount = 1003;
  constexpr std::int64_t kRoom = kCount + 16;
  const std::vector<float> expected = dropped(kCount, {.seed = 9});
  const std::vector<std::uint8_t> poison(kRoom, 0xAA);
  for (const DType dtype : {DType::f32, DType::bf16}) {
    HostTensor ones = HostTensor::create(dtype, {kCount}).value();
    for (std::int64_t i = 0; i < kCount; ++i) ones.set(i, 1);
    const Tensor x = Tensor::from(context(), ones.view()).value();
    Tensor y = Tensor::from(context(), ones.view()).value();
    for (const std::int64_t from : {0, 1, 2, 4, 8}) {
      Tensor room = Tensor::from(context(), view(poison, {kRoom})).value();
      const DropoutArgs args{.x = x,
                             .y = y,
                             .mask = room.view().slice(0, from, from + kCount),
                             .form = MaskForm::bytes,
                             .seed = 9};
      for_every_rung(dropout_operator(), args, 2, [&](const std::string& rung) {
        const std::vector<std::uint8_t> mask = room.to_vector<std::uint8_t>().value();
        for (std::int64_t i = 0; i < kRoom; ++i) {
          const std::int64_t place = i - from;
          const bool is_mask = place >= 0 && place < kCount;
          const int kept = is_mask && expected[static_cast<std::size_t>(place)] != 0 ? 1 : 0;
          ASSERT_EQ(mask[static_cast<std::size_t>(i)], is_mask ? kept : 0xAA)
              << rung << " " << to_string(dtype) << " " << from << " " << i;
        }
        ASSERT_TRUE(
            copy(context().stream(), room.data(), GetParam(), poison.data(), kCpu, poison.size()).ok());
      });
    }
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

// [2, 3, n] out of larger tensors, x at two strides, residual with one row for all, y with gaps between elements or none: as their copies
// without gaps, with every mask, the mask of bits across rows, too.
TEST_P(DropoutTest, RowsMayLieAnywhere) {
  struct Layout {
    std::int64_t columns, x_from, y_step;
  };
  for (const Layout& at :
       {Layout{40, 3, 1}, Layout{40, 4, 1}, Layout{37, 4, 1}, Layout{33, 1, 2}, Layout{1, 0, 1}}) {
    const std::int64_t n = at.columns;
    const Tensor room = tensor({2, 5, n + 8}, number);
    const Tensor behind = tensor({n}, [](std::int64_t j) { return 0.5f + static_cast<float>(j % 3); });
    const Tensor bias = tensor({n}, [](std::int64_t j) { return static_cast<float>(j % 7) - 3; });
    const ConstTensorView x = std::as_const(room).view().slice(1, 1, 4).slice(2, at.x_from, at.x_from + n);
    const Tensor x_copy = tensor({2, 3, n}, [&](std::int64_t i) {
      return number((i / n / 3 * 5 + i / n % 3 + 1) * (n + 8) + at.x_from + i % n);
    });
    const Tensor behind_copy =
        tensor({2, 3, n}, [&](std::int64_t i) { return 0.5f + static_cast<float>(i % n % 3); });
    for (const MaskForm form : {MaskForm::none, MaskForm::bytes, MaskForm::bits}) {
      const DropoutArgs options{.p = 0.4, .form = form, .seed = 5};
      DropoutArgs dense = options;
      dense.bias = bias;
      dense.residual = behind_copy;
      const auto expected = dropout(context(), x_copy, dense);
      ASSERT_TRUE(expected.ok()) << expected.status().message();
      const std::vector<float> values = (*expected)[0].to_vector<float>().value();
      const std::vector<std::uint8_t> kept = (*expected)[1].to_vector<std::uint8_t>().value();
      Tensor out = tensor({2, 4, n * at.y_step + 1}, [](std::int64_t) { return kNan; });
      const std::vector<std::uint8_t> poison(kept.size(), 0xAA);
      Tensor mask = Tensor::from(context(), view(poison, (*expected)[1].shape())).value();
      DropoutArgs args = options;
      args.x = x;
      args.bias = bias;
      args.residual = std::as_const(behind).view().expand({2, 3, n});
      args.y = out.view().slice(1, 0, 3).slice(2, 0, n * at.y_step, at.y_step);
      if (form != MaskForm::none) args.mask = mask;
      for_every_rung(
          dropout_operator(), args, GetParam().kind == DeviceKind::cpu ? 2 : 1, [&](const std::string& rung) {
            const std::vector<float> all = out.to_vector<float>().value();
            std::size_t nans = 0;
            for (const float value : all) nans += std::isnan(value) ? 1u : 0u;
            EXPECT_EQ(nans, all.size() - values.size()) << rung;
            for (std::size_t i = 0; i < values.size(); ++i) {
              const auto row = static_cast<std::int64_t>(i) / n;
              const std::int64_t place = (row / 3 * 4 + row % 3) * (n * at.y_step + 1) +
                                         static_cast<std::int64_t>(i) % n * at.y_step;
              ASSERT_EQ(all[static_cast<std::size_t>(place)], values[i]) << rung << " " << n << " " << i;
            }
            if (form != MaskForm::none) {
              EXPECT_EQ(mask.to_vector<std::uint8_t>().value(), kept) << rung << " " << n;
            }
          });
    }
  }
}

// The same of a tensor in place, of every dtype: elements that gaps hold stay.
TEST_P(DropoutTest, RowsWithGapsInPlace) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const std::int64_t n : {24, 25}) {
      HostTensor ones = HostTensor::create(dtype, {3, 32}).value();
      for (std::int64_t i = 0; i < ones.numel(); ++i) ones.set(i, 1);
      Tensor room = Tensor::from(context(), ones.view()).value();
      const TensorView rows = room.view().slice(1, 0, n);
      ASSERT_TRUE(dropout(context(), {.x = rows, .y = rows, .seed = 8}).ok());
      HostTensor results = HostTensor::create(dtype, {3, 32}).value();
      ASSERT_TRUE(
          copy(context().stream(), results.data(), kCpu, room.data(), GetParam(), results.bytes()).ok());
      ASSERT_TRUE(context().synchronize().ok());
      const std::vector<float> expected = dropped(3 * n, {.seed = 8});
      for (std::int64_t i = 0; i < results.numel(); ++i) {
        const bool is_gap = i % 32 >= n;
        EXPECT_EQ(results.at(i),
                  is_gap ? 1 : static_cast<double>(expected[static_cast<std::size_t>(i / 32 * n + i % 32)]))
            << to_string(dtype) << " " << n << " " << i;
      }
    }
  }
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
  const Tensor room = tensor({6, 9, 7, 8}, one);
  Tensor small = tensor({4, 6, 5, 8}, one);
  EXPECT_NE(
      refusal({.x = std::as_const(room).view().slice(0, 0, 4).slice(1, 0, 6).slice(2, 0, 5), .y = small})
          .find("lie at more than two strides"),
      std::string::npos);
  EXPECT_EQ(refusal({.x = x, .y = y, .replay = true}),
            "replay is of a counter: without one the stream is offset, every time");
}

// What choose() names.
TEST(DropoutTestPlan, ChoosesByWhereTensorsBegin) {
  DeviceProperties gpu = *device_properties(kSim).value();
  gpu.device = cuda_device(0);
  const auto chosen = [&](std::uintptr_t skew, std::int64_t gap) {
    const auto at = [&](std::uintptr_t place) {
      return contiguous_view<void>(reinterpret_cast<void*>(place << 40), DType::f32, gpu.device,
                                   {64, 100 + gap})
          .slice(1, 0, 100);
    };
    DropoutArgs args{.x = at(1), .y = at(2)};
    args.y.data = reinterpret_cast<void*>((std::uintptr_t{2} << 40) + skew);
    return std::string(dropout_operator().choose(ArgsRef::of(args), gpu));
  };
  EXPECT_EQ(chosen(0, 0), "philox_vectorized");
  EXPECT_EQ(chosen(4, 0), "philox_grouped");
  EXPECT_EQ(chosen(0, 28), "strided_rows");
}

INSTANTIATE_TEST_SUITE_P(Devices, DropoutTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
