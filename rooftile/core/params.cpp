#include "rooftile/core/params.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace rooftile {
namespace {

constexpr std::int64_t kMaxCount = std::int64_t{1} << 62;
constexpr std::string_view kCountForms = "write 1048576, 2^20, 4Ki, 1Mi or 1Gi";

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string format_double(double value) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::string(text.data(), end) : std::to_string(value);
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// ": did you mean max? (one of sum, max)"
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  if (candidates.empty()) return "";
  const std::string nearest = nearest_name(name, candidates);
  if (nearest.empty()) return ": use one of " + join(candidates);
  return ": did you mean " + nearest + "? (one of " + join(candidates) + ")";
}

Result<ParamValue> parse_bool(std::string_view text) {
  if (text == "true" || text == "1") return ParamValue(true);
  if (text == "false" || text == "0") return ParamValue(false);
  return invalid_argument(quoted(text) + " is neither true nor false: write true, false, 1 or 0");
}

Result<ParamValue> parse_int(std::string_view text) {
  const bool negative = text.starts_with('-');
  const Result<std::int64_t> count = parse_count(negative ? text.substr(1) : text);
  if (!count.ok()) return count.status();
  return ParamValue(negative ? -*count : *count);
}

Result<ParamValue> parse_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return invalid_argument(quoted(text) + " does not fit in a double");
  if (error != std::errc() || end != text.data() + text.size()) {
    return invalid_argument(quoted(text) + " is not a number: write it like 0.5 or 1e-6");
  }
  return ParamValue(value);
}

Result<ParamValue> parse_integers(std::string_view text) {
  std::vector<std::int64_t> values;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const Result<ParamValue> value = parse_int(text.substr(0, comma));
    if (!value.ok()) return value.status();
    values.push_back(std::get<std::int64_t>(*value));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return ParamValue(std::move(values));
}

ParamType type_of(const ParamValue& value) {
  constexpr std::array kTypes = {ParamType::boolean, ParamType::integer,  ParamType::real, ParamType::text,
                                 ParamType::dtype,   ParamType::integers, ParamType::text};
  static_assert(kTypes.size() == std::variant_size_v<ParamValue>);
  return kTypes[value.index()];
}
ParamType type_of(const ParamSpec& spec) { return spec.type.value_or(type_of(spec.default_value)); }

Result<ParamValue> parse_as(const ParamSpec& spec, std::string_view text) {
  if (!spec.none.empty() && text == spec.none) return ParamValue(NoValue{spec.none});
  switch (type_of(spec)) {
    case ParamType::boolean:
      return parse_bool(text);
    case ParamType::integer:
      return parse_int(text);
    case ParamType::real:
      return parse_double(text);
    case ParamType::integers:
      return parse_integers(text);
    case ParamType::dtype: {
      const Result<DType> dtype = parse_dtype(text);
      if (!dtype.ok()) return dtype.status();
      return ParamValue(*dtype);
    }
    case ParamType::text:
      break;
  }
  return ParamValue(std::string(text));
}

Status check_range(const ParamSpec& spec, double number, const ParamValue& value) {
  if (!(spec.minimum <= spec.maximum)) return {};
  if (number >= spec.minimum && number <= spec.maximum) return {};  // false for NaN
  return invalid_argument(to_string(value) + " is out of range: use " + format_double(spec.minimum) + " to " +
                          format_double(spec.maximum));
}

Status check_choice(const ParamSpec& spec, const std::string& text) {
  if (spec.choices.empty() || std::find(spec.choices.begin(), spec.choices.end(), text) != spec.choices.end())
    return {};
  return invalid_argument(quoted(text) + " is unknown" + suggestion(text, spec.choices));
}

Status check_choices(const ParamSpec& spec, std::string_view text) {
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    const std::size_t comma = std::min(text.find(','), text.size());
    ROOFTILE_TRY(check_choice(spec, std::string(text.substr(0, comma))));
    more = comma < text.size();
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  if (count <= spec.most_choices) return {};
  return invalid_argument("a list of " + std::to_string(count) + " is too long: at most " +
                          std::to_string(spec.most_choices));
}

Status check_legal(const ParamSpec& spec, const ParamValue& value) {
  if (const auto* text = std::get_if<std::string>(&value))
    return spec.most_choices > 1 ? check_choices(spec, *text) : check_choice(spec, *text);
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return check_range(spec, static_cast<double>(*integer), value);
  if (const auto* number = std::get_if<double>(&value)) return check_range(spec, *number, value);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (const std::int64_t entry : *list)
      ROOFTILE_TRY(check_range(spec, static_cast<double>(entry), ParamValue(entry)));
  }
  return {};
}

// Insertions, deletions, substitutions and swaps of neighbours that turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// A list of cases, or an operator, that contradicts its own parameters: nothing that a caller could mend.
[[noreturn]] void broken(std::string_view rule, std::string_view what) {
  std::fprintf(stderr, "rooftile: %.*s: %.*s\n", static_cast<int>(rule.size()), rule.data(),
               static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace

std::string to_string(const ParamValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value)) return format_double(*number);
  if (const auto* dtype = std::get_if<DType>(&value)) return std::string(to_string(*dtype));
  if (const auto* none = std::get_if<NoValue>(&value)) return none->word;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    std::string text;
    for (const std::int64_t entry : *list) text += (text.empty() ? "" : ",") + std::to_string(entry);
    return text;
  }
  return std::get<std::string>(value);
}

