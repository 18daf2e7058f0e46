// Cases: the one list that drives tests, simulation and benchmarks of an operator.
//
// Built into lab-side targets, not into the library.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rooftile/core/dtype.h"
#include "rooftile/core/host_tensor.h"
#include "rooftile/core/operator.h"
#include "rooftile/core/params.h"
#include "rooftile/core/status.h"

namespace rooftile {

using Shape = std::vector<std::pair<std::string, std::int64_t>>;  // keys in the operator's order: n, or m n k
// Ends the program where there is no such key: a case of an operator that contradicts itself.
[[nodiscard]] std::int64_t shape_at(const Shape& shape, std::string_view key);
[[nodiscard]] std::string to_string(const Shape& shape);  // "m=8192,n=4096"

// How input elements are drawn: Philox, then rounded to the dtype before anybody sees them.
enum class Fill {
  uniform,         // floats in [-1, 1); integers over a range in which the operator does not overflow
  small_integers,  // integers in [-8, 8] in every dtype (unsigned: [0, 8]): exact arithmetic
  nan_at_last,     // uniform with one NaN in the last element
  special,         // uniform with infinities, signed zeros, denormals and the largest finite values mixed in
  nan_inside,      // uniform with a NaN in the middle and, on average, in every 64th element
  rising,   // from the first element to the last from low to high, ties where the dtype has no more values
  falling,  // the other way round
  inf_inside,  // uniform with an infinity in the middle and, on average, in every 64th element, of either sign; -inf first
  one_maximum,   // uniform with one element above and one below all others: the last and the first
  tile_maximum,  // the same two beside each other, at the last multiple of 256
  normal,       // floats: mean 0, variance 1 (a sum of 12 uniform values); integers: of a 16th of their range
  log_uniform,  // magnitudes from 2^-8 to 2^8, as many in each power of two; integers over their bits
  any_bits,     // integers: every value; floats: every finite value, by its bits
  equal,        // one and the same value
  tile_minimum,  // as tile_maximum, the two in each other's place: the largest before the multiple
};
[[nodiscard]] std::span<const Fill> all_fills();
[[nodiscard]] std::string_view to_string(Fill fill);
[[nodiscard]] Result<Fill> parse_fill(std::string_view text);

enum class CaseTier {
  quick,  // small enough for the simulated SM and the sanitizer builds
  full,   // CPU and GPU
  huge,   // GPU only (2^31 elements and the like)
};

struct Case {
  Shape shape;
  DType dtype = DType::f32;
  Params params{};
  std::uint64_t seed = 1;
  Fill fill = Fill::uniform;
  int offset = 0;         // elements by which every tensor's pointer is off its allocation's alignment
  bool in_place = false;  // every output that may alias an input is that input (core/describe.h, may_alias)
  CaseTier tier = CaseTier::quick;
};
// "n=1025,f32,op=sum,fill=uniform,offset=1": unique within an operator's list, and what a repro line names.
// All params in their order; a seed other than the default is added as ",seed=7", in place as ",in_place".
[[nodiscard]] std::string case_id(const Case& c);

// The value of a parameter that only cases have (core/describe.h, case_param), or `none` where it has no value.
[[nodiscard]] double case_number(const Case& c, std::string_view name, double none = 0);
[[nodiscard]] std::int64_t case_count(const Case& c, std::string_view name, std::int64_t none = 0);

// How one tensor is drawn where the case's fill is not meant for it: indices, lengths, keys. Made by cases/draws.h, or
// by hand. On a GPU the host draws it.
struct Draw {
  std::string name;           // in words, for records: "indices in [0,50)"
  std::optional<Fill> fixed;  // a fill, whatever the case's is
  // Else: from a seed of the slot's own (cases/draws.h, draw_seed), and the tensors of the slots in front.
  std::function<Status(HostTensor& tensor, std::uint64_t seed, std::span<const HostTensor> before)> fill;
};

// A slot that is read: `in` or `inout`.
struct InputPlan {
  DType dtype = DType::f32;
  Extents shape;
  Extents strides{};    // in elements; none: row-major without gaps
  Draw draw{};          // none: the case's fill
  bool absent = false;  // an optional slot that the call does not have
};

// What executes a case's operations.
enum class FlopUnit {
  none,  // they cost nothing beside the bytes
  fma_f32,
  fma_f64,
  tensor_bf16,
  tensor_f16,
  tensor_tf32,
  tensor_f8e4m3,
  tensor_f64,
};
[[nodiscard]] std::string_view to_string(FlopUnit unit);

// A case as tensors and as work.
struct CasePlan {
  std::vector<InputPlan> inputs;
  double read_bytes = 0;  // the algorithm's minimum
  double write_bytes = 0;
  double flops = 0;  // 2 per multiply-add
  FlopUnit flops_on =
      FlopUnit::none;  // the unit whose rate bounds the case where its operations take longest
  std::vector<Extents> output_strides{};  // by `out` slot, in elements; none: row-major without gaps
  std::uint32_t error_word = 0;           // what the kernel has to report (Workspace::error_word)
};

// What an output must be.
struct Expected {
  HostTensor exact;  // integer outputs: that dtype, compared bit for bit; float outputs: f64
  HostTensor
      same_precision;  // f64: what a sound algorithm in the operator's own precision gives; empty: none
  // Float outputs pass when |out - exact| <= factor * |same_precision - exact| + floor, NaN and infinities by
  // place.
  double factor = 2;
  double floor = 0;
  HostTensor floors{};  // f64: a floor for each element in place of the one for all; empty: none
  std::string rule;     // in words, why this floor
  // Floats that are only moved: `exact` is of their own dtype and compared bit for bit, NaNs and signs of zeros with them.
  bool bitwise = false;
  // Not all elements but these, in rising order; `exact` and `same_precision` have one for each.
  std::vector<std::int64_t> indices{};
};

// How far an element of an output may be off, by those that were looked at.
struct Allowed {
  double error = 0;    // the largest tolerance; 0: they must be exact
  double largest = 0;  // the largest magnitude
};

// What is to be said of a call's results.
struct Judgement {
  std::string mismatch{};  // empty: they are right
  bool nan_bits_alone =
      false;              // the mismatch is one of NaNs with other bits than they must have, and no other
  double max_error = 0;   // the largest finite |out - exact|, where there is such a thing
  std::string sampled{};  // "4096 of 16777216 elements": not all were looked at
  // Of each output how many elements, from the first on, are results: the others may hold anything. None: all are.
  std::vector<std::int64_t> results{};
  std::vector<Allowed> allowed{};  // of each output
};
// Judges the tensors of the slots that a call has written (`out` and `inout`), in slot order. cases/judges.h has those
// that many operators need.
using Judge = std::function<Judgement(std::span<const HostTensor> outputs)>;

// The plan of y = f(x), element by element: x is read and y written once.
[[nodiscard]] Result<CasePlan> elementwise_plan(const Case& c, const Extents& shape,
                                                double flops_per_element = 0);

// One output that must be exact: integers of that dtype, floats as f64.
[[nodiscard]] std::vector<Expected> exactly(HostTensor exact, std::string rule);

// Lengths at which kernels break: nothing, one, and around the sizes of warps and blocks.
[[nodiscard]] std::span<const std::int64_t> edge_lengths();

// The cases that every operator on vectors of length n needs, in each dtype: edge_lengths(), each fill off the alignment
// by some elements, and one that is too large for the simulated SM; with `in_place` two of each dtype in place.
[[nodiscard]] std::vector<Case> vector_cases(std::initializer_list<DType> dtypes, const Params& params,
                                             bool in_place = false);

struct OperatorCases {
  std::string operator_name;
  // The keys that a shape may have, in their order: "n", or one of "n", "m,n", "b,m,n".
  std::vector<std::string> shapes;
  Case default_case;       // what `ladder OP` runs on a GPU
  Case default_host_case;  // and where the fastest device is the CPU or the simulated SM
  std::function<std::vector<Case>()> cases;
  std::function<Result<CasePlan>(const Case&)> plan;
  // Plain loops, double accumulation: the outputs for these inputs.
  std::function<Result<std::vector<Expected>>(const Case&, std::span<const HostTensor> inputs)> reference;
  // Where the outputs are not to be judged element by element against `reference`. `inputs` stay as long as the Judge.
  std::function<Result<Judge>(const Case&, std::span<const HostTensor> inputs)> judge{};
};

}  // namespace rooftile
