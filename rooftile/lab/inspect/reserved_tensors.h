// The tensors of a case without memory behind them: what a launcher, a plan or choose() looks at is there, however large the
// case is.
#pragma once

#include <cstddef>
#include <vector>

#include "rooftile/core/case.h"
#include "rooftile/core/operator.h"
#include "rooftile/lab/case/problem.h"

namespace rooftile::lab {

// Addresses without memory: nobody reads what they hold, and who does stops there and then.
class Addresses {
 public:
  static Result<Addresses> reserve(std::size_t bytes);
  Addresses(Addresses&& other) noexcept;
  Addresses& operator=(Addresses&& other) noexcept;
  ~Addresses();
  [[nodiscard]] char* data() const { return static_cast<char*>(start_); }

 private:
  Addresses() = default;
  void* start_ = nullptr;
  std::size_t bytes_ = 0;
};

struct ReservedTensors {
  std::vector<Addresses> addresses;
  std::vector<TensorView> views;  // in slot order, on the device that the caller asked for
};

// Each tensor with the case's strides, and off its alignment by the case's offset.
[[nodiscard]] Result<ReservedTensors> reserve_tensors(const OperatorDescriptor& op, const Case& c,
                                                      const TensorPlan& plan, Device device);

}  // namespace rooftile::lab
