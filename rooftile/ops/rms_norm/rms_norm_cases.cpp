#include "rooftile/ops/rms_norm/rms_norm.h"

#include <span>
#include <utility>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/families/norm/norm_cases.h"
#include "rooftile/families/norm/norm_ref.h"

namespace rooftile {

void register_rms_norm_cases(Registry& registry) {
  const std::vector<ParamSpec>& params = rms_norm_operator().params;
  OperatorCases cases;
  cases.operator_name = "rms_norm";
  cases.shapes = {"n", "m,n"};
  cases.default_case =
      norm_cases::make_case(params, {.m = 16384, .n = 4096, .fill = Fill::normal, .tier = CaseTier::full});
  cases.default_host_case =
      norm_cases::make_case(params, {.m = 1024, .n = 4096, .fill = Fill::normal, .tier = CaseTier::full});
  cases.cases = [] { return norm_cases::all_cases(rms_norm_operator().params); };
  cases.plan = [](const Case& c) { return norm_cases::plan_case(c, /*has_bias=*/false); };
  cases.reference = [](const Case& c, std::span<const HostTensor> inputs) {
    return norm_reference(c, inputs, /*centred=*/false);
  };
  registry.add(std::move(cases));
}

}  // namespace rooftile
