// What is special to reduce: its contract at the edges, on every device that is usable here. The cases
// themselves run through the lab.
#include "rooftile/ops/reduce/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <vector>

#include "rooftile/core/detail/fault.h"
#include "rooftile/core/host_tensor.h"
#include "rooftile/core/memory.h"
#include "rooftile/core/operator.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

// A strided view of host elements, moved to a device and reduced there.
struct Layout {
  Extents shape;
  Extents strides;
  std::int64_t first = 0;  // element of the storage that the view starts at
};

class ReduceTest : public OnEveryDevice {
 protected:
  // Reduces `layout` of the storage; `out` comes back with as many elements as the shape says.
  template <class In, class Out>
  Status run(const std::vector<In>& storage, const Layout& layout, std::vector<Out>& out,
             const Extents& out_shape, ReduceOp op, const Axes& axes = {}) {
    const Device device = GetParam();
    const StreamRef stream = context().stream();
    ROOFTILE_TRY_ASSIGN(const DeviceMemory in_memory,
                        DeviceMemory::allocate(device, storage.size() * sizeof(In)));
    ROOFTILE_TRY_ASSIGN(const DeviceMemory out_memory,
                        DeviceMemory::allocate(device, out.size() * sizeof(Out)));
    ROOFTILE_TRY(copy(stream, in_memory.data(), device, storage.data(), kCpu, storage.size() * sizeof(In)));
    ROOFTILE_TRY(copy(stream, out_memory.data(), device, out.data(), kCpu, out.size() * sizeof(Out)));
    const void* data =
        in_memory.data() == nullptr ? nullptr : static_cast<const In*>(in_memory.data()) + layout.first;
    const ReduceArgs args{.in = {data, dtype_of<In>, device, layout.shape, layout.strides},
                          .out = view(static_cast<Out*>(out_memory.data()), out_shape, device),
                          .op = op,
                          .axes = axes};
    const Status status = reduce(context(), args);
    ROOFTILE_TRY(copy(stream, out.data(), kCpu, out_memory.data(), device, out.size() * sizeof(Out)));
    ROOFTILE_TRY(context().check());
    return status;
  }

