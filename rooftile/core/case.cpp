#include "rooftile/core/case.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace rooftile {
namespace {

constexpr std::array kFills = {
    std::pair{Fill::uniform, std::string_view("uniform")},
    std::pair{Fill::small_integers, std::string_view("small_integers")},
    std::pair{Fill::nan_at_last, std::string_view("nan_at_last")},
    std::pair{Fill::special, std::string_view("special")},
};

}  // namespace

std::int64_t shape_at(const Shape& shape, std::string_view key) {
  for (const auto& [name, extent] : shape) {
    if (name == key) return extent;
  }
  std::fprintf(stderr, "rooftile: the shape %s has no key %.*s\n", to_string(shape).c_str(),
               static_cast<int>(key.size()), key.data());
  std::abort();
}

std::string to_string(const Shape& shape) {
  std::string text;
  for (const auto& [name, extent] : shape) {
    if (!text.empty()) text += ',';
    text += name + "=" + std::to_string(extent);
  }
  return text;
}

std::string_view to_string(Fill fill) {
  for (const auto& [value, name] : kFills) {
    if (value == fill) return name;
  }
  return "unknown fill";
}

Result<Fill> parse_fill(std::string_view text) {
  std::vector<std::string> names;
  std::string list;
  for (const auto& [value, name] : kFills) {
    if (name == text) return value;
    names.emplace_back(name);
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  const std::string nearest = nearest_name(text, names);
  return invalid_argument("unknown fill \"" + std::string(text) + "\": " +
                          (nearest.empty() ? "" : "did you mean " + nearest + "? ") + "use one of " + list);
}

std::string case_id(const Case& c) {
  std::string id = to_string(c.shape);
  if (!id.empty()) id += ',';
  id += to_string(c.dtype);
  for (const auto& [name, value] : c.params.values()) id += "," + name + "=" + to_string(value);
  id += ",fill=" + std::string(to_string(c.fill)) + ",offset=" + std::to_string(c.offset);
  if (c.seed != Case().seed) id += ",seed=" + std::to_string(c.seed);
  return id;
}

}  // namespace rooftile
