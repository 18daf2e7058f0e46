// CPU rung serial: the definition, three loops.
#include "rooftile/ops/gemm/gemm_cpu.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  return with_problem(call.args, [&]<class T>(const Problem& p) {
    for (std::int64_t batch = 0; batch < p.batches; ++batch) {
      const auto* a = static_cast<const T*>(p.a_data) + batch * p.a.batch;
      const auto* b = static_cast<const T*>(p.b_data) + batch * p.b.batch;
      for (std::int64_t i = 0; i < p.m; ++i) {
        for (std::int64_t j = 0; j < p.n; ++j) {
          Sum<T> sum = 0;
          for (std::int64_t l = 0; l < p.k; ++l)
            sum += number(a[i * p.a.row + l * p.a.column]) * number(b[l * p.b.row + j * p.b.column]);
          give<T>(p, call.args.out.dtype, batch, i, j, sum);
        }
      }
    }
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
