#include "rooftile/lab/case/case_request.h"

#include <fmt/format.h>

#include <algorithm>

namespace rooftile::lab {
namespace {

// `keys` are the operator's, in order; a key that the default shape leaves out is put where it belongs.
Status set_extent(Shape& shape, const std::vector<std::string>& keys, const std::string& key,
                  const std::string& text) {
  const auto place = std::find(keys.begin(), keys.end(), key);
  if (place == keys.end()) {
    return invalid_argument(
        fmt::format("unknown shape key '{}': this operator takes {}", key, fmt::join(keys, ", ")));
  }
  Result<std::int64_t> count = parse_count(text);
  if (!count.ok()) return invalid_argument(fmt::format("shape {}={}: {}", key, text, count.status().rule()));
  const auto at = std::find_if(shape.begin(), shape.end(), [&](const auto& extent) {
    return std::find(keys.begin(), keys.end(), extent.first) >= place;
  });
  if (at != shape.end() && at->first == key) {
    at->second = *count;
  } else {
    shape.insert(at, {key, *count});
  }
  return {};
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
  for (const auto& [key, count] : request.shape) {
    if (Status status = set_extent(c.shape, cases.shape_keys, key, count); !status.ok())
      return status.with_operator(op.name);
  }
  for (const auto& [name, value] : request.args) {
    if (Status status = c.params.set(op.params, name, value); !status.ok())
      return status.with_operator(op.name);
  }
  if (request.dtype) c.dtype = *request.dtype;
  if (request.fill) c.fill = *request.fill;
  if (request.seed) c.seed = *request.seed;
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
                       c.fill == wanted.fill && c.offset == wanted.offset;
    if (alike && (!best || case_bytes(cases, c) > case_bytes(cases, *best))) best = std::move(c);
  }
  const double wanted_bytes = case_bytes(cases, wanted);
  if (wanted_bytes <= limit_bytes || (best && wanted_bytes <= case_bytes(cases, *best))) return wanted;
  if (best) best->seed = wanted.seed;
  return best;
}

}  // namespace rooftile::lab
