// Status and Result: how every Rooftile call reports what went wrong.
//
// No call throws, exits or prints. A Status that is not ok carries its code, the operator, the rule that was broken (with
// how to mend it), the shapes and dtypes of the call, and the line of the call. Where the host's memory does not suffice
// for that, it says so and no more. Thread safety: a Status is an immutable value; copies share their detail.
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

static_assert(__cplusplus >= 202002L, "Rooftile needs C++20: pass -std=c++20 to nvcc as well (see cmake/)");

namespace rooftile {

enum class StatusCode : std::uint8_t {
  ok,
  invalid_argument,  // the call or its input is wrong: the caller can mend it
  unsupported,       // a legal call that this rung, dtype or device does not serve
  unavailable,       // the machine lacks what the call needs (GPU, driver, library)
  out_of_memory,     // an allocation failed; nothing was leaked and the next call works
  device_error,      // the device reported a failure
  io_error,          // a file could not be read or written
  check_failed,      // a verification found a mismatch
  internal,          // a bug in Rooftile
};

[[nodiscard]] std::string_view to_string(StatusCode code);

// std::source_location's file and line, which clang 14 cannot give.
struct SourceLocation {
  const char* file = "";
  unsigned line = 0;
  constexpr SourceLocation() = default;
  constexpr SourceLocation(const char* file_name, unsigned line_number)
      : file(file_name), line(line_number) {}
  // Of a std::source_location, which device code has.
  template <class Location>
  requires requires(const Location& location) { location.file_name(); }
  constexpr SourceLocation(const Location& location)  // NOLINT(google-explicit-constructor)
      : file(location.file_name()), line(location.line()) {}
  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(const Status& other) noexcept : detail_(other.detail_) {
    if (detail_ != nullptr) retain(detail_);
  }
  Status(Status&& other) noexcept : detail_(std::exchange(other.detail_, nullptr)) {}
  Status& operator=(Status other) noexcept {
    std::swap(detail_, other.detail_);
    return *this;
  }
  ~Status() {
    if (detail_ != nullptr) release(detail_);
  }

  // `rule` says what was broken and how to mend it, in one line without a full stop.
  static Status error(StatusCode code, std::string rule, SourceLocation where = SourceLocation::current());
  // The host has no memory left, not even for text. Allocates nothing.
  static Status host_out_of_memory() noexcept;

  [[nodiscard]] bool ok() const { return detail_ == nullptr; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] StatusCode code() const;
  [[nodiscard]] const std::string& operator_name() const;
  [[nodiscard]] const std::string& rule() const;
  [[nodiscard]] const std::string& shapes() const;
  // The caller's line, of an operator's call; otherwise the line that decided.
  [[nodiscard]] SourceLocation where() const;

  // The same error, with its operator or its shapes filled in where they are still empty.
  [[nodiscard]] Status with_operator(std::string_view name) const;
  [[nodiscard]] Status with_shapes(std::string_view shapes) const;
  // The same error of a call from this line.
  [[nodiscard]] Status with_caller(SourceLocation caller) const;

  // One line: "reduce: out must hold one element (in f32[8], out f32[2])".
  [[nodiscard]] std::string sentence() const;
  // The sentence and its code: "... [invalid argument]".
  [[nodiscard]] std::string message() const;

 private:
  // Counted by hand: <memory> is a fifth of what this header costs to compile, and every unit includes it.
  struct Detail;
  explicit Status(const Detail* detail) : detail_(detail) {}
  [[nodiscard]] Status with(std::string_view operator_name, std::string_view shapes,
                            SourceLocation where) const;
  static void retain(const Detail* detail);
  static void release(const Detail* detail);
  const Detail* detail_ = nullptr;
};

// Its message. A template, so that this header needs no <ostream>.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream, const Status& status) {
  return stream << status.message();
}

[[nodiscard]] Status invalid_argument(std::string rule, SourceLocation where = SourceLocation::current());
[[nodiscard]] Status unsupported(std::string rule, SourceLocation where = SourceLocation::current());
[[nodiscard]] Status unavailable(std::string rule, SourceLocation where = SourceLocation::current());
[[nodiscard]] Status io_error(std::string rule, SourceLocation where = SourceLocation::current());
[[nodiscard]] Status internal_error(std::string rule, SourceLocation where = SourceLocation::current());

// A value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T&& value) : value_(std::move(value)) {}             // NOLINT(google-explicit-constructor)
  Result(const T& value) requires std::copy_constructible<T>  // NOLINT(google-explicit-constructor)
      : value_(value) {}
  Result(Status status)  // NOLINT(google-explicit-constructor)
      : status_(status.ok() ? internal_error("a Result was built from an ok Status without a value")
                            : std::move(status)) {}

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Status& status() const { return status_; }

  // Precondition of value(), * and ->: ok().
  [[nodiscard]] T& value() & { return *value_; }
  [[nodiscard]] const T& value() const& { return *value_; }
  [[nodiscard]] T value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T operator*() && { return std::move(*value_); }
  [[nodiscard]] T value_or(T other) const& { return ok() ? *value_ : std::move(other); }
  [[nodiscard]] T value_or(T other) && { return ok() ? std::move(*value_) : std::move(other); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace rooftile

#define ROOFTILE_CONCAT_(a, b) a##b
#define ROOFTILE_CONCAT(a, b) ROOFTILE_CONCAT_(a, b)

// Returns the Status from the enclosing function unless it is ok. The names are new in each use, so that one may stand
// within another's expression.
#define ROOFTILE_TRY(...) ROOFTILE_TRY_(ROOFTILE_CONCAT(rooftile_status_, __COUNTER__), __VA_ARGS__)
#define ROOFTILE_TRY_(status, ...)                                              \
  do {                                                                          \
    if (::rooftile::Status status = (__VA_ARGS__); !status.ok()) return status; \
  } while (false)

// ROOFTILE_TRY_ASSIGN(auto x, make_x()): the value into x, or the Status returned. The expression may have commas; what
// is declared may not: write auto.
#define ROOFTILE_TRY_ASSIGN(target, ...) \
  ROOFTILE_TRY_ASSIGN_(target, ROOFTILE_CONCAT(rooftile_result_, __COUNTER__), __VA_ARGS__)
#define ROOFTILE_TRY_ASSIGN_(target, result, ...) \
  auto result = (__VA_ARGS__);                    \
  if (!result.ok()) return result.status();       \
  target = std::move(result).value()
