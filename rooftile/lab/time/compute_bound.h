// The compute bound: how long this device takes for the operations of a case when it does nothing else. Of it and the
// streaming bound (stream_bound.h) the slower one is the bound of the case.
#pragma once

#include "rooftile/core/memory.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/lab/time/arithmetic.h"

namespace rooftile::lab {

class ComputeBound {
 public:
  // `unsupported` where the device has no such unit, or its rate is not measured here.
  static Result<ComputeBound> create(StreamRef stream, const DeviceProperties& device, FlopUnit unit,
                                     double flops);
  ComputeBound() = default;

  [[nodiscard]] Arithmetic arithmetic() const { return arithmetic_; }
  // Of one launch: never more than was asked for, but for one round of all SMs, which is the least.
  [[nodiscard]] double flops() const { return flops_; }
  // Enqueues them: no allocation, no synchronisation.
  [[nodiscard]] Status launch(StreamRef stream) const;

 private:
  Arithmetic arithmetic_ = Arithmetic::fma_f32;
  int multiprocessors_ = 0;
  int rounds_ = 1;
  double flops_ = 0;
  DeviceMemory sink_;  // where a kernel could leave its sums, so that nothing is optimised away
};

}  // namespace rooftile::lab
