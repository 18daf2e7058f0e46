// CPU rung serial: one loop, one accumulator.
#include "rooftile/ops/dot/dot_cpu.h"

namespace rooftile::ROOFTILE_TARGET::dot_rungs {

Status ROOFTILE_RUNG(const Call<DotArgs>& call) {
  return dispatch(Types{}, call.args.a.dtype, [&]<class T>() -> Status {
    using Acc = std::conditional_t<std::is_same_v<T, double>, long double, double>;
    const Elements<T> x(call.args);
    Acc sum = 0;
    for (std::int64_t i = 0; i < call.args.a.numel(); ++i)
      sum += static_cast<Acc>(number(x.a[i * x.a_stride])) * number(x.b[i * x.b_stride]);
    store_from_double(call.args.out.data, call.args.out.dtype, static_cast<double>(sum));
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::dot_rungs
