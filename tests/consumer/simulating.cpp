// GPU kernels without a GPU: what links rooftile::sim runs them on the simulated SM.
#include <cstdio>
#include <numeric>
#include <vector>

#include "rooftile/rooftile.h"

namespace {

rooftile::Status run(float& sum, std::vector<float>& transposed) {
  ROOFTILE_TRY_ASSIGN(rooftile::Context context, rooftile::Context::create(rooftile::kSim));
  std::vector<float> values(6);
  std::iota(values.begin(), values.end(), 1.0f);
  ROOFTILE_TRY(rooftile::reduce(context, {.in = rooftile::view(values, rooftile::kSim),
                                          .out = rooftile::view(&sum, {}, rooftile::kSim)}));
  return rooftile::transpose(context, {.in = rooftile::view(values, {2, 3}, rooftile::kSim),
                                       .out = rooftile::view(transposed, {3, 2}, rooftile::kSim)});
}

}  // namespace

int main() {
  float sum = 0.0f;
  std::vector<float> transposed(6);
  const rooftile::Status status = run(sum, transposed);
  if (!status.ok() || sum != 21.0f || transposed != std::vector<float>{1, 4, 2, 5, 3, 6}) {
    std::fprintf(stderr, "sum = %g, want 21 (%s)\n", static_cast<double>(sum), status.message().c_str());
    return 1;
  }
  std::puts("simulating consumer: ok");
  return 0;
}
