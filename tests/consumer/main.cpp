// Sums a few numbers through the library, and sees errors come back as a Status.
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "rooftile/rooftile.h"

static_assert(ROOFTILE_VERSION_MAJOR >= 0 && ROOFTILE_VERSION_MINOR >= 0 && ROOFTILE_VERSION_PATCH >= 0);

namespace {

bool sums(rooftile::Context& context) {
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 1.0f);
  float sum = 0.0f;
  const rooftile::Status status =
      rooftile::reduce(context, {.in = rooftile::view(values), .out = rooftile::view(sum)});
  if (status.ok() && sum == 500500.0f) return true;
  std::fprintf(stderr, "sum = %g, want 500500 (%s)\n", static_cast<double>(sum), status.message().c_str());
  return false;
}

bool refuses_another_dtype(rooftile::Context& context) {
  const float value = 1.0f;
  std::int64_t sum = 0;
  if (!rooftile::reduce(context, {.in = rooftile::view(value), .out = rooftile::view(sum)}).ok()) return true;
  std::fprintf(stderr, "an i64 result for an f32 sum was accepted\n");
  return false;
}

// This program has no simulated kernels.
bool says_what_is_not_linked() {
  rooftile::Result<rooftile::Context> context = rooftile::Context::create(rooftile::kSim);
  if (!context.ok()) {
    std::fprintf(stderr, "no context for sim: %s\n", context.status().message().c_str());
    return false;
  }
  const std::vector<float> values(1000, 1.0f);
  float sum = 0.0f;
  const rooftile::Status status = rooftile::reduce(
      *context,
      {.in = rooftile::view(values, rooftile::kSim), .out = rooftile::view(&sum, {}, rooftile::kSim)});
  if (status.message().find("not built into this program for sim") != std::string::npos) return true;
  std::fprintf(stderr, "no simulated kernels, and the library says: \"%s\"\n", status.message().c_str());
  return false;
}

}  // namespace

int main() {
  rooftile::Result<rooftile::Context> context = rooftile::Context::create(rooftile::kCpu);
  if (!context.ok()) {
    std::fprintf(stderr, "no context: %s\n", context.status().message().c_str());
    return 1;
  }
  if (!sums(*context) || !refuses_another_dtype(*context) || !says_what_is_not_linked()) return 1;
  std::puts("consumer of Rooftile " ROOFTILE_VERSION ": ok");
  return 0;
}
