// The compute bound on a GPU: its rates are a GPU's, and its time is that of the operations that were asked for.
#include <gtest/gtest.h>

#include "rooftile/lab/ladder/ladder.h"
#include "rooftile/lab/time/ceilings.h"
#include "rooftile/lab/time/compute_bound.h"
#include "rooftile/lab/time/gpu_clock.h"
#include "rooftile/lab/time/timing.h"
#include "tests/lab/kinds/kinds.h"

namespace rooftile::lab::test {
namespace {

class CudaBound : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_availability().ok()) GTEST_SKIP() << cuda_availability();
    device_ = *device_properties(cuda_device(0)).value();
  }

  DeviceProperties device_;
};

// No rate above the datasheet's at the highest clock, and none far below; twice the operations take twice the time.
TEST_F(CudaBound, RatesAreThoseOfTheUnit) {
  const Stream stream = Stream::create(cuda_device(0)).value();
  const double clock = rated_sm_clock_mhz(cuda_device(0)).value();
  for (const FlopUnit unit :
       {FlopUnit::fma_f32, FlopUnit::fma_f64, FlopUnit::tensor_bf16, FlopUnit::tensor_f16,
        FlopUnit::tensor_tf32, FlopUnit::tensor_f8e4m3, FlopUnit::tensor_f64}) {
    const Result<Arithmetic> arithmetic = fastest_arithmetic(unit, device_);
    if (!arithmetic.ok()) continue;
    const bool is_fma = unit == FlopUnit::fma_f32 || unit == FlopUnit::fma_f64;
    const double peak =
        is_fma ? datasheet_fma_tflops(device_.compute_capability, device_.multiprocessors, clock, *arithmetic)
               : datasheet_tensor_tflops(device_.compute_capability, device_.multiprocessors, *arithmetic);
    const ComputeBound once = ComputeBound::create(stream.ref(), device_, unit, 2e11).value();
    const ComputeBound twice = ComputeBound::create(stream.ref(), device_, unit, 4e11).value();
    EXPECT_NEAR(once.flops(), 2e11, 2e9) << to_string(unit);
    const std::vector<TimeSeries> series =
        time_interleaved(
            stream.ref(), device_,
            {{[&] { return once.launch(stream.ref()); }}, {[&] { return twice.launch(stream.ref()); }}},
            {.mode = TimeMode::sustained, .first_look = 20, .max_rounds = 20}, nullptr, nullptr)
            .value();
    const double us = quantile(series[0].samples_us, 0.5);
    EXPECT_NEAR(quantile(series[1].samples_us, 0.5) / us, 2.0, 0.15) << to_string(unit);
    if (peak > 0) {
      EXPECT_LT(once.flops() / us * 1e-6, 1.02 * peak) << to_string(unit);
      EXPECT_GT(once.flops() / us * 1e-6, 0.5 * peak) << to_string(unit);
    }
  }
}

// A product of matrices that are large enough is bound by its operations, a small one by its bytes.
TEST_F(CudaBound, TheSlowerOfBothIsTheBoundOfTheCase) {
  Kind kind = product_kind();
  Registry registry;
  registry.add(*kind.op);
  registry.add(kind.cases);
  const auto bound_of = [&](const char* extent) {
    LadderOptions options;
    options.devices = {cuda_device(0)};
    options.rungs = {"right_gpu"};
    options.modes = {TimeMode::sustained};
    options.timing.first_look = options.timing.max_rounds = 10;
    options.request.shape = {{"m", extent}, {"n", extent}, {"k", extent}};
    const Result<LadderReport> report = run_ladder(registry, *kind.op, options);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? report->results[0].rows.back() : LadderRow{};
  };
  const LadderRow large = bound_of("2048");
  EXPECT_EQ(large.rung, "compute_bound");
  EXPECT_EQ(large.variant, "fma_f32");
  EXPECT_GT(large.tflops, 10.0);
  EXPECT_EQ(bound_of("16").rung, "streaming_bound");
}

}  // namespace
}  // namespace rooftile::lab::test
