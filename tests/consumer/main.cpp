// Sums a few numbers through the installed library, and sees an error come back as a Status.
#include <cstdio>
#include <numeric>
#include <vector>

#include "rooftile/core/context.h"
#include "rooftile/ops/reduce/reduce.h"

int main() {
  rooftile::Result<rooftile::Context> context = rooftile::Context::create(rooftile::kCpu);
  if (!context.ok()) {
    std::fprintf(stderr, "no context: %s\n", context.status().message().c_str());
    return 1;
  }
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 1.0f);
  float sum = 0.0f;
  rooftile::ReduceArgs args;
  args.in = rooftile::contiguous_view<const void>(values.data(), rooftile::DType::f32, rooftile::kCpu,
                                                  rooftile::Extents{1000});
  args.out = rooftile::contiguous_view<void>(&sum, rooftile::DType::f32, rooftile::kCpu, rooftile::Extents{});
  args.op = rooftile::ReduceOp::sum;
  const rooftile::Status status = rooftile::reduce(*context, args);
  if (!status.ok() || sum != 500500.0f) {
    std::fprintf(stderr, "sum = %g, want 500500 (%s)\n", static_cast<double>(sum), status.message().c_str());
    return 1;
  }

  args.out.dtype = rooftile::DType::i64;
  if (rooftile::reduce(*context, args).ok()) {
    std::fprintf(stderr, "an i64 result for an f32 sum was accepted\n");
    return 1;
  }
  std::puts("consumer: ok");
  return 0;
}
