// OpenBLAS's omatcopy as a peer of transpose on the CPU: one matrix of f32 or f64.
#include <cblas.h>

#include <string>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/transpose/transpose.h"
#include "rooftile/ops/transpose/transpose_plan.h"

namespace rooftile {
namespace {

using transpose_plan::Geometry;

std::string_view supports(const TransposeArgs& args, const DeviceProperties&) {
  const Geometry g = transpose_plan::geometry(args);
  if (args.in.dtype != DType::f32 && args.in.dtype != DType::f64)
    return "omatcopy is asked for f32 and f64 only";
  if (g.item_bytes != static_cast<int>(size_of(args.in.dtype)))
    return "omatcopy is asked for single elements only";
  if (g.batch.count != 1) return "omatcopy has no batch";
  if (g.in_place) return "omatcopy is asked out of place only";
  if (!g.has_rows() || g.in_row % g.item_bytes != 0) return "omatcopy needs rows without gaps";
  constexpr std::int64_t kMost = 2147483647;
  const std::int64_t in_pitch = g.in_row / g.item_bytes;
  const std::int64_t out_pitch = g.out_row / g.item_bytes;
  if (g.m > kMost || g.n > kMost || in_pitch > kMost || out_pitch > kMost)
    return "omatcopy counts in 32 bits";
  if (in_pitch < g.n || out_pitch < g.m) return "omatcopy needs rows that do not overlap";
  return "";
}

Status transpose_by_openblas(const Call<TransposeArgs>& call) {
  const Geometry g = transpose_plan::geometry(call.args);
  if (g.items() == 0) return {};
  const auto rows = static_cast<blasint>(g.m);
  const auto columns = static_cast<blasint>(g.n);
  const auto in_pitch = static_cast<blasint>(g.in_row / g.item_bytes);
  const auto out_pitch = static_cast<blasint>(g.out_row / g.item_bytes);
  if (call.args.in.dtype == DType::f32) {
    cblas_somatcopy(CblasRowMajor, CblasTrans, rows, columns, 1.0f,
                    static_cast<const float*>(call.args.in.data), in_pitch,
                    static_cast<float*>(call.args.out.data), out_pitch);
  } else {
    cblas_domatcopy(CblasRowMajor, CblasTrans, rows, columns, 1.0,
                    static_cast<const double*>(call.args.in.data), in_pitch,
                    static_cast<double*>(call.args.out.data), out_pitch);
  }
  return {};
}

// "OpenBLAS 0.3.21 omatcopy", without the options that it was built with.
std::string version() {
  const std::string config = openblas_get_config();
  const std::size_t number = config.find(' ');
  return config.substr(0, number == std::string::npos ? number : config.find(' ', number + 1)) + " omatcopy";
}

}  // namespace

void register_transpose_peers_openblas(Registry& registry) {
  PeerRow row =
      describe_peer<TransposeArgs>("transpose", "openblas", version(), transpose_by_openblas, supports);
  row.device = DeviceKind::cpu;
  registry.add(std::move(row));
}

}  // namespace rooftile
