// CPU rung serial: two loops, one accumulator.
#include "rooftile/ops/gemv/gemv_cpu.h"

namespace rooftile::ROOFTILE_TARGET::gemv_rungs {

Status ROOFTILE_RUNG(const Call<GemvArgs>& call) {
  return dispatch(Types{}, call.args.a.dtype, [&]<class T>() -> Status {
    using Acc = std::conditional_t<std::is_same_v<T, double>, long double, double>;
    const Operands<T> operands(call.args);
    const gemv_plan::Geometry& shape = operands.shape;
    for (std::int64_t batch = 0; batch < shape.batches; ++batch) {
      for (std::int64_t i = 0; i < shape.outputs(); ++i) {
        Acc sum = 0;
        for (std::int64_t j = 0; j < shape.reduced(); ++j) {
          const T a = shape.transposed ? operands.row(batch, j)[i] : operands.row(batch, i)[j];
          sum += static_cast<Acc>(number(a)) * number(operands.x(batch, j));
        }
        operands.store(batch, i, static_cast<double>(sum));
      }
    }
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemv_rungs
