#include "rooftile/lab/case/case_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace rooftile::lab {
namespace {

using NamedCounts = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> keys_of(const std::string& shape) {
  std::vector<std::string> keys;
  std::istringstream text(shape);
  for (std::string key; std::getline(text, key, ',');) keys.push_back(key);
  return keys;
}

bool has(const NamedCounts& counts, const std::string& key) {
  return std::any_of(counts.begin(), counts.end(), [&](const auto& count) { return count.first == key; });
}

// The keys of a shape that these counts leave out.
std::vector<std::string> missing_keys(const std::string& shape, const NamedCounts& counts) {
  std::vector<std::string> keys = keys_of(shape);
  std::erase_if(keys, [&](const std::string& key) { return has(counts, key); });
  return keys;
}

// Why no shape of the operator has these keys.
Status no_such_shape(const std::vector<std::string>& shapes, const NamedCounts& counts) {
  const std::string legal =
      fmt::format("{} {}", shapes.size() == 1 ? "this operator takes" : "this operator takes one of",
                  fmt::join(shapes, " | "));
  std::string named;
  for (const auto& [key, count] : counts) {
    const bool known = std::any_of(shapes.begin(), shapes.end(), [&, &name = key](const std::string& shape) {
      const std::vector<std::string> keys = keys_of(shape);
      return std::find(keys.begin(), keys.end(), name) != keys.end();
    });
    if (!known) return invalid_argument(fmt::format("unknown shape key '{}': {}", key, legal));
    named += (named.empty() ? "" : ",") + key;
  }
  // The nearest shape that has them all.
  std::vector<std::string> lacking;
  for (const std::string& shape : shapes) {
    const std::vector<std::string> missing = missing_keys(shape, counts);
    if (missing.size() + counts.size() != keys_of(shape).size()) continue;
    if (lacking.empty() || missing.size() < lacking.size()) lacking = missing;
  }
  if (lacking.empty()) {
    return invalid_argument(fmt::format("the shape keys {} do not belong together: {}", named, legal));
  }
  return invalid_argument(
      fmt::format("the shape has {} but no {}: {}", named, fmt::join(lacking, ","), legal));
}

// The counts as one of the operator's shapes, in its order.
Result<Shape> make_shape(const std::vector<std::string>& shapes, const NamedCounts& counts) {
  for (auto count = counts.begin(); count != counts.end(); ++count) {
    if (has({counts.begin(), count}, count->first)) {
      return invalid_argument(fmt::format("the shape key '{}' is given twice", count->first));
    }
  }
  const auto found = std::find_if(shapes.begin(), shapes.end(), [&](const std::string& shape) {
    return keys_of(shape).size() == counts.size() && missing_keys(shape, counts).empty();
  });
  if (found == shapes.end()) return no_such_shape(shapes, counts);
  Shape shape;
  for (const std::string& key : keys_of(*found)) {
    const auto named =
        std::find_if(counts.begin(), counts.end(), [&](const auto& count) { return count.first == key; });
    const Result<std::int64_t> extent = parse_count(named->second);
    if (!extent.ok()) {
      return invalid_argument(fmt::format("shape {}={}: {}", key, named->second, extent.status().rule()));
    }
    shape.emplace_back(key, *extent);
  }
  return shape;
}

double case_bytes(const OperatorCases& cases, const Case& c) {
  const Result<CasePlan> plan = cases.plan(c);
  return plan.ok() ? plan->read_bytes + plan->write_bytes : 0.0;
}

bool same_params(const Case& a, const Case& b) { return a.params.values() == b.params.values(); }

}  // namespace

Result<Case> make_case(const OperatorDescriptor& op, const OperatorCases& cases, const CaseRequest& request,
                       DeviceKind kind) {
  Case c = kind == DeviceKind::cuda ? cases.default_case : cases.default_host_case;
  c.tier = CaseTier::quick;  // a case that the caller names runs wherever it is asked to
  if (!request.shape.empty()) {
    Result<Shape> shape = make_shape(cases.shapes, request.shape);
    if (!shape.ok()) return shape.status().with_operator(op.name);
    c.shape = std::move(*shape);
  }
  for (const auto& [name, value] : request.args) {
    if (Status status = c.params.set(op.params, name, value); !status.ok())
      return status.with_operator(op.name);
  }
  if (request.dtype) c.dtype = *request.dtype;
  if (request.fill) c.fill = *request.fill;
  if (request.seed) c.seed = *request.seed;
  c.in_place = c.in_place || request.in_place;
  if (request.offset) {
    if (*request.offset < 0 || *request.offset > 255) {
      return invalid_argument(fmt::format("offset {} is outside of 0 to 255 elements", *request.offset));
    }
    c.offset = *request.offset;
  }
  return c;
}

std::optional<Case> simulated_case(const OperatorCases& cases, const Case& wanted, double limit_bytes) {
  std::optional<Case> best;
  for (Case& c : cases.cases()) {
    const bool alike = c.tier == CaseTier::quick && c.dtype == wanted.dtype && same_params(c, wanted) &&
                       c.fill == wanted.fill && c.offset == wanted.offset && c.in_place == wanted.in_place;
    if (alike && (!best || case_bytes(cases, c) > case_bytes(cases, *best))) best = std::move(c);
  }
  const double wanted_bytes = case_bytes(cases, wanted);
  if (wanted_bytes <= limit_bytes || (best && wanted_bytes <= case_bytes(cases, *best))) return wanted;
  if (best) best->seed = wanted.seed;
  return best;
}

}  // namespace rooftile::lab
