#include "rooftile/ops/reduce/reduce_plan.h"

namespace rooftile {

DType reduce_out_dtype(ReduceOp op, DType in) {
  switch (op) {
    case ReduceOp::sum:
      if (is_float(in)) return in;
      return is_signed(in) ? DType::i64 : DType::u64;
    case ReduceOp::mean:
      return is_float(in) ? in : DType::f64;
    case ReduceOp::min:
    case ReduceOp::max:
      return in;
    case ReduceOp::argmin:
    case ReduceOp::argmax:
      break;
  }
  return DType::i64;
}

namespace reduce_plan {

Geometry geometry(const ReduceArgs& args) {
  Geometry g;
  const AxisSet axes(args.axes, args.in.rank());
  bool apart = false;  // reduced axes with another between them
  bool reduces = false;
  for (int d = 0; d < args.in.rank(); ++d) {
    const std::int64_t extent = args.in.shape[d];
    if (axes.contains(d)) {
      apart = apart || (g.inner != 1 && extent != 1);
      reduces = reduces || extent != 1;
      g.reduced *= extent;
    } else {
      (reduces ? g.inner : g.outer) *= extent;
    }
  }
  if (apart || !args.in.contiguous()) {
    g.pattern = Pattern::strided;
  } else if (g.inner != 1) {
    g.pattern = Pattern::columns;
  } else {
    g.pattern = g.outer == 1 ? Pattern::all : Pattern::rows;
  }
  return g;
}

bool serves_column_tiles(const ReduceArgs& args) {
  const Geometry shape = geometry(args);
  const auto bytes = shape.inner * static_cast<std::int64_t>(size_of(args.in.dtype));
  return shape.pattern == Pattern::columns && bytes % kVectorBytes == 0 &&
         reinterpret_cast<std::uintptr_t>(args.in.data) % kVectorBytes == 0;
}

bool serves_single_wave(const ReduceArgs& args, const DeviceProperties& device) {
  const std::int64_t bytes = args.in.numel() * static_cast<std::int64_t>(size_of(args.in.dtype));
  return geometry(args).pattern == Pattern::all &&
         reinterpret_cast<std::uintptr_t>(args.in.data) % kVectorBytes == 0 &&
         split_wave(bytes / kVectorBytes, device).loads <= wave_loads(args.op, size_of(args.in.dtype));
}

}  // namespace reduce_plan
}  // namespace rooftile
