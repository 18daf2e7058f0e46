// What an operator's slots ask of a call, in numbers: a quick "nothing is wrong" for the ordinary call, whose tensors are
// all there, not empty, without gaps and apart. Any other call is left to check_slots, which knows all rules and says
// which one was broken.
#pragma once

#include <cstdint>
#include <vector>

#include "rooftile/core/operator.h"

namespace rooftile::detail {

class QuickSlotCheck {
 public:
  explicit QuickSlotCheck(const std::vector<TensorSlot>& slots);
  // True only where check_slots is ok of a complete call that has something to write.
  [[nodiscard]] bool surely_holds(const SlotViews& views, Device device) const;

 private:
  struct Rule {
    DTypeSet dtypes;
    std::int8_t min_rank;
    std::int8_t max_rank;
    std::int8_t dtype_of;  // a slot's index; -1: none
    std::int8_t shape_of;
    bool written;
  };
  std::vector<Rule> rules_;
  bool writes_ = false;
};

}  // namespace rooftile::detail
