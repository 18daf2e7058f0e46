// What tests of an operator's own share: every device that is usable here, a Context of it, and tensors there.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
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

 private:
  std::optional<Context> context_;
};

}  // namespace rooftile
