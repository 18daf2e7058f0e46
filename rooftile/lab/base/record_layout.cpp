#include "rooftile/lab/base/record_layout.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace rooftile::lab {
namespace {

using Json = nlohmann::ordered_json;

std::string line(const Json& json) {
  if (!json.is_structured()) return json.dump();
  std::string text;
  for (const auto& [key, value] : json.items()) {
    if (!text.empty()) text += ", ";
    if (json.is_object()) text += Json(key).dump() + ": ";
    text += line(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

bool holds_a_list_of_objects(const Json& json) {
  if (!json.is_structured()) return false;
  return std::any_of(json.begin(), json.end(), [&json](const Json& value) {
    return (json.is_array() && value.is_object()) || holds_a_list_of_objects(value);
  });
}

void write(const Json& json, const std::string& indent, std::string& text) {
  if (!holds_a_list_of_objects(json)) {
    text += line(json);
    return;
  }
  text += json.is_object() ? "{" : "[";
  const std::string inner = indent + " ";
  bool is_first = true;
  for (const auto& [key, value] : json.items()) {
    text += (is_first ? "\n" : ",\n") + inner;
    is_first = false;
    if (json.is_object()) text += Json(key).dump() + ": ";
    write(value, inner, text);
  }
  text += "\n" + indent + (json.is_object() ? "}" : "]");
}

}  // namespace

std::string record_layout(std::string_view json) {
  std::string text;
  write(Json::parse(json), "", text);
  return text + "\n";
}

}  // namespace rooftile::lab
