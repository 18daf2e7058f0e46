#include "rooftile/ops/rope/rope_plan.h"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace rooftile::rope_plan {
namespace {

Strides strides_of(const ConstTensorView& view) {
  if (is_absent(view) || view.rank() != 4) return {};
  return {view.strides[0], view.strides[1], view.strides[2], view.shape[3] < 2 ? 1 : view.strides[3]};
}

double frequency(const RopeArgs& args, std::int64_t rotary, int pair) {
  const double plain = std::pow(args.base, -2.0 * pair / static_cast<double>(rotary));
  if (args.scaling == RopeScaling::none) return plain;
  if (args.scaling == RopeScaling::linear) return plain / args.factor;
  const double turns = args.original * plain / (2 * std::numbers::pi);  // within the trained positions
  if (turns > args.high_frequency) return plain;
  if (turns < args.low_frequency) return plain / args.factor;
  const double share = (turns - args.low_frequency) / (args.high_frequency - args.low_frequency);
  return (1 - share) * plain / args.factor + share * plain;
}

}  // namespace

Cut cut_of(const RopeArgs& args) {
  Cut cut;
  cut.batches = args.q.shape[0];
  cut.tokens = args.q.shape[1];
  cut.q_heads = args.q.shape[2];
  cut.k_heads = is_absent(args.k) ? 0 : args.k.shape[2];
  cut.width = args.q.shape[3];
  cut.rotary = args.rotary == 0 ? cut.width : args.rotary;
  cut.q = strides_of(args.q);
  cut.k = strides_of(args.k);
  cut.q_out = strides_of(args.q_out);
  cut.k_out = cut.k_heads == 0 ? Strides{} : strides_of(args.k_out);
  if (!is_absent(args.positions)) {
    const int last = args.positions.rank() - 1;
    cut.position_token = args.positions.strides[last];
    cut.position_batch = last == 0 ? 0 : args.positions.strides[0];
  }
  return cut;
}

Turns turns_of(const RopeArgs& args) {
  Turns turns;
  const std::int64_t rotary = args.rotary == 0 ? args.q.shape[3] : args.rotary;
  for (int pair = 0; pair < static_cast<int>(rotary / 2); ++pair)
    turns.of[static_cast<std::size_t>(pair)] = frequency(args, rotary, pair) / (2 * std::numbers::pi);
  return turns;
}

bool has_vectors(const RopeArgs& args, const Cut& cut) {
  const auto size = static_cast<std::int64_t>(size_of(args.q.dtype));
  const auto fits = [&](const ConstTensorView& view, const Strides& strides) {
    return reinterpret_cast<std::uintptr_t>(view.data) % kVectorBytes == 0 && strides.step == 1 &&
           strides.batch * size % kVectorBytes == 0 && strides.token * size % kVectorBytes == 0 &&
           strides.head * size % kVectorBytes == 0;
  };
  const std::int64_t turned = args.form == RopeForm::half ? cut.pairs() : cut.rotary;
  if (turned * size % kVectorBytes != 0 || (cut.width - cut.rotary) * size % kVectorBytes != 0) return false;
  if (!fits(args.q, cut.q) || !fits(args.q_out, cut.q_out)) return false;
  return cut.k_heads == 0 || (fits(args.k, cut.k) && fits(args.k_out, cut.k_out));
}

}  // namespace rooftile::rope_plan
