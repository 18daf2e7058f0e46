// A call as a layout and a program: what supports(), choose(), the launchers and the CPU rungs share.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "rooftile/core/dtype.h"
#include "rooftile/core/status.h"
#include "rooftile/ops/elementwise/elementwise.h"
#include "rooftile/ops/elementwise/elementwise_layout.h"

namespace rooftile::elementwise_program {

using elementwise_layout::kMostOperands;
using elementwise_layout::Layout;

// Of a chain's packs: more elements would not stay in registers.
inline constexpr int kMostChainPack = 8;

// What a call computes in.
enum class Compute : std::uint8_t { f32, f64, i64, u64 };

// A chain and its numbers.
struct Program {
  std::array<ElementwiseOp, 8> ops{};
  int count = 0;
  double alpha = 1;
  double low = 0;
  double high = 1;

  [[nodiscard]] std::span<const ElementwiseOp> steps() const {
    return {ops.data(), static_cast<std::size_t>(count)};
  }
};

struct Plan {
  Layout layout;
  std::array<DType, kMostOperands> dtypes{};  // of the inputs, then of out
  Compute compute = Compute::f32;
};

// The inputs of a call, those that are there.
struct Inputs {
  std::array<ConstTensorView, 3> views;
  int count = 0;

  [[nodiscard]] std::span<const ConstTensorView> span() const& {
    return {views.data(), static_cast<std::size_t>(count)};
  }
  void span() const&& = delete;  // it would see what is gone
};
[[nodiscard]] Inputs inputs_of(const ElementwiseArgs& args);

[[nodiscard]] Program program_of(const ElementwiseArgs& args);
// How many tensors a chain asks for.
[[nodiscard]] int inputs_needed(const ElementwiseChain& chain);

// What computes a call whose result has this dtype. Whether there is such a thing: check_dtypes.
[[nodiscard]] Compute compute_of(const ElementwiseArgs& args, DType out);
[[nodiscard]] Status check_dtypes(const ElementwiseArgs& args);
// The result's dtype where the caller does not choose one.
[[nodiscard]] DType natural_dtype(const ElementwiseArgs& args);

// Precondition: the call has passed elementwise's checks, and out has an element. Packs of at most `most_elements`.
[[nodiscard]] Plan plan_of(const ElementwiseArgs& args, int most_elements);

// Every tensor lies in one row without gaps, as out does.
[[nodiscard]] bool is_one_row(const Layout& layout);
// A chain that `compiled_chain` is compiled for.
[[nodiscard]] bool is_usual_chain(const ElementwiseChain& chain);
// A cast that `vectorized` is compiled for.
[[nodiscard]] bool is_usual_cast(DType from, DType to);

}  // namespace rooftile::elementwise_program
