// Tensors that own their memory, on whatever device the Context is of; .npy files in and out.
#include <cstdio>
#include <vector>

#include "rooftile/ops/reduce/reduce.h"
#include "rooftile/ops/transpose/transpose.h"

namespace rt = rooftile;

int fail(const rt::Status& status) { return std::fprintf(stderr, "%s\n", status.message().c_str()), 1; }

rt::Status column_means(rt::Context& ctx, const char* from, const char* to) {
  ROOFTILE_TRY_ASSIGN(const rt::Tensor x, rt::Tensor::load_npy(ctx, from));  // on the Context's device
  ROOFTILE_TRY_ASSIGN(const rt::Tensor columns, rt::transpose(ctx, x));
  ROOFTILE_TRY_ASSIGN(const rt::Tensor means,
                      rt::reduce(ctx, columns, {.op = rt::ReduceOp::mean, .axes = {-1}}));
  return means.save_npy(to);
}

int main() {
  rt::Context ctx;
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  rt::Status status = rt::Tensor::from(ctx, rt::view(x, {2, 3})).value().save_npy("x.npy");
  if (status) status = column_means(ctx, "x.npy", "means.npy");
  if (!status) return fail(status);
  const auto means = rt::Tensor::load_npy(ctx, "means.npy").value().to_vector<float>().value();
  std::printf("means of the columns: %g %g %g\n", means[0], means[1], means[2]);
  return means == std::vector<float>{2.5f, 3.5f, 4.5f} ? 0 : 1;
}
