// An operator's typed arguments (ReduceArgs) without their type, by reference: on the way of a call.
#pragma once

#include <cassert>
#include <string_view>

namespace rooftile {

// Refers to arguments that outlive it. Never allocates.
class ArgsRef {
 public:
  ArgsRef() = default;
  template <class Args>
  static ArgsRef of(const Args& args) {
    ArgsRef ref;
    ref.args_ = &args;
    ref.type_ = type_text<Args>();
    return ref;
  }
  // Precondition: made from the same Args.
  template <class Args>
  [[nodiscard]] const Args& as() const {
    assert(type_ != nullptr && std::string_view(type_) == type_text<Args>());
    return *static_cast<const Args*>(args_);
  }

 private:
  // Tells types apart, by its text: a library that was loaded at run time has a function of its own for the same
  // type.
  template <class T>
  static constexpr const char* type_text() {
    return __PRETTY_FUNCTION__;
  }

  const void* args_ = nullptr;
  const char* type_ = nullptr;
};

}  // namespace rooftile
