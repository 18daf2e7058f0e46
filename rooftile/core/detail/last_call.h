// The last call that a Context served: what was decided of it holds for the same call again, which then needs no check
// and no plan.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rooftile/core/operator.h"

namespace rooftile::detail {

// What is decided of a call that was checked.
struct CallPlan {
  const LaunchFn* launch = nullptr;
  RungPlan rung_plan;
};

class LastCall {
 public:
  // Whether the last call was of this operator with these arguments.
  [[nodiscard]] bool is(const OperatorDescriptor& op, ArgsRef args) const {
    return number_ == op.number.value() && rungs_ == op.rungs.data() &&
           op.kept_args.equal(args, args_.data());
  }
  // A launch takes a copy: while it waits, its thread may be given another call.
  [[nodiscard]] const CallPlan& plan() const { return plan_; }
  void keep(const OperatorDescriptor& op, ArgsRef args, const CallPlan& plan) {
    if (op.kept_args.copy == nullptr) return;
    op.kept_args.copy(args, args_.data());
    plan_ = plan;
    number_ = op.number.value();
    rungs_ = op.rungs.data();
  }

 private:
  std::uint64_t number_ = 0;        // no descriptor's
  const RungRow* rungs_ = nullptr;  // where the plan's launch is one of
  CallPlan plan_;
  alignas(std::max_align_t) std::array<std::byte, KeptArgs::kBytes> args_{};
};

}  // namespace rooftile::detail
