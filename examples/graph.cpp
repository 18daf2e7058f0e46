// A CUDA graph of two calls, replayed: the graph owns its workspace and allocates nothing. Needs a GPU.
#include <cstdio>
#include <vector>

#include "rooftile/ops/reduce/reduce.h"
#include "rooftile/ops/transpose/transpose.h"

namespace rt = rooftile;

int fail(const rt::Status& status) { return std::fprintf(stderr, "%s\n", status.message().c_str()), 1; }

rt::Status replay(rt::Context& ctx, std::vector<float>& sums) {
  ROOFTILE_TRY_ASSIGN(const rt::Tensor x, rt::Tensor::full(ctx, {512, 256}, 0.25f));
  ROOFTILE_TRY_ASSIGN(rt::Tensor turned, rt::Tensor::zeros(ctx, {256, 512}, rt::DType::f32));
  ROOFTILE_TRY_ASSIGN(rt::Tensor out, rt::Tensor::zeros(ctx, {256}, rt::DType::f32));
  ROOFTILE_TRY_ASSIGN(rt::Graph graph, rt::Graph::record(ctx, [&]() -> rt::Status {
                        ROOFTILE_TRY(rt::transpose(ctx, {.in = x, .out = turned}));
                        return rt::reduce(ctx, {.in = turned, .out = out, .axes = {1}});
                      }));
  for (int i = 0; i < 3; ++i) ROOFTILE_TRY(graph.launch(ctx.stream()));
  ROOFTILE_TRY_ASSIGN(sums, out.to_vector<float>());
  return ctx.check();  // waits, and reports what only a kernel can see
}

int main() {
  rt::Context ctx(rt::cuda_device(0));
  std::vector<float> sums;
  const rt::Status status = ctx.status() ? replay(ctx, sums) : ctx.status();
  if (status.code() == rt::StatusCode::unavailable) return std::printf("no graph here: %s\n", status.message().c_str()), 0;
  if (!status) return fail(status);
  std::printf("every row sums to %g\n", sums[0]);
  return sums == std::vector<float>(256, 128.0f) ? 0 : 1;
}