std::variant<bool, std::int64_t, double, std::string> plain_value(const ParamValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return to_string(value);
}

std::string legal_values(const ParamSpec& spec) {
  const auto range = [&] {
    return spec.minimum <= spec.maximum
               ? " from " + format_double(spec.minimum) + " to " + format_double(spec.maximum)
               : std::string();
  };
  const auto of_type = [&]() -> std::string {
    switch (type_of(spec)) {
      case ParamType::boolean:
        return "true | false";
      case ParamType::integer:
        return "an integer" + range();
      case ParamType::real:
        return "a number" + range();
      case ParamType::integers:
        return "integers" + range() + ", divided by commas";
      case ParamType::dtype:
        return "a dtype";
      case ParamType::text:
        break;
    }
    std::string text;
    for (const std::string& choice : spec.choices) text += (text.empty() ? "" : " | ") + choice;
    if (spec.most_choices > 1)
      text += "; up to " + std::to_string(spec.most_choices) + " of them, divided by commas";
    return text.empty() ? "text" : text;
  };
  return spec.none.empty() ? of_type() : of_type() + ", or " + spec.none;
}

Params::Params(const std::vector<ParamSpec>& specs) {
  values_.reserve(specs.size());
  for (const ParamSpec& spec : specs) values_.emplace_back(spec.name, spec.default_value);
}

Status Params::set(const std::vector<ParamSpec>& specs, std::string_view name, std::string_view text) {
  const auto spec =
      std::find_if(specs.begin(), specs.end(), [&](const ParamSpec& s) { return s.name == name; });
  if (spec == specs.end()) {
    std::vector<std::string> names;
    for (const ParamSpec& s : specs) names.push_back(s.name);
    if (names.empty())
      return invalid_argument("unknown parameter " + quoted(name) + ": there are none to set");
    return invalid_argument("unknown parameter " + quoted(name) + suggestion(name, names));
  }
  const auto in_parameter = [&](const Status& status) {
    return invalid_argument("parameter " + spec->name + ": " + status.rule());
  };
  Result<ParamValue> value = parse_as(*spec, text);
  if (!value.ok()) return in_parameter(value.status());
  if (const Status legal = check_legal(*spec, *value); !legal.ok()) return in_parameter(legal);
  for (auto& [known, current] : values_) {
    if (known != name) continue;
    current = std::move(value).value();
    return {};
  }
  values_.emplace_back(spec->name, std::move(value).value());
  return {};
}

const ParamValue& Params::at(std::string_view name) const {
  for (const auto& [known, value] : values_) {
    if (known == name) return value;
  }
  broken("there is no parameter of this name", name);
}

void Params::fail_type(std::string_view name) { broken("the parameter has another type", name); }

Params with(const std::vector<ParamSpec>& specs, std::string_view name, std::string_view text) {
  Params params(specs);
  if (const Status status = params.set(specs, name, text); !status.ok()) broken(status.rule(), text);
  return params;
}

Result<std::int64_t> parse_count(std::string_view text) {
  const auto not_a_count = [&] {
    return invalid_argument(quoted(text) + " is not a count: " + std::string(kCountForms));
  };
  const auto too_large = [&] { return invalid_argument(quoted(text) + " is too large: the limit is 2^62"); };
  if (text.starts_with('-')) return invalid_argument(quoted(text) + " is negative: a count starts at 0");

  std::string_view digits = text;
  int shift = 0;
  const bool power = text.starts_with("2^");
  if (power) {
    digits = text.substr(2);
  } else if (text.size() > 2 && text.ends_with('i')) {
    const std::string_view suffix = text.substr(text.size() - 2);
    shift = suffix == "Ki" ? 10 : suffix == "Mi" ? 20 : suffix == "Gi" ? 30 : 0;
    if (shift == 0) return not_a_count();
    digits = text.substr(0, text.size() - 2);
  }
  if (digits.empty() ||
      !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return not_a_count();
  }
  std::int64_t value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc())
    return too_large();
  if (power) {
    if (value > 62) return too_large();
    return std::int64_t{1} << value;
  }
  if (value > kMaxCount >> shift) return too_large();
  return value << shift;
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kMeaningfulPrefix = 3;
  const std::string typed = lower(name);
  std::string nearest;
  std::pair<bool, std::size_t> least;  // abbreviations come first, then what differs by fewer letters
  for (const std::string& candidate : candidates) {
    const std::string known = lower(candidate);
    const std::size_t longer = std::max(typed.size(), known.size());
    const std::size_t shorter = std::min(typed.size(), known.size());
    // A third of the letters may be wrong; an abbreviation may miss more.
    const std::size_t limit = std::max<std::size_t>(1, longer / 3);
    const bool abbreviation = typed.size() >= kMeaningfulPrefix && known.starts_with(typed);
    if (!abbreviation && longer - shorter > limit) continue;
    const std::size_t distance = abbreviation ? longer - shorter : edit_distance(typed, known);
    if (!abbreviation && (distance > limit || distance >= longer)) continue;
    const std::pair place(!abbreviation, distance);
    if (nearest.empty() || place < least) {
      nearest = candidate;
      least = place;
    }
  }
  return nearest;
}

}  // namespace rooftile
