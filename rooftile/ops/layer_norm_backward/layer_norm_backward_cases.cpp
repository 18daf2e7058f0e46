#include <span>
#include <utility>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/families/norm/norm_backward_cases.h"
#include "rooftile/families/norm/norm_backward_ref.h"
#include "rooftile/ops/layer_norm_backward/layer_norm_backward.h"

namespace rooftile {

void register_layer_norm_backward_cases(Registry& registry) {
  const std::vector<ParamSpec>& params = layer_norm_backward_operator().params;
  OperatorCases cases;
  cases.operator_name = "layer_norm_backward";
  cases.shapes = {"m,n"};
  cases.default_case = norm_backward_cases::make_case(
      params, {.m = 16384, .n = 4096, .fill = Fill::normal, .tier = CaseTier::full});
  cases.default_host_case = norm_backward_cases::make_case(
      params, {.m = 1024, .n = 4096, .fill = Fill::normal, .tier = CaseTier::full});
  cases.cases = [] { return norm_backward_cases::all_cases(layer_norm_backward_operator().params); };
  cases.plan = [](const Case& c) { return norm_backward_cases::plan_case(c, /*has_bias=*/true); };
  cases.reference = [](const Case& c, std::span<const HostTensor> inputs) {
    return norm_backward_reference(c, inputs, /*centred=*/true);
  };
  registry.add(std::move(cases));
}

}  // namespace rooftile
