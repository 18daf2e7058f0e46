#include "rooftile/ops/reduce/reduce_params.h"

#include <algorithm>
#include <string>

namespace rooftile::reduce_params {

std::vector<ParamSpec> specs() {
  return {
      {.name = "op",
       .default_value = std::string("sum"),
       .doc = "what combines two elements",
       .choices = {"sum", "mean", "min", "max", "argmin", "argmax"}},
      {.name = "axis",
       .default_value = std::string("all"),
       .doc = "the axis that is reduced, or all elements; -1 is the last",
       .choices = {"all", "0", "1", "2", "3", "4", "5", "6", "7", "-1"}},
      {.name = "out_dtype",
       .default_value = std::string("default"),
       .doc =
           "the result's dtype; default: 64 bits for integer sums, f64 for integer means, else the input's",
       .choices = {"default", "f64", "f32", "f16", "bf16", "i64", "u64"}}};
}

ReduceOp op(const Params& params) {
  const std::vector<std::string> names = specs()[0].choices;
  const auto at = std::find(names.begin(), names.end(), params.get_string("op"));
  return static_cast<ReduceOp>(at - names.begin());
}

std::optional<int> axis(const Params& params) {
  const std::string& text = params.get_string("axis");
  if (text == "all") return std::nullopt;
  return std::stoi(text);
}

Result<DType> out_dtype(const Params& params, DType in) {
  const std::string& text = params.get_string("out_dtype");
  if (text == "default") return reduce_out_dtype(op(params), in);
  return parse_dtype(text);
}

}  // namespace rooftile::reduce_params
