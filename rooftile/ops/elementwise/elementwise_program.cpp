#include "rooftile/ops/elementwise/elementwise_program.h"

#include <algorithm>
#include <array>
#include <string>

namespace rooftile::elementwise_program {
namespace {

// A function of real numbers, whatever it is given.
bool is_real(ElementwiseOp op) {
  switch (op) {
    case ElementwiseOp::exp:
    case ElementwiseOp::log:
    case ElementwiseOp::sqrt:
    case ElementwiseOp::rsqrt:
    case ElementwiseOp::sin:
    case ElementwiseOp::tanh:
    case ElementwiseOp::sigmoid:
    case ElementwiseOp::silu:
    case ElementwiseOp::gelu_erf:
    case ElementwiseOp::gelu_tanh:
    case ElementwiseOp::pow:
      return true;
    default:
      return false;
  }
}

bool has_real(const ElementwiseChain& chain) { return std::any_of(chain.begin(), chain.end(), is_real); }

// The dtypes that meet: those of the inputs and of the result.
template <class Predicate>
bool any_dtype(const ElementwiseArgs& args, DType out, Predicate predicate) {
  const Inputs inputs = inputs_of(args);
  if (predicate(out)) return true;
  return std::any_of(inputs.span().begin(), inputs.span().end(),
                     [&](const ConstTensorView& view) { return predicate(view.dtype); });
}

bool is_wide_integer(DType dtype) { return !is_float(dtype) && size_of(dtype) >= 4; }

}  // namespace

Inputs inputs_of(const ElementwiseArgs& args) {
  Inputs inputs;
  for (const ConstTensorView* view : {&args.a, &args.b, &args.c}) {
    if (view != &args.a && view->data == nullptr && view->rank() == 0) continue;  // left out
    inputs.views[static_cast<std::size_t>(inputs.count++)] = *view;
  }
  return inputs;
}

Program program_of(const ElementwiseArgs& args) {
  Program program{
      .count = static_cast<int>(args.op.size()), .alpha = args.alpha, .low = args.low, .high = args.high};
  std::copy(args.op.begin(), args.op.end(), program.ops.begin());
  return program;
}

int inputs_needed(const ElementwiseChain& chain) {
  int count = 1;
  for (const ElementwiseOp op : chain) count += elementwise_arguments(op) - 1;
  return count;
}

Compute compute_of(const ElementwiseArgs& args, DType out) {
  const Inputs inputs = inputs_of(args);
  const bool floats =
      has_real(args.op) || std::any_of(inputs.span().begin(), inputs.span().end(),
                                       [](const ConstTensorView& view) { return is_float(view.dtype); });
  if (!floats) {
    const bool u64 = std::any_of(inputs.span().begin(), inputs.span().end(),
                                 [](const ConstTensorView& view) { return view.dtype == DType::u64; });
    return u64 ? Compute::u64 : Compute::i64;
  }
  const bool wide =
      any_dtype(args, out, [](DType dtype) { return dtype == DType::f64 || is_wide_integer(dtype); });
  return wide ? Compute::f64 : Compute::f32;
}

Status check_dtypes(const ElementwiseArgs& args) {
  const Inputs inputs = inputs_of(args);
  const auto some = [&](auto predicate) {
    return std::any_of(inputs.span().begin(), inputs.span().end(),
                       [&](const ConstTensorView& view) { return predicate(view.dtype); });
  };
  if (some([](DType dtype) { return dtype == DType::u64; }) &&
      some([](DType dtype) { return !is_float(dtype) && is_signed(dtype); })) {
    return invalid_argument(
        "u64 does not mix with signed integers, which it has no room for: cast one of them first");
  }
  return {};
}

DType natural_dtype(const ElementwiseArgs& args) {
  const bool chooses = args.op[0] == ElementwiseOp::where && inputs_of(args).count > 1;
  const DType first = chooses ? args.b.dtype : args.a.dtype;
  return has_real(args.op) && !is_float(first) ? DType::f32 : first;
}

Plan plan_of(const ElementwiseArgs& args, int most_elements) {
  const Inputs inputs = inputs_of(args);
  Plan plan{.layout = elementwise_layout::layout_of(inputs.span(), args.out, most_elements),
            .compute = compute_of(args, args.out.dtype)};
  for (std::size_t i = 0; i < inputs.span().size(); ++i) plan.dtypes[i] = inputs.views[i].dtype;
  plan.dtypes[inputs.span().size()] = args.out.dtype;
  return plan;
}

bool is_one_row(const Layout& layout) {
  return layout.outer == 0 &&
         std::all_of(
             layout.operands.begin(), layout.operands.begin() + layout.inputs + 1,
             [](const elementwise_layout::Operand& operand) { return operand.element_step == operand.size; });
}

bool is_usual_chain(const ElementwiseChain& chain) {
  using enum ElementwiseOp;
  static constexpr std::array<ElementwiseChain, 10> kUsual = {
      ElementwiseChain{add},
      ElementwiseChain{mul},
      ElementwiseChain{mul, add},
      ElementwiseChain{add, relu},
      ElementwiseChain{add, silu},
      ElementwiseChain{add, gelu_tanh},
      ElementwiseChain{add, gelu_erf},
      ElementwiseChain{silu, mul},
      ElementwiseChain{gelu_tanh, mul},
      ElementwiseChain{add, gelu_tanh, mul},
  };
  return std::find(kUsual.begin(), kUsual.end(), chain) != kUsual.end();
}

bool is_usual_cast(DType from, DType to) {
  const auto is_8_bit_float = [](DType dtype) { return dtype == DType::f8e4m3 || dtype == DType::f8e5m2; };
  const auto is_small_float = [&](DType dtype) { return is_float(dtype) && dtype != DType::f64; };
  const auto is_byte = [](DType dtype) { return dtype == DType::u8 || dtype == DType::i8; };
  if (is_small_float(from) && is_small_float(to))
    return from != to && !(is_8_bit_float(from) && is_8_bit_float(to));
  if ((from == DType::f64 && to == DType::f32) || (from == DType::f32 && to == DType::f64)) return true;
  if (from == DType::u8) return is_small_float(to) && !is_8_bit_float(to);
  return (is_byte(from) && to == DType::f32) || (from == DType::f32 && is_byte(to));
}

}  // namespace rooftile::elementwise_program
