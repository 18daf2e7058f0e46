// An operator's named parameters: declared once, parsed from the command line, printed into JSON and docs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "rooftile/core/status.h"

namespace rooftile {

using ParamValue = std::variant<bool, std::int64_t, double, std::string>;
[[nodiscard]] std::string to_string(const ParamValue& value);

struct ParamSpec {
  std::string name;
  ParamValue default_value;  // its type is the parameter's type
  std::string doc{};
  std::vector<std::string>
      choices{};       // for a string: the legal values, in the order of the enum they stand for
  double minimum = 0;  // for a number: the range, ends included, where minimum <= maximum says so
  double maximum = -1;
};

// Values for a list of specs: every spec has one, defaults where nobody set it.
class Params {
 public:
  Params() = default;
  explicit Params(const std::vector<ParamSpec>& specs);

  // Parses `text` for the spec's type and range. An unknown name lists the nearest one.
  [[nodiscard]] Status set(const std::vector<ParamSpec>& specs, std::string_view name, std::string_view text);

  // Precondition of the getters: the name exists with that type.
  [[nodiscard]] bool get_bool(std::string_view name) const { return std::get<bool>(find(name)); }
  [[nodiscard]] std::int64_t get_int(std::string_view name) const {
    return std::get<std::int64_t>(find(name));
  }
  [[nodiscard]] double get_double(std::string_view name) const { return std::get<double>(find(name)); }
  [[nodiscard]] const std::string& get_string(std::string_view name) const {
    return std::get<std::string>(find(name));
  }

  [[nodiscard]] const std::vector<std::pair<std::string, ParamValue>>& values() const { return values_; }

 private:
  [[nodiscard]] const ParamValue& find(std::string_view name) const;
  std::vector<std::pair<std::string, ParamValue>> values_;
};

// A copy with one value replaced, for lists of cases. Precondition: the value is legal for the spec of that
// name.
[[nodiscard]] Params with(const std::vector<ParamSpec>& specs, std::string_view name, std::string_view text);

// "2^20", "1048576", "4Ki"/"1Mi"/"1Gi" (powers of 1024). An error for anything else, negative or above 2^62.
[[nodiscard]] Result<std::int64_t> parse_count(std::string_view text);

// The candidate with the least edit distance, or empty where none is near.
[[nodiscard]] std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace rooftile
