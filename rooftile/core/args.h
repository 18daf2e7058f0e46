// An operator's typed arguments (ReduceArgs) without their type, by reference: on the way of a call.
#pragma once

#include <cassert>

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

}  // namespace rooftile
