// Your stream, your memory: the workspace is asked for before any memory exists, and the call allocates nothing.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "rooftile/ops/reduce/reduce.h"

namespace rt = rooftile;

int fail(const rt::Status& status) { return std::fprintf(stderr, "%s\n", status.message().c_str()), 1; }

int main() {
  const rt::StreamRef stream{rt::kCpu};  // of a GPU: {rt::cuda_device(0), a cudaStream_t}
  const rt::Extents shape{1000, 7};

  // The plan of a call whose tensors have no memory yet.
  rt::ReduceArgs args{.in = rt::contiguous_view<const void>(nullptr, rt::DType::f32, rt::kCpu, shape),
                      .out = rt::contiguous_view<void>(nullptr, rt::DType::f32, rt::kCpu, {7}),
                      .axes = {0}};
  const rt::WorkspaceSpec spec = rt::reduce_workspace(args, stream.device).value();
  // One block of your own: 256-byte aligned scratch. A part that must be zero would be spec.zeroed_bytes.
  const std::unique_ptr<void, decltype(&std::free)> scratch(std::aligned_alloc(256, spec.bytes / 256 * 256 + 256),
                                                            &std::free);
  const rt::Workspace workspace{.data = scratch.get(), .bytes = spec.bytes};

  std::vector<float> x(7000, 0.5f), sums(7);
  args.in = rt::view(x, shape);
  args.out = rt::view(sums);
  if (rt::Status s = rt::reduce(stream, args, workspace); !s) return fail(s);
  std::printf("every column sums to %g\n", sums[3]);
  return sums == std::vector<float>(7, 500.0f) ? 0 : 1;
}
