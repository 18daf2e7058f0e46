// gemm in 16 bits by every rung: shapes of a seeded sample, the same bits in every run, in graphs and on two streams.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "rooftile/core/host_tensor.h"
#include "rooftile/core/stream.h"
#include "rooftile/ops/gemm/gemm.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

struct Sample {
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
  DType dtype, out_dtype;
  bool has_c, has_bias;
  [[nodiscard]] std::string text() const {
    return "m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k) +
           (transpose_a ? " a transposed" : "") + (transpose_b ? " b transposed" : "") + " " +
           std::string(to_string(dtype)) + " to " + std::string(to_string(out_dtype)) + (has_c ? " c" : "") +
           (has_bias ? " bias" : "");
  }
};

class GemmTestOfShapes : public OnEveryDevice {
 protected:
  template <class Value>
  Tensor made(DType dtype, const Extents& shape, Value value) {
    HostTensor host = HostTensor::create(dtype, shape).value();
    for (std::int64_t i = 0; i < host.numel(); ++i) host.set(i, value(i));
    return Tensor::from(context(), host.view()).value();
  }
  HostTensor on_host(const Tensor& tensor) {
    HostTensor host = HostTensor::create(tensor.dtype(), tensor.view().shape).value();
    EXPECT_TRUE(copy(context().stream(), host.data(), kCpu, tensor.data(), GetParam(), host.bytes()).ok());
    EXPECT_TRUE(context().synchronize().ok());
    return host;
  }

  // Whole numbers from -3 to 3: every sum is exact in f32, and rounded once to 16 bits.
  void expect_exact(const Sample& s, std::mt19937& random) {
    const auto draw = [&](std::int64_t count) {
      std::vector<int> numbers(static_cast<std::size_t>(count));
      for (int& x : numbers) x = static_cast<int>(random() % 7) - 3;
      return numbers;
    };
    const std::vector<int> a = draw(s.m * s.k);
    const std::vector<int> b = draw(s.k * s.n);
    const std::vector<int> c = draw(s.m * s.n);
    const std::vector<int> bias = draw(s.n);
    const auto tensor_of = [&](const std::vector<int>& numbers, DType dtype, const Extents& shape) {
      return made(dtype, shape,
                  [&](std::int64_t i) { return static_cast<double>(numbers[static_cast<std::size_t>(i)]); });
    };
    HostTensor expected = HostTensor::create(s.out_dtype, {s.m, s.n}).value();
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t j = 0; j < s.n; ++j) {
        int sum = 0;
        for (std::int64_t l = 0; l < s.k; ++l)
          sum += a[static_cast<std::size_t>(s.transpose_a ? l * s.m + i : i * s.k + l)] *
                 b[static_cast<std::size_t>(s.transpose_b ? j * s.k + l : l * s.n + j)];
        if (s.has_c) sum += 2 * c[static_cast<std::size_t>(i * s.n + j)];
        if (s.has_bias) sum += bias[static_cast<std::size_t>(j)];
        expected.set(i * s.n + j, sum);
      }
    }
    const Tensor a_there = tensor_of(a, s.dtype, s.transpose_a ? Extents{s.k, s.m} : Extents{s.m, s.k});
    const Tensor b_there = tensor_of(b, s.dtype, s.transpose_b ? Extents{s.n, s.k} : Extents{s.k, s.n});
    const Tensor c_there = tensor_of(c, s.out_dtype, {s.m, s.n});
    const Tensor bias_there = tensor_of(bias, s.out_dtype, {s.n});
    Tensor out = made(s.out_dtype, {s.m, s.n}, [](std::int64_t) { return std::nan(""); });
    GemmArgs args = {.a = a_there,
                     .b = b_there,
                     .out = out,
                     .transpose_a = s.transpose_a,
                     .transpose_b = s.transpose_b,
                     .out_dtype = s.out_dtype};
    if (s.has_c) {
      args.c = c_there;
      args.beta = 2;
    }
    if (s.has_bias) args.bias = bias_there;
    for_every_rung(gemm_operator(), args, 1, [&](std::string_view id) {
      const HostTensor results = on_host(out);
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < results.numel(); ++i) wrong += !(results.at(i) == expected.at(i));
      EXPECT_EQ(wrong, 0) << id << " " << s.text();
      ASSERT_TRUE(fill_bytes(context().stream(), out.data(), 0xFF, results.bytes()).ok());
    });
  }
};

