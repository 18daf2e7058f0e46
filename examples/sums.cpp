// Sums, means and maxima of host memory: of all of it, of a slice, of several axes.
#include <cstdio>
#include <numeric>
#include <vector>

#include "rooftile/ops/reduce/reduce.h"

namespace rt = rooftile;

int fail(const rt::Status& status) { return std::fprintf(stderr, "%s\n", status.message().c_str()), 1; }

int main() {
  std::vector<float> x(60);
  std::iota(x.begin(), x.end(), 0.0f);
  float sum = 0;
  rt::Context ctx;  // the GPU where there is one; calls on host memory run on the CPU
  if (rt::Status s = rt::reduce(ctx, {.in = rt::view(x), .out = rt::view(sum)}); !s) return fail(s);

  // x as a cube; every other row of it; the mean over its last axis, which stays as an extent of 1.
  const auto rows = rt::view(x, {3, 4, 5}).slice(1, 0, 4, 2);
  const auto means = rt::reduce(ctx, rows, {.op = rt::ReduceOp::mean, .axes = {-1}, .keepdims = true});
  if (!means) return fail(means.status());
  const std::vector<float> values = means->to_vector<float>().value();

  // The place of the largest element of every plane.
  const rt::Tensor at = rt::reduce(ctx, rt::view(x, {3, 20}), {.op = rt::ReduceOp::argmax, .axes = {1}}).value();

  std::printf("sum %g, means %s: %g ... %g, the largest at %lld\n", sum, means->shape().to_string().c_str(),
              values.front(), values.back(), static_cast<long long>(at.to_vector<long long>().value()[0]));
  return sum == 1770 && values.front() == 2 && values.back() == 52 ? 0 : 1;
}