  template <class In, class Out>
  Status run_all(const std::vector<In>& in, Out& out, ReduceOp op) {
    std::vector<Out> result = {out};
    const Extents shape{static_cast<std::int64_t>(in.size())};
    const Status status = run(in, {shape, contiguous_strides(shape)}, result, Extents{}, op);
    out = result[0];
    return status;
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, ReduceTest, ::testing::ValuesIn(usable_devices()), device_name);

TEST_P(ReduceTest, SumOfNothingIsZero) {
  float out = 7.0f;
  ASSERT_TRUE(run_all(std::vector<float>{}, out, ReduceOp::sum).ok());
  EXPECT_EQ(out, 0.0f);
}

TEST_P(ReduceTest, WhatHasNoValueForNothingIsAnErrorThatSaysSo) {
  for (const ReduceOp op : {ReduceOp::mean, ReduceOp::min, ReduceOp::max}) {
    float out = 7.0f;
    const Status status = run_all(std::vector<float>{}, out, op);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_NE(status.message().find("of an empty input has no value: give at least one element"),
              std::string::npos);
    EXPECT_EQ(out, 7.0f);
  }
}

TEST_P(ReduceTest, NoOutputsIsANoOp) {
  std::vector<float> out;
  EXPECT_TRUE(
      run(std::vector<float>{}, {Extents{4, 0}, Extents{0, 1}}, out, Extents{0}, ReduceOp::max, {0}).ok());
}

TEST_P(ReduceTest, IntegerSumDoesNotOverflow) {
  const std::vector<std::int32_t> in(100000, std::numeric_limits<std::int32_t>::max());
  std::int64_t out = 0;
  ASSERT_TRUE(run_all(in, out, ReduceOp::sum).ok());
  EXPECT_EQ(out, std::int64_t{100000} * std::numeric_limits<std::int32_t>::max());
}

TEST_P(ReduceTest, SixteenBitFloatsAccumulateInMoreThanSixteenBits) {
  // In bf16 the sum would stay at 256: 256 + 1 rounds to 256.
  const std::vector<BFloat16> in(4096, to_bfloat16(1.0));
  float out = 0.0f;
  ASSERT_TRUE(run_all(in, out, ReduceOp::sum).ok());
  EXPECT_EQ(out, 4096.0f);
}

TEST_P(ReduceTest, NanIsFoundWhereverItStands) {
  for (const std::size_t place : {std::size_t{0}, std::size_t{50}, std::size_t{99}}) {
    std::vector<float> in(100, 1.0f);
    in[place] = std::numeric_limits<float>::quiet_NaN();
    float out = 0.0f;
    ASSERT_TRUE(run_all(in, out, ReduceOp::max).ok());
    EXPECT_TRUE(std::isnan(out)) << "max, NaN at " << place;
    ASSERT_TRUE(run_all(in, out, ReduceOp::min).ok());
    EXPECT_TRUE(std::isnan(out)) << "min, NaN at " << place;
    std::int64_t index = -1;
    ASSERT_TRUE(run_all(in, index, ReduceOp::argmin).ok());
    EXPECT_EQ(index, static_cast<std::int64_t>(place));
  }
}

TEST_P(ReduceTest, TheFirstOfEqualsWins) {
  std::vector<std::int32_t> in(70000, 3);
  in[41] = in[69999] = 9;
  in[40] = in[68000] = -9;
  std::int64_t index = -1;
  ASSERT_TRUE(run_all(in, index, ReduceOp::argmax).ok());
  EXPECT_EQ(index, 41);
  ASSERT_TRUE(run_all(in, index, ReduceOp::argmin).ok());
  EXPECT_EQ(index, 40);
  ASSERT_TRUE(run_all(std::vector<float>(5000, -INFINITY), index, ReduceOp::argmax).ok());
  EXPECT_EQ(index, 0);
}

TEST_P(ReduceTest, TheLowestIntegerHasNoNegative) {
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  std::int64_t index = -1;
  ASSERT_TRUE(run_all(std::vector<std::int64_t>{5, lowest, lowest + 1}, index, ReduceOp::argmin).ok());
  EXPECT_EQ(index, 1);
}

TEST_P(ReduceTest, ServesAnyStrides) {
  std::vector<float> storage(64);
  std::iota(storage.begin(), storage.end(), 0.0f);
  std::vector<float> out(1);
  // Every other element.
  ASSERT_TRUE(run(storage, {Extents{32}, Extents{2}}, out, Extents{}, ReduceOp::sum).ok());
  EXPECT_EQ(out[0], 992.0f);
  // Backwards.
  std::vector<std::int64_t> index(1);
  ASSERT_TRUE(run(storage, {Extents{64}, Extents{-1}, 63}, index, Extents{}, ReduceOp::argmax).ok());
  EXPECT_EQ(index[0], 0);
  // One element repeated.
  ASSERT_TRUE(run(storage, {Extents{10}, Extents{0}, 7}, out, Extents{}, ReduceOp::sum).ok());
  EXPECT_EQ(out[0], 70.0f);
  // A transposed matrix along its first axis; the same as the original along its last.
  std::vector<float> rows(8);
  std::vector<float> columns(8);
  ASSERT_TRUE(run(storage, {Extents{8, 8}, Extents{1, 8}}, columns, Extents{8}, ReduceOp::sum, {0}).ok());
  ASSERT_TRUE(run(storage, {Extents{8, 8}, Extents{8, 1}}, rows, Extents{8}, ReduceOp::sum, {-1}).ok());
  EXPECT_EQ(columns, rows);
  EXPECT_EQ(rows[1], 92.0f);
  // All of a matrix with gaps between its rows.
  ASSERT_TRUE(run(storage, {Extents{8, 3}, Extents{8, 1}}, out, Extents{}, ReduceOp::max).ok());
  EXPECT_EQ(out[0], 58.0f);
}

TEST_P(ReduceTest, RefusesWhatItDoesNotServe) {
  const Device device = GetParam();
  Result<DeviceMemory> memory = DeviceMemory::allocate(device, 4096);
  ASSERT_TRUE(memory.ok());
  auto* x = static_cast<float*>(memory->data());
  const TensorView scalar = view(x + 512, {}, device);
  const ConstTensorView in = view(x, {16}, device);
  const auto rule = [&](const ConstTensorView& a, const TensorView& b, ReduceOp op, const Axes& axes) {
    return reduce(context(), {a, b, op, axes}).rule();
  };
  const auto sum = ReduceOp::sum;

  const TensorView two = view(x + 512, {2}, device);
  EXPECT_EQ(rule(in, two, sum, {}), "out must have the shape [], extents of 1 aside");
  EXPECT_EQ(rule(in, two, sum, {0}), "out must have the shape [], extents of 1 aside");
  EXPECT_EQ(rule(in, scalar, sum, {1}), "in has no axis 1: its axes are 0 to 0, or -1 to -1 from the last");
  EXPECT_EQ(rule(in, scalar, sum, {0, -1}), "axis -1 of in is named twice: name each once");
  EXPECT_EQ(rule(in, scalar, ReduceOp::argmax, {}), "out must be i64 for this op and input");

  const TensorView inside = view(x + 3, {}, device);
  EXPECT_EQ(rule(in, inside, sum, {}), "out must not overlap in");

  ConstTensorView eight_bits = in;
  eight_bits.dtype = DType::f8e4m3;
  EXPECT_EQ(reduce(context(), {eight_bits, scalar, sum}).code(), StatusCode::unsupported);

  ConstTensorView misaligned = in;
  misaligned.data = reinterpret_cast<const std::byte*>(x) + 1;
  EXPECT_EQ(reduce(context(), {misaligned, scalar, sum}).code(), StatusCode::invalid_argument);

  const Device other = device.kind == DeviceKind::cpu ? kSim : kCpu;
  ConstTensorView elsewhere = in;
  elsewhere.device = other;
  EXPECT_EQ(rule(elsewhere, scalar, sum, {}), "in is on " + to_string(other) + " and the call runs on " +
                                                  to_string(device) +
                                                  ": use a Context or stream of its device, or copy it");
}

TEST_P(ReduceTest, ReducesSeveralAxes) {
  std::vector<float> x(60);
  std::iota(x.begin(), x.end(), 0.0f);
  const Tensor in = Tensor::from(context(), view(x, {3, 4, 5})).value();
  const auto values = [&](const ReduceArgs& options) {
    const Result<Tensor> out = reduce(context(), in, options);
    EXPECT_TRUE(out.ok()) << out.status();
    return out.ok() ? out->to_vector<float>().value() : std::vector<float>();
  };
  EXPECT_EQ(values({.axes = {0, 2}}), (std::vector<float>{330, 405, 480, 555}));
  EXPECT_EQ(values({.axes = {-1, -2}}), (std::vector<float>{190, 590, 990}));
  EXPECT_EQ(values({.op = ReduceOp::max, .axes = {0, 1}}), (std::vector<float>{55, 56, 57, 58, 59}));
  EXPECT_EQ(values({.op = ReduceOp::mean, .axes = {0, 1, 2}}), (std::vector<float>{29.5f}));
  // The index counts along both axes, in their order.
  const Tensor index = reduce(context(), in, {.op = ReduceOp::argmax, .axes = {2, 0}}).value();
  EXPECT_EQ(index.to_vector<std::int64_t>().value(), (std::vector<std::int64_t>{14, 14, 14, 14}));
}

// A list that is too long is another list than any that fits, for a Context that has just served that one, too.
TEST_P(ReduceTest, AListOfTooManyAxesIsRefusedWhateverCameBefore) {
  const Tensor x = Tensor::zeros(context(), {3, 4}, DType::f32).value();
  Tensor out = Tensor::zeros(context(), {3}, DType::f32).value();
  ASSERT_TRUE(reduce(context(), {.in = x, .out = out, .axes = {-1}}).ok());
  const Axes many = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(reduce(context(), {.in = x, .out = out, .axes = many}).code(), StatusCode::invalid_argument);
}

TEST_P(ReduceTest, MakesAnOutputOfTheShapeThatItNames) {
  std::vector<std::int32_t> x(24, 2);
  const Tensor in = Tensor::from(context(), view(x, {2, 3, 4})).value();
  const ReduceArgs rows{.axes = {1}, .keepdims = true};
  const TensorSpec spec = reduce_output(in, rows).value();
  EXPECT_EQ(spec.dtype, DType::i64);
  EXPECT_TRUE(spec.shape == (Extents{2, 1, 4}));
  const Tensor out = reduce(context(), in, rows).value();
  EXPECT_TRUE(out.shape() == spec.shape);
  EXPECT_EQ(out.device(), GetParam());
  EXPECT_EQ(out.to_vector<std::int64_t>().value(), std::vector<std::int64_t>(8, 6));
  EXPECT_EQ(reduce(context(), in, {.op = ReduceOp::mean, .out_dtype = DType::f32})->item<float>().value(),
            2.0f);
  // Without memory; and what no call would take.
  const auto later = contiguous_view<const void>(nullptr, DType::f16, GetParam(), {7, 9});
  EXPECT_TRUE(reduce_output(later, {.axes = {0}})->shape == (Extents{9}));
  EXPECT_EQ(reduce_output(later, {.axes = {2}}).status().rule(),
            "in has no axis 2: its axes are 0 to 1, or -1 to -2 from the last");
  const auto fp8 = contiguous_view<const void>(nullptr, DType::f8e4m3, GetParam(), {7});
  EXPECT_EQ(reduce_output(fp8).status().code(), StatusCode::unsupported);
  EXPECT_FALSE(reduce_output(in, {.out_dtype = DType::f8e4m3}).ok());
  EXPECT_FALSE(reduce(context(), in, {.op = ReduceOp::max, .axes = {7}}).ok());
}

TEST_P(ReduceTest, TakesAnOutputWhateverItsExtentsOfOne) {
  std::vector<float> x(6, 1.0f);
  const Tensor in = Tensor::from(context(), view(x, {2, 3})).value();
  for (const Extents& shape : {Extents{2}, Extents{2, 1}, Extents{1, 2, 1}}) {
    Tensor out = Tensor::zeros(context(), shape, DType::f32).value();
    EXPECT_TRUE(reduce(context(), {.in = in, .out = out, .axes = {1}}).ok()) << shape.to_string();
    EXPECT_EQ(out.to_vector<float>().value(), (std::vector<float>{3, 3}));
  }
}

TEST_P(ReduceTest, ValuesThatAreNoneOfTheEnumsAreAStatus) {
  const Tensor in = Tensor::full(context(), {4}, 1.0f).value();
  const Status status = reduce(context(), in, {.op = static_cast<ReduceOp>(17)}).status();
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.rule().find("op is 17: use sum | mean"), std::string::npos) << status;
  EXPECT_EQ(reduce(context(), in, {.out_dtype = static_cast<DType>(77)}).status().code(),
            StatusCode::invalid_argument);
}

