// CPU rung serial: the definition, in double. It serves temperature 0, too.
#include <algorithm>

#include "rooftile/ops/softmax/softmax_cpu.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
void one_hot(const Row<T>& row, double maximum, bool log) {
  const bool is_nan = std::isnan(maximum);
  bool is_found = is_nan || maximum == -kInfinity;
  for (std::int64_t j = 0; j < row.rows.length; ++j) {
    const bool is_chosen = !is_found && static_cast<double>(row.value(j)) == maximum;
    if (is_chosen) is_found = true;
    row.store(j, is_nan ? maximum : log ? (is_chosen ? 0.0 : -kInfinity) : (is_chosen ? 1.0 : 0.0));
  }
}

template <class T>
void softmax_row(const Row<T>& row, double temperature, bool log) {
  double maximum = -kInfinity;
  for (std::int64_t j = 0; j < row.rows.length; ++j) {
    const double value = row.value(j);
    maximum = std::isnan(value) || std::isnan(maximum) ? value + maximum : std::max(maximum, value);
  }
  if (temperature == 0) return one_hot(row, maximum, log);
  const double reference = maximum == -kInfinity ? 0.0 : maximum;
  double sum = 0;
  for (std::int64_t j = 0; j < row.rows.length; ++j)
    sum += std::exp((row.value(j) - reference) / temperature);
  const bool is_empty = sum == 0;  // of -inf alone
  for (std::int64_t j = 0; j < row.rows.length; ++j) {
    const double exponent = (row.value(j) - reference) / temperature;
    row.store(j, log        ? exponent - (is_empty ? 0.0 : std::log(sum))
                 : is_empty ? 0.0
                            : std::exp(exponent) / sum);
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxArgs>& call) {
  const Rows<kTensors> rows = softmax_plan::geometry(call.args);
  return dispatch_floats(call.args, [&]<class T>() -> Status {
    for (std::int64_t r = 0; r < rows.count; ++r)
      softmax_row(row_of<T>(call.args, rows, r), call.args.temperature, call.args.log);
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
