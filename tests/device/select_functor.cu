#include "rooftile/ops/select/select_functor.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

struct IsOdd {
  __device__ bool operator()(std::uint16_t x) const { return x % 2 == 1; }
};

}  // namespace

Status select_odd(StreamRef stream, std::int64_t n, const std::uint16_t* g_in, std::uint16_t* g_out,
                  std::int64_t* g_count, bool keeps_others, const Workspace& workspace) {
  return select_with(
      IsOdd{}, stream, n, g_in,
      SelectResults<std::uint16_t>{.g_out = g_out, .g_count = g_count, .keeps_others = keeps_others},
      workspace);
}

WorkspaceSpec select_odd_workspace(std::int64_t n) { return select_with_workspace<std::uint16_t>(n); }

}  // namespace rooftile::ROOFTILE_TARGET