TEST_P(ReduceTest, SameBitsOnEveryRun) {
  std::vector<float> in(300007);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(std::sin(static_cast<double>(i)));
  float first = 0.0f;
  ASSERT_TRUE(run_all(in, first, ReduceOp::sum).ok());
  for (int i = 0; i < 3; ++i) {
    float again = 0.0f;
    ASSERT_TRUE(run_all(in, again, ReduceOp::sum).ok());
    EXPECT_EQ(again, first);
  }
}

TEST_P(ReduceTest, AFailedAllocationIsAnErrorAndTheNextCallWorks) {
  const Extents shape{1 << 20};
  std::vector<float> in(1 << 20, 1.0f);
  const Device device = GetParam();
  Result<DeviceMemory> memory = DeviceMemory::allocate(device, in.size() * sizeof(float) + 4);
  ASSERT_TRUE(memory.ok());
  auto* x = static_cast<float*>(memory->data());
  ASSERT_TRUE(copy(context().stream(), x, device, in.data(), kCpu, in.size() * sizeof(float)).ok());
  const ReduceArgs args{.in = view(x, shape, device), .out = view(x + in.size(), {}, device)};
  for (int k = 0;; ++k) {
    ASSERT_LT(k, 8);
    Result<Context> fresh = Context::create(device);
    ASSERT_TRUE(fresh.ok());
    detail::fail_allocation_after(k);
    const Status status = reduce(*fresh, args);
    detail::fail_allocation_after(-1);
    ASSERT_TRUE(reduce(*fresh, args).ok()) << "after allocation " << k << " failed";
    ASSERT_TRUE(fresh->check().ok());
    float out = 0.0f;
    ASSERT_TRUE(copy(fresh->stream(), &out, kCpu, x + in.size(), device, sizeof(out)).ok());
    ASSERT_TRUE(fresh->synchronize().ok());
    EXPECT_EQ(out, 1048576.0f);
    if (status.ok()) break;
    EXPECT_EQ(status.code(), StatusCode::out_of_memory);
  }
}

