#include "rooftile/lab/time/compute_bound.h"

#include <algorithm>
#include <limits>

namespace rooftile::lab {
namespace {

constexpr std::size_t kSinkBytes = 256;

}  // namespace

Result<ComputeBound> ComputeBound::create(StreamRef stream, const DeviceProperties& device, FlopUnit unit,
                                          double flops) {
  ComputeBound bound;
  ROOFTILE_TRY_ASSIGN(bound.arithmetic_, fastest_arithmetic(unit, device));
  bound.multiprocessors_ = device.multiprocessors;
  const double round = flops_per_round(bound.arithmetic_, device.multiprocessors);
  bound.rounds_ = static_cast<int>(std::clamp(flops / round, 1.0, double{std::numeric_limits<int>::max()}));
  bound.flops_ = bound.rounds_ * round;
  ROOFTILE_TRY_ASSIGN(bound.sink_, DeviceMemory::allocate(stream.device, kSinkBytes));
  return bound;
}

Status ComputeBound::launch(StreamRef stream) const {
  return arithmetic_cuda(stream, arithmetic_, multiprocessors_, rounds_, sink_.data());
}

}  // namespace rooftile::lab
