// Small operators, one of each kind that the lab must be able to judge, each with rungs that are right and rungs with one
// mistake, on CPU and GPU: tests of the lab, and examples of how such an operator's cases are written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rooftile/core/case.h"
#include "rooftile/core/operator.h"
#include "rooftile/core/view.h"

namespace rooftile::lab::test {

// table[index[i]] += value[i]; an index that the table does not have is skipped and sets the error word to 1.
struct UpdateArgs {
  TensorView table;
  ConstTensorView index;
  ConstTensorView value;
};
enum class UpdateBug { none, overwrites, clamps, silent };

// The elements of x below a limit, in any order, and how many they are.
struct SelectArgs {
  ConstTensorView x;
  TensorView y;
  TensorView count;
  double limit = 0;
};
enum class SelectBug { none, drops_last, counts_twice, takes_equal };

// Keys in rising order, stable, and the values that came with them.
struct SortArgs {
  ConstTensorView keys;
  ConstTensorView values;
  TensorView sorted_keys;
  TensorView sorted_values;
};
enum class SortBug { none, unstable, forgets_values, loses_nan };

// The k largest of each row and where they stand.
struct TopArgs {
  ConstTensorView x;
  TensorView y;
  TensorView index;
  std::int64_t k = 1;
};
enum class TopBug { none, takes_twice, wrong_index };

// y = x / (1 - p) where an element is kept, else 0; state holds a seed and how many words were drawn so far.
struct DropoutArgs {
  ConstTensorView x;
  TensorView state;
  TensorView y;
  double p = 0.5;
};
enum class DropoutBug { none, depends_on_grid, frozen, other_share };

// Sums of rows of several lengths: row r is x[offsets[r], offsets[r + 1]).
struct RaggedArgs {
  ConstTensorView x;
  ConstTensorView offsets;
  ConstTensorView scale;  // one for each row; may be absent
  TensorView y;
};
enum class RaggedBug { none, leaves_empty, forgets_last, reads_gap };

// c = a b.
struct ProductArgs {
  ConstTensorView a;
  ConstTensorView b;
  TensorView c;
};
enum class ProductBug { none, forgets_last, one_wrong_tile, nan_in_corner };

// The gradient of log(sum(exp(x))).
struct BackwardArgs {
  ConstTensorView x;
  TensorView dx;
};
enum class BackwardBug { none, not_normalised, wrong_sign };

// q * scale is x within half a step, and the scale not larger than it must be.
struct QuantiseArgs {
  ConstTensorView x;
  TensorView scale;
  TensorView q;
};
enum class QuantiseBug { none, other_scale, too_coarse };

}  // namespace rooftile::lab::test

#define ROOFTILE_DECLARE_KIND_(target, name, Args, Bug)               \
  namespace rooftile::target::kinds {                                 \
  Status name(const Call<lab::test::Args>& call, lab::test::Bug bug); \
  }
#define ROOFTILE_DECLARE_KIND(name, Args, Bug) \
  ROOFTILE_DECLARE_KIND_(cpu, name, Args, Bug) \
  ROOFTILE_DECLARE_KIND_(sim, name, Args, Bug) \
  ROOFTILE_DECLARE_KIND_(cuda, name, Args, Bug)
ROOFTILE_DECLARE_KIND(update, UpdateArgs, UpdateBug)
ROOFTILE_DECLARE_KIND(select, SelectArgs, SelectBug)
ROOFTILE_DECLARE_KIND(sort, SortArgs, SortBug)
ROOFTILE_DECLARE_KIND(top, TopArgs, TopBug)
ROOFTILE_DECLARE_KIND(dropout, DropoutArgs, DropoutBug)
ROOFTILE_DECLARE_KIND(ragged, RaggedArgs, RaggedBug)
ROOFTILE_DECLARE_KIND(product, ProductArgs, ProductBug)
ROOFTILE_DECLARE_KIND(backward, BackwardArgs, BackwardBug)
ROOFTILE_DECLARE_KIND(quantise, QuantiseArgs, QuantiseBug)

namespace rooftile::lab::test {

template <class Args>
std::string_view choose_right(const Args&, const DeviceProperties& device) {
  return device.device.kind == DeviceKind::cpu ? "right_cpu" : "right_gpu";
}

// An operator, its cases, and what must be found of each rung that is wrong: "overwrites" -> "table".
struct Kind {
  const OperatorDescriptor* op = nullptr;
  OperatorCases cases;
  std::vector<std::pair<std::string, std::string>> findings;
};
[[nodiscard]] Kind update_kind();
[[nodiscard]] Kind select_kind();
[[nodiscard]] Kind sort_kind();
[[nodiscard]] Kind top_kind();
[[nodiscard]] Kind dropout_kind();
[[nodiscard]] Kind ragged_kind();
[[nodiscard]] Kind product_kind();
[[nodiscard]] Kind backward_kind();
[[nodiscard]] Kind quantise_kind();
[[nodiscard]] std::vector<Kind> all_kinds();

}  // namespace rooftile::lab::test

#if defined(ROOFTILE_WITH_CUDA)
#define ROOFTILE_KIND_ON_CUDA_(Args, name, bug) \
  [](const Call<Args>& call) { return cuda::kinds::name(call, bug); }
#else
#define ROOFTILE_KIND_ON_CUDA_(Args, name, bug) nullptr
#endif
// The two rungs of one kind and one mistake: id_gpu and id_cpu.
#define ROOFTILE_KIND_RUNGS(Args, kind, bug, id)                                                           \
  Rung<Args>{.rung = {.name = id "_gpu",                                                                   \
                      .cuda = ROOFTILE_KIND_ON_CUDA_(Args, kind, bug),                                     \
                      .sim = [](const Call<Args>& call) { return sim::kinds::kind(call, bug); }},          \
             .idea = "one thread, one element"},                                                           \
      Rung<Args> {                                                                                         \
    .rung = cpu_rung<Args>(id "_cpu", [](const Call<Args>& call) { return cpu::kinds::kind(call, bug); }), \
    .idea = "one loop"                                                                                     \
  }
