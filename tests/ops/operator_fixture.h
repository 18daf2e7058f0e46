// What tests of an operator's own share: every device that is usable here, a Context of it, and tensors there.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/core/host_tensor.h"
#include "rooftile/core/operator.h"

namespace rooftile {

inline std::vector<Device> usable_devices() {
  std::vector<Device> devices = {kCpu, kSim};
  if (cuda_device_count() > 0) devices.push_back(cuda_device(0));
  return devices;
}

inline std::string device_name(const ::testing::TestParamInfo<Device>& test) {
  return test.param.kind == DeviceKind::cuda ? std::string("cuda") : to_string(test.param);
}

class OnEveryDevice : public ::testing::TestWithParam<Device> {
 protected:
  void SetUp() override {
    Result<Context> created = Context::create(GetParam());
    ASSERT_TRUE(created.ok()) << created.status().message();
    context_.emplace(std::move(*created));
  }
  Context& context() { return *context_; }

  // Of f32, value(i) for each element in its order.
  template <class Value>
  Tensor tensor(const Extents& shape, Value value) {
    HostTensor host = HostTensor::create(DType::f32, shape).value();
    for (std::int64_t i = 0; i < host.numel(); ++i) host.set(i, static_cast<double>(value(i)));
    return Tensor::from(context(), host.view()).value();
  }

  // By every rung of `op` that serves the call, `least` of them at least; expect(id) looks at the outputs.
  template <class Args, class Expect>
  void for_every_rung(const OperatorDescriptor& op, const Args& args, int least, Expect expect) {
    int rungs = 0;
    for (const RungRow& rung : op.rungs) {
      if (!unsupported_reason(rung, ArgsRef::of(args), context().properties()).empty()) continue;
      ++rungs;
      const Status status = run_rung(op, rung, context(), AnyArgs::of(args));
      ASSERT_TRUE(status.ok()) << rung.id << ": " << status.message();
      expect(rung.id);
    }
    EXPECT_GE(rungs, least);
  }

  // Of an operator of rows, whose call with x and y args_of(x, y) makes: one NaN, at either end of a row or inside, makes that row NaN
  // and changes no bit of another; in short rows, in long ones, and in more than groups of blocks have at once.
  template <class ArgsOf>
  void expect_a_nan_stays_in_its_row(const OperatorDescriptor& op, ArgsOf args_of) {
    constexpr std::int64_t kRows = 40;
    constexpr std::int64_t kHit = 17;
    constexpr float kPlanted = std::numeric_limits<float>::quiet_NaN();
    const auto element = [](std::int64_t i) { return static_cast<float>((i * 37) % 101) / 50.0f - 1.0f; };
    for (const std::int64_t columns : {37, 1500, 8192}) {
      const Tensor clean = tensor({kRows, columns}, element);
      for (const std::int64_t place : {std::int64_t{0}, columns / 2, columns - 1}) {
        const Tensor hit = tensor({kRows, columns}, [&](std::int64_t i) {
          return i == kHit * columns + place ? kPlanted : element(i);
        });
        Tensor y = tensor({kRows, columns}, [](std::int64_t) { return 9.0f; });
        for_every_rung(op, args_of(clean, y), 2, [&](const std::string& rung) {
          const std::vector<float> expected = y.to_vector<float>().value();
          ASSERT_TRUE(run_rung(op, *op.find_rung(rung), context(), AnyArgs::of(args_of(hit, y))).ok());
          const std::vector<float> all = y.to_vector<float>().value();
          for (std::size_t i = 0; i < all.size(); ++i) {
            if (static_cast<std::int64_t>(i) / columns == kHit)
              ASSERT_TRUE(std::isnan(all[i])) << rung << " " << columns << " " << i;
            else
              ASSERT_EQ(all[i], expected[i]) << rung << " " << columns << " " << place << " " << i;
          }
        });
      }
    }
  }

 private:
  std::optional<Context> context_;
};

}  // namespace rooftile
