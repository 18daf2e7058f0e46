// An operator's named parameters: declared once, parsed from the command line, printed into JSON and docs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "rooftile/core/dtype.h"
#include "rooftile/core/status.h"

namespace rooftile {

// The value of an optional parameter that has none, by the word that stands for it ("all", "default").
struct NoValue {
  std::string word;
  friend bool operator==(const NoValue&, const NoValue&) = default;
};

enum class ParamType { boolean, integer, real, text, dtype, integers };
using ParamValue =
    std::variant<bool, std::int64_t, double, std::string, DType, std::vector<std::int64_t>, NoValue>;
[[nodiscard]] std::string to_string(const ParamValue& value);
// As JSON has it: dtypes, lists and the word for no value as text.
[[nodiscard]] std::variant<bool, std::int64_t, double, std::string> plain_value(const ParamValue& value);

struct ParamSpec {
  std::string name;
  ParamValue default_value;
  std::string doc{};
  std::vector<std::string>
      choices{};                 // for a text: the legal values, in the order of the enum they stand for
  std::size_t most_choices = 1;  // more than 1: a list of so many of them at most, divided by commas
  double minimum = 0;            // for a number: the range, ends included, where minimum <= maximum says so
  double maximum = -1;
  std::string none{};               // for an optional parameter: the word for no value
  std::optional<ParamType> type{};  // unset: that of default_value; needed where the default is no value
  bool of_cases = false;            // shapes generated cases; a call has no such parameter
};
// What a user may write for it: "sum | mean", "a dtype, or default", "a number from 0 to 1".
[[nodiscard]] std::string legal_values(const ParamSpec& spec);

// Values for a list of specs: every spec has one, defaults where nobody set it.
class Params {
 public:
  Params() = default;
  explicit Params(const std::vector<ParamSpec>& specs);

  // Parses `text` for the spec's type and range. An unknown name lists the nearest one.
  [[nodiscard]] Status set(const std::vector<ParamSpec>& specs, std::string_view name, std::string_view text);

  // Precondition of the getters: the name exists with that type; a program that breaks it is aborted.
  [[nodiscard]] bool get_bool(std::string_view name) const { return get<bool>(name); }
  [[nodiscard]] std::int64_t get_int(std::string_view name) const { return get<std::int64_t>(name); }
  [[nodiscard]] double get_double(std::string_view name) const { return get<double>(name); }
  [[nodiscard]] const std::string& get_string(std::string_view name) const { return get<std::string>(name); }
  [[nodiscard]] std::optional<std::int64_t> get_optional_int(std::string_view name) const {
    return get_optional<std::int64_t>(name);
  }
  [[nodiscard]] std::optional<DType> get_optional_dtype(std::string_view name) const {
    return get_optional<DType>(name);
  }
  [[nodiscard]] const ParamValue& at(std::string_view name) const;

  [[nodiscard]] const std::vector<std::pair<std::string, ParamValue>>& values() const { return values_; }

 private:
  template <class T>
  [[nodiscard]] const T& get(std::string_view name) const {
    const T* value = std::get_if<T>(&at(name));
    if (value == nullptr) fail_type(name);
    return *value;
  }
  template <class T>
  [[nodiscard]] std::optional<T> get_optional(std::string_view name) const {
    if (std::holds_alternative<NoValue>(at(name))) return std::nullopt;
    return get<T>(name);
  }
  [[noreturn]] static void fail_type(std::string_view name);
  std::vector<std::pair<std::string, ParamValue>> values_;
};

// A copy with one value replaced, for lists of cases. Precondition: the value is legal for the spec of that name; a
// program that breaks it is aborted.
[[nodiscard]] Params with(const std::vector<ParamSpec>& specs, std::string_view name, std::string_view text);

// "2^20", "1048576", "4Ki"/"1Mi"/"1Gi" (powers of 1024). An error for anything else, negative or above 2^62.
[[nodiscard]] Result<std::int64_t> parse_count(std::string_view text);

// The shortest candidate that the name abbreviates; else the one with the least edit distance; empty where none is near.
[[nodiscard]] std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace rooftile
