// OpenBLAS's gemv as a peer of gemv on the CPU: one matrix of f32 or f64.
#include <cblas.h>

#include <string>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/gemv/gemv.h"
#include "rooftile/ops/gemv/gemv_plan.h"

namespace rooftile {
namespace {

using gemv_plan::Geometry;

std::string_view supports(const GemvArgs& args, const DeviceProperties&) {
  const Geometry g = gemv_plan::geometry(args);
  if (args.a.dtype != DType::f32 && args.a.dtype != DType::f64) return "gemv is asked for f32 and f64 only";
  if (g.batches != 1) return "gemv is asked for one matrix";
  if (args.beta != 0 && args.c.data != args.y.data) return "OpenBLAS adds to y: c must be y";
  if (g.reduced() == 0) return "OpenBLAS is asked for matrices with elements alone";
  if (g.x_step <= 0 || g.y_step <= 0) return "OpenBLAS is asked for vectors that run forward alone";
  constexpr std::int64_t kMost = 2147483647;
  if (g.rows > kMost || g.columns > kMost || g.pitch > kMost || g.x_step > kMost || g.y_step > kMost)
    return "OpenBLAS counts in 32 bits";
  return "";
}

template <class T, class Gemv>
void multiply(const GemvArgs& args, const Geometry& g, Gemv gemv) {
  gemv(CblasRowMajor, g.transposed ? CblasTrans : CblasNoTrans, static_cast<blasint>(g.rows),
       static_cast<blasint>(g.columns), static_cast<T>(args.alpha), static_cast<const T*>(args.a.data),
       static_cast<blasint>(g.pitch), static_cast<const T*>(args.x.data), static_cast<blasint>(g.x_step),
       static_cast<T>(args.beta), static_cast<T*>(args.y.data), static_cast<blasint>(g.y_step));
}

Status gemv_by_openblas(const Call<GemvArgs>& call) {
  const Geometry g = gemv_plan::geometry(call.args);
  if (call.args.a.dtype == DType::f32) {
    multiply<float>(call.args, g, cblas_sgemv);
  } else {
    multiply<double>(call.args, g, cblas_dgemv);
  }
  return {};
}

// "OpenBLAS 0.3.21 gemv", without the options that it was built with.
std::string version() {
  const std::string config = openblas_get_config();
  const std::size_t number = config.find(' ');
  return config.substr(0, number == std::string::npos ? number : config.find(' ', number + 1)) + " gemv";
}

}  // namespace

void register_gemv_peers_openblas(Registry& registry) {
  PeerRow row = describe_peer<GemvArgs>("gemv", "openblas", version(), gemv_by_openblas, supports);
  row.device = DeviceKind::cpu;
  registry.add(std::move(row));
}

}  // namespace rooftile