// Rows of whole vectors and rows that begin anywhere, edges of every tile.
TEST_P(GemmTestOfShapes, ASeededSampleIsExact) {
  const DeviceKind kind = GetParam().kind;
  const int samples = kind == DeviceKind::cuda ? 500 : kind == DeviceKind::sim ? 30 : 40;
  const std::uint32_t most = kind == DeviceKind::cuda ? 400 : 150;
  std::mt19937 random(20261125);
  const auto extent = [&] {
    const std::uint32_t range = random() % 4 == 0 ? 20 : most;
    const std::int64_t drawn = std::int64_t{1} + random() % range;
    return random() % 3 == 0 ? (drawn + 7) / 8 * 8 : drawn;  // whole vectors
  };
  for (int i = 0; i < samples; ++i) {
    Sample s{};
    s.m = extent();
    s.n = extent();
    s.k = extent();
    s.transpose_a = random() % 2 == 0;
    s.transpose_b = random() % 2 == 0;
    s.dtype = random() % 2 == 0 ? DType::bf16 : DType::f16;
    s.out_dtype = random() % 2 == 0 ? DType::f32 : s.dtype;
    s.has_c = random() % 4 == 0;
    s.has_bias = random() % 4 == 0;
    expect_exact(s, random);
  }
}

// Numbers whose sums depend on the order of their terms.
TEST_P(GemmTestOfShapes, TwoHundredRunsGiveTheSameBits) {
  if (GetParam().kind != DeviceKind::cuda) GTEST_SKIP() << "cpu and sim run one way only";
  const auto number = [](std::int64_t i) { return std::sin(static_cast<double>(i * i % 65521)); };
  struct Product {
    std::int64_t m, n, k;
    DType dtype;
  };
  for (const Product& p : {Product{520, 777, 1033, DType::bf16}, Product{1, 1024, 2048, DType::bf16},
                           Product{40, 136, 4096, DType::f16}, Product{300, 259, 1033, DType::f32}}) {
    const Tensor a = made(p.dtype, {p.m, p.k}, number);
    const Tensor b = made(p.dtype, {p.n, p.k}, number);
    Tensor out = made(DType::f32, {p.m, p.n}, [](std::int64_t) { return std::nan(""); });
    const GemmArgs args = {.a = a, .b = b, .out = out, .transpose_b = true, .out_dtype = DType::f32};
    for (const RungRow& rung : gemm_operator().rungs) {
      if (!unsupported_reason(rung, ArgsRef::of(args), context().properties()).empty()) continue;
      std::vector<float> first;
      for (int run = 0; run < 200; ++run) {
        ASSERT_TRUE(run_rung(gemm_operator(), rung, context(), AnyArgs::of(args)).ok()) << rung.id;
        const std::vector<float> now = out.to_vector<float>().value();
        if (run == 0) first = now;
        ASSERT_EQ(now, first) << rung.id << ", run " << run;
      }
      EXPECT_FALSE(std::isnan(first[0])) << rung.id;
    }
  }
}

TEST_P(GemmTestOfShapes, CapturedReplayedAndOnTwoStreamsAtOnce) {
  if (GetParam().kind != DeviceKind::cuda)
    GTEST_SKIP() << "streams of cpu and sim run at once and cannot be captured";
  const auto number = [](std::int64_t i) { return static_cast<double>(i % 5 - 2); };
  struct Product {
    std::int64_t m, n, k;
  };
  // Of the last one both operands are copied first, into a workspace.
  for (const Product& p : {Product{700, 648, 520}, Product{9, 648, 520}, Product{301, 333, 519}}) {
    const Tensor a = made(DType::bf16, {p.m, p.k}, number);
    const Tensor b = made(DType::bf16, {p.k, p.n}, number);
    const auto fresh = [&] {
      return made(DType::f32, {p.m, p.n}, [](std::int64_t) { return std::nan(""); });
    };
    Tensor out = fresh();
    const GemmArgs args = {.a = a, .b = b, .out = out, .out_dtype = DType::f32};
    ASSERT_TRUE(gemm(context(), args).ok());
    const std::vector<float> expected = out.to_vector<float>().value();
    ASSERT_FALSE(std::isnan(expected[0]));

    Result<Graph> graph = Graph::record(context(), [&] { return gemm(context(), args); });
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    Result<GraphExec> exec = GraphExec::instantiate(*graph);
    ASSERT_TRUE(exec.ok());
    for (int replay = 0; replay < 3; ++replay) {
      ASSERT_TRUE(fill_bytes(context().stream(), out.data(), 0xFF, expected.size() * sizeof(float)).ok());
      ASSERT_TRUE(exec->launch(context().stream()).ok());
      EXPECT_EQ(out.to_vector<float>().value(), expected);
    }

    Result<Context> other = Context::create(GetParam());
    ASSERT_TRUE(other.ok());
    Tensor out_there = fresh();
    const GemmArgs args_there = {.a = a, .b = b, .out = out_there, .out_dtype = DType::f32};
    ASSERT_TRUE(fill_bytes(context().stream(), out.data(), 0xFF, expected.size() * sizeof(float)).ok());
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(gemm(context(), args).ok());
      ASSERT_TRUE(gemm(*other, args_there).ok());
    }
    ASSERT_TRUE(other->synchronize().ok());
    EXPECT_EQ(out.to_vector<float>().value(), expected);
    EXPECT_EQ(out_there.to_vector<float>().value(), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, GemmTestOfShapes, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