TEST_P(ReduceTest, CapturedReplayedAndOnTwoStreamsAtOnce) {
  const Device device = GetParam();
  if (device.kind != DeviceKind::cuda)
    GTEST_SKIP() << "streams of cpu and sim run at once and cannot be captured";
  const std::int64_t n = (1 << 20) + 3;
  const std::vector<float> in(static_cast<std::size_t>(n), 0.5f);
  Result<DeviceMemory> memory = DeviceMemory::allocate(device, (in.size() + 64) * sizeof(float));
  ASSERT_TRUE(memory.ok());
  auto* x = static_cast<float*>(memory->data());
  ASSERT_TRUE(copy(context().stream(), x, device, in.data(), kCpu, in.size() * sizeof(float)).ok());
  ASSERT_TRUE(context().synchronize().ok());
  const auto args_for = [&](int slot) {
    return ReduceArgs{.in = view(x, {n}, device), .out = view(x + n + slot, {}, device)};
  };
  const auto result_in = [&](int slot) {
    float out = 0.0f;
    EXPECT_TRUE(copy(context().stream(), &out, kCpu, x + n + slot, device, sizeof(out)).ok());
    EXPECT_TRUE(context().synchronize().ok());
    return out;
  };
  const float expected = 0.5f * static_cast<float>(n);
  const Result<WorkspaceSpec> spec = reduce_workspace(args_for(0), device);
  ASSERT_TRUE(spec.ok());

  Result<OwnedWorkspace> workspace = OwnedWorkspace::create(context().stream(), *spec);
  ASSERT_TRUE(workspace.ok());
  Result<Graph> graph = Graph::capture(
      context().stream(), [&] { return reduce(context().stream(), args_for(0), workspace->get()); });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Result<GraphExec> exec = GraphExec::instantiate(*graph);
  ASSERT_TRUE(exec.ok());
  for (int replay = 0; replay < 3; ++replay) {
    ASSERT_TRUE(fill_bytes(context().stream(), x + n, 0xFF, sizeof(float)).ok());
    ASSERT_TRUE(exec->launch(context().stream()).ok());
    EXPECT_EQ(result_in(0), expected);
  }

  Result<Context> other = Context::create(device);
  ASSERT_TRUE(other.ok());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(reduce(context(), args_for(1)).ok());
    ASSERT_TRUE(reduce(*other, args_for(2)).ok());
  }
  ASSERT_TRUE(other->synchronize().ok());
  EXPECT_EQ(result_in(1), expected);
  EXPECT_EQ(result_in(2), expected);
}

