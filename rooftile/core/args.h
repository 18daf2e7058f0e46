// An operator's typed arguments (ReduceArgs) without their type, by reference: on the way of a call.
#pragma once

#include <cassert>
#include <typeinfo>

namespace rooftile {

// Refers to arguments that outlive it. Never allocates.
class ArgsRef {
 public:
  ArgsRef() = default;
  template <class Args>
  static ArgsRef of(const Args& args) {
    ArgsRef ref;
    ref.args_ = &args;
    ref.type_ = &typeid(Args);
    return ref;
  }
  // Precondition: made from the same Args.
  template <class Args>
  [[nodiscard]] const Args& as() const {
    // Compared by value: a peer from a library loaded at run time has an object of its own for the same type.
    assert(type_ != nullptr && *type_ == typeid(Args));
    return *static_cast<const Args*>(args_);
  }

 private:
  const void* args_ = nullptr;
  const std::type_info* type_ = nullptr;
};

}  // namespace rooftile
