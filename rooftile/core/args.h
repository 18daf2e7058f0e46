// An operator's typed arguments (ReduceArgs) without their type: by reference on the way of a call, owned by who keeps
// them (the lab).
#pragma once

#include <cassert>
#include <memory>
#include <utility>

namespace rooftile {

// Its address tells types apart.
template <class T>
inline constexpr char kTypeTag = 0;

// Refers to arguments that outlive it. Never allocates.
class ArgsRef {
 public:
  ArgsRef() = default;
  template <class Args>
  static ArgsRef of(const Args& args) {
    ArgsRef ref;
    ref.args_ = &args;
    ref.type_ = &kTypeTag<Args>;
    return ref;
  }
  // Precondition: made from the same Args.
  template <class Args>
  [[nodiscard]] const Args& as() const {
    assert(type_ == &kTypeTag<Args>);
    return *static_cast<const Args*>(args_);
  }

 private:
  const void* args_ = nullptr;
  const void* type_ = nullptr;
};

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