// The lesson of the pairwise sum: the order of additions decides the error, not the precision alone.
TEST(ReduceTestAccuracy, ATreeOfHalvesIsAccurateWhereAChainIsNot) {
  std::vector<float> x(std::size_t{1} << 22);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = 0.1f + 1e-3f * static_cast<float>(std::sin(static_cast<double>(i)));
  double exact = 0.0;
  float chain = 0.0f;
  for (const float value : x) {
    exact += value;
    chain += value;
  }
  Result<Context> context = Context::create(kCpu);
  ASSERT_TRUE(context.ok());
  float tree = 0.0f;
  const RungRow* pairwise = reduce_operator().find_rung("pairwise");
  ASSERT_NE(pairwise, nullptr);
  const ReduceArgs args{.in = view(x.data(), {static_cast<std::int64_t>(x.size())}), .out = view(&tree, {})};
  ASSERT_TRUE(run_rung(reduce_operator(), *pairwise, *context, AnyArgs::of(args)).ok());
  const double chain_error = std::abs(chain - exact) / exact;
  const double tree_error = std::abs(tree - exact) / exact;
  std::printf("sum of 2^22 floats near 0.1, relative error: one chain %.1e, a tree of halves %.1e\n",
              chain_error, tree_error);
  EXPECT_LT(tree_error, 1e-6);
  EXPECT_GT(chain_error, 100 * tree_error);
}

}  // namespace
}  // namespace rooftile
