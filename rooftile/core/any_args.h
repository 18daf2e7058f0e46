// An operator's typed arguments (ReduceArgs) without their type, owned: for who keeps them (the lab).
#pragma once

#include <memory>
#include <utility>

#include "rooftile/core/args.h"

namespace rooftile {

// Owns arguments; copies share them.
class AnyArgs {
 public:
  AnyArgs() = default;
  template <class Args>
  static AnyArgs of(Args args) {
    AnyArgs any;
    auto owned = std::make_shared<const Args>(std::move(args));
    any.ref_ = ArgsRef::of(*owned);
    any.owned_ = std::move(owned);
    return any;
  }
  operator ArgsRef() const { return ref_; }  // NOLINT(google-explicit-constructor)
  template <class Args>
  [[nodiscard]] const Args& as() const {
    return ref_.as<Args>();
  }

 private:
  std::shared_ptr<const void> owned_;
  ArgsRef ref_;
};

}  // namespace rooftile
