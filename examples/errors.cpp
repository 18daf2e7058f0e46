// What errors say, and what the compiler refuses.
#include <cstdio>
#include <vector>

#include "rooftile/ops/reduce/reduce.h"

namespace rt = rooftile;

int main() {
  rt::Context ctx(rt::kCpu);
  std::vector<float> x(12);
  std::vector<double> wide(3);
  const auto in = rt::view(x, {3, 4});
  const auto show = [](const rt::Status& s) { std::printf("line %u: %s\n", s.where().line, s.message().c_str()); };

  show(rt::reduce(ctx, {.in = in, .out = rt::view(wide), .axes = {2}}));
  show(rt::reduce(ctx, {.in = in, .out = rt::view(x.data(), {3}), .axes = {1}}));
  show(rt::reduce(ctx, {.in = in.reshape({5, -1}), .out = rt::view(wide)}));
  show(rt::reduce(ctx, in, {.op = static_cast<rt::ReduceOp>(17)}).status());
  // rt::contiguous_view<const void>(x.data(), rt::DType::f64, rt::kCpu, {12});   typed memory has its dtype:
  // rt::view(x, rt::DType::f64);                                                 neither compiles

  const float sum = rt::reduce(ctx, in).value().item<float>().value_or(-1.0f);
  std::printf("and the right call gives %g\n", sum);
  return sum == 0 ? 0 : 1;
}
