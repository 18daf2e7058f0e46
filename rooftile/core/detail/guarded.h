// The edge of the library: behind it an allocation may throw, before it nothing does.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "rooftile/core/status.h"

namespace rooftile::detail {

// body()'s Status or Result, or the error that an exception stands for.
template <class Body>
auto guarded(Body&& body) noexcept -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return Status::host_out_of_memory();
  } catch (const std::exception& error) {
    try {
      return internal_error(std::string("an exception was thrown: ") + error.what());
    } catch (...) {
      return Status::host_out_of_memory();
    }
  }
}

// The same of a function that was called from this line: its errors name it.
template <class Body>
auto guarded(SourceLocation caller, Body&& body) noexcept -> decltype(body()) {
  auto outcome = guarded(std::forward<Body>(body));
  if (outcome.ok()) return outcome;
  if constexpr (requires { outcome.status(); })
    return outcome.status().with_caller(caller);
  else
    return outcome.with_caller(caller);
}

}  // namespace rooftile::detail
