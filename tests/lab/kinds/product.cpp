#include <cmath>

#include "rooftile/cases/judges.h"
#include "rooftile/cases/parallel.h"
#include "rooftile/core/describe.h"
#include "tests/lab/kinds/kinds.h"

namespace rooftile::cpu::kinds {

using lab::test::ProductBug;

Status product(const Call<lab::test::ProductArgs>& call, ProductBug bug) {
  const lab::test::ProductArgs& args = call.args;
  const auto* a = static_cast<const float*>(args.a.data);
  const auto* b = static_cast<const float*>(args.b.data);
  auto* c = static_cast<float*>(args.c.data);
  const std::int64_t m = args.c.shape[0];
  const std::int64_t n = args.c.shape[1];
  const std::int64_t k = args.a.shape[1];
  in_parallel(m, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      float* const to = c + row * n;
      for (std::int64_t j = 0; j < n; ++j) to[j] = 0;
      for (std::int64_t i = 0; i < (bug == ProductBug::forgets_last ? k - 1 : k); ++i) {
        for (std::int64_t j = 0; j < n; ++j) to[j] += a[row * k + i] * b[i * n + j];
      }
      if (bug == ProductBug::one_wrong_tile && row / 16 == m / 48) {
        for (std::int64_t j = n / 48 * 16; j < n / 48 * 16 + 16; ++j) to[j] = 0;
      }
    }
  });
  if (bug == ProductBug::nan_in_corner) c[m * n - 1] = __builtin_nanf("");
  return {};
}

}  // namespace rooftile::cpu::kinds

namespace rooftile::lab::test {
namespace {

Status product_spec(const ProductArgs& args, TensorSpec& spec) {
  spec = {DType::f32, Extents{args.a.shape[0], args.b.shape[1]}};
  return {};
}

const OperatorDescriptor& product_operator() {
  static const OperatorDescriptor op = describe<ProductArgs>(
      {.name = "product",
       .summary = "a product of matrices",
       .maths = "c = a b",
       .model = "2 m n k operations",
       .source = "a test",
       .slots = {in("a", &ProductArgs::a,
                    {.dtypes = {DType::f32}, .min_rank = 2, .max_rank = 2, .dense = true}),
                 in("b", &ProductArgs::b,
                    {.dtypes = {DType::f32}, .min_rank = 2, .max_rank = 2, .dense = true}),
                 out("c", &ProductArgs::c, product_spec, {.dtypes = {DType::f32}, .dense = true})},
       .choose = choose_right<ProductArgs>,
       .rungs = {ROOFTILE_KIND_RUNGS(ProductArgs, product, ProductBug::none, "right"),
                 ROOFTILE_KIND_RUNGS(ProductArgs, product, ProductBug::forgets_last, "forgets_last"),
                 ROOFTILE_KIND_RUNGS(ProductArgs, product, ProductBug::one_wrong_tile, "one_wrong_tile"),
                 ROOFTILE_KIND_RUNGS(ProductArgs, product, ProductBug::nan_in_corner, "nan_in_corner")}});
  return op;
}

Case make_case(std::int64_t m, std::int64_t n, std::int64_t k, CaseTier tier) {
  return {.shape = {{"m", m}, {"n", n}, {"k", k}},
          .params = Params(product_operator().params),
          .fill = Fill::normal,
          .tier = tier};
}

Result<CasePlan> plan(const Case& c) {
  const std::int64_t m = shape_at(c.shape, "m");
  const std::int64_t n = shape_at(c.shape, "n");
  const std::int64_t k = shape_at(c.shape, "k");
  return CasePlan{.inputs = {{.dtype = DType::f32, .shape = {m, k}}, {.dtype = DType::f32, .shape = {k, n}}},
                  .read_bytes = 4.0 * static_cast<double>(m * k + k * n),
                  .write_bytes = 4.0 * static_cast<double>(m * n),
                  .flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k),
                  .flops_on = FlopUnit::fma_f32};
}

// A sample of 4096 elements by their definition, all of them by Freivalds.
Result<Judge> judge(const Case& c, std::span<const HostTensor> inputs) {
  const std::span<const float> a = inputs[0].as<float>();
  const std::span<const float> b = inputs[1].as<float>();
  const std::int64_t m = shape_at(c.shape, "m");
  const std::int64_t n = shape_at(c.shape, "n");
  const std::int64_t k = shape_at(c.shape, "k");
  // k additions round by u times what was added up so far, each its own way: a random walk of sqrt(k) steps.
  const double rounding = 0x1p-24 * std::sqrt(static_cast<double>(k));
  Expected expected;
  expected.indices = sampled_indices({.rows = m, .columns = n, .tile = 16}, c.seed);
  expected.rule = "the rounding of a serial chain of k additions";
  const auto count = static_cast<std::int64_t>(expected.indices.size());
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::f64, Extents{count}));
  ROOFTILE_TRY_ASSIGN(expected.floors, HostTensor::create(DType::f64, Extents{count}));
  in_parallel(count, 16, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t s = first; s < last; ++s) {
      const std::int64_t at = expected.indices[static_cast<std::size_t>(s)];
      double sum = 0;
      double magnitudes = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        const double product = static_cast<double>(a[static_cast<std::size_t>(at / n * k + i)]) *
                               static_cast<double>(b[static_cast<std::size_t>(i * n + at % n)]);
        sum += product;
        magnitudes += std::abs(product);
      }
      expected.exact.set(s, sum);
      expected.floors.set(s, rounding * magnitudes);
    }
  });
  const auto times = [](std::span<const float> matrix, std::int64_t rows, std::span<const double> r) {
    std::vector<double> result(static_cast<std::size_t>(rows));
    in_parallel(rows, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) {
        double sum = 0;
        for (std::size_t j = 0; j < r.size(); ++j)
          sum += static_cast<double>(matrix[static_cast<std::size_t>(row) * r.size() + j]) * r[j];
        result[static_cast<std::size_t>(row)] = sum;
      }
    });
    return result;
  };
  std::vector<Expected> all;
  all.push_back(std::move(expected));
  return all_of({element_by_element({"c"}, std::move(all)),
                 freivalds({.name = "c",
                            .rows = m,
                            .columns = n,
                            .product = [=](std::span<const double> r) { return times(a, m, times(b, k, r)); },
                            .tolerance = rounding * static_cast<double>(k)},
                           c.seed)});
}

}  // namespace

Kind product_kind() {
  OperatorCases cases;
  cases.operator_name = "product";
  cases.shapes = {"m,n,k"};
  cases.default_case = make_case(4096, 4096, 4096, CaseTier::huge);
  cases.default_host_case = make_case(1024, 1024, 1024, CaseTier::full);
  cases.cases = [] {
    return std::vector<Case>{make_case(96, 80, 33, CaseTier::quick),
                             make_case(1024, 1024, 256, CaseTier::full),
                             make_case(4096, 4096, 4096, CaseTier::huge)};
  };
  cases.plan = plan;
  cases.judge = judge;
  return {
      &product_operator(),
      std::move(cases),
      {{"forgets_last", "c element"}, {"one_wrong_tile", "got 0, expected"}, {"nan_in_corner", "got nan"}}};
}

}  // namespace rooftile::lab::test
