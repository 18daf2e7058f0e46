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
    std::pair{Fill::nan_inside, std::string_view("nan_inside")},
    std::pair{Fill::rising, std::string_view("rising")},
    std::pair{Fill::falling, std::string_view("falling")},
    std::pair{Fill::inf_inside, std::string_view("inf_inside")},
    std::pair{Fill::one_maximum, std::string_view("one_maximum")},
    std::pair{Fill::tile_maximum, std::string_view("tile_maximum")},
    std::pair{Fill::normal, std::string_view("normal")},
    std::pair{Fill::log_uniform, std::string_view("log_uniform")},
    std::pair{Fill::any_bits, std::string_view("any_bits")},
    std::pair{Fill::equal, std::string_view("equal")},
    std::pair{Fill::tile_minimum, std::string_view("tile_minimum")},
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

double case_number(const Case& c, std::string_view name, double none) {
  const auto* number = std::get_if<double>(&c.params.at(name));
  return number == nullptr ? none : *number;
}

std::int64_t case_count(const Case& c, std::string_view name, std::int64_t none) {
  return static_cast<std::int64_t>(case_number(c, name, static_cast<double>(none)));
}

std::string to_string(const Shape& shape) {
  std::string text;
  for (const auto& [name, extent] : shape) {
    if (!text.empty()) text += ',';
    text += name + "=" + std::to_string(extent);
  }
  return text;
}

std::span<const Fill> all_fills() {
  static constexpr auto kAll = [] {
    std::array<Fill, kFills.size()> fills{};
    for (std::size_t i = 0; i < fills.size(); ++i) fills[i] = kFills[i].first;
    return fills;
  }();
  return kAll;
}

std::string_view to_string(Fill fill) {
  for (const auto& [value, name] : kFills) {
    if (value == fill) return name;
  }
  return "unknown fill";
}

std::string_view to_string(FlopUnit unit) {
  switch (unit) {
    case FlopUnit::none:
      return "none";
    case FlopUnit::fma_f32:
      return "fma_f32";
    case FlopUnit::fma_f64:
      return "fma_f64";
    case FlopUnit::tensor_bf16:
      return "tensor_bf16";
    case FlopUnit::tensor_f16:
      return "tensor_f16";
    case FlopUnit::tensor_tf32:
      return "tensor_tf32";
    case FlopUnit::tensor_f8e4m3:
      return "tensor_f8e4m3";
    case FlopUnit::tensor_f64:
      return "tensor_f64";
  }
  return "none";
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
  if (c.in_place) id += ",in_place";
  return id;
}

Result<CasePlan> elementwise_plan(const Case& c, const Extents& shape, double flops_per_element) {
  ROOFTILE_TRY_ASSIGN(const std::int64_t numel, checked_numel(shape, size_of(c.dtype)));
  const double bytes = static_cast<double>(numel) * static_cast<double>(size_of(c.dtype));
  return CasePlan{.inputs = {{c.dtype, shape}},
                  .read_bytes = bytes,
                  .write_bytes = bytes,
                  .flops = flops_per_element * static_cast<double>(numel)};
}

std::vector<Expected> exactly(HostTensor exact, std::string rule) {
  std::vector<Expected> outputs(1);
  outputs[0].exact = std::move(exact);
  outputs[0].factor = 0;
  outputs[0].rule = std::move(rule);
  return outputs;
}

std::span<const std::int64_t> edge_lengths() {
  static constexpr std::array<std::int64_t, 12> kLengths = {0,   1,   31,   32,   33,   255,
                                                            256, 257, 1023, 1024, 1025, 16384};
  return kLengths;
}

std::vector<Case> vector_cases(std::initializer_list<DType> dtypes, const Params& params, bool in_place) {
  constexpr std::int64_t kSmall = 1025;
  constexpr std::int64_t kLarge = (std::int64_t{1} << 22) + 1;
  std::vector<Case> cases;
  for (const DType dtype : dtypes) {
    const Case small{.shape = {{"n", kSmall}}, .dtype = dtype, .params = params};
    for (const std::int64_t n : edge_lengths()) {
      cases.push_back(small);
      cases.back().shape = {{"n", n}};
    }
    for (const Fill fill : all_fills()) {
      if (fill == Fill::uniform) continue;
      cases.push_back(small);
      cases.back().fill = fill;
      cases.back().offset = static_cast<int>(fill);
    }
    if (in_place) {
      for (const int offset : {0, 1}) {
        cases.push_back(small);
        cases.back().offset = offset;
        cases.back().in_place = true;
      }
    }
    cases.push_back(small);
    cases.back().shape = {{"n", kLarge}};
    cases.back().tier = CaseTier::full;
  }
  return cases;
}

}  // namespace rooftile
