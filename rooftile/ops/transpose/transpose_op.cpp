#include <cstdlib>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/transpose/transpose.h"
#include "rooftile/ops/transpose/transpose_table.h"

namespace rooftile {
namespace {

constexpr DTypeSet kDTypes = {DType::f64,    DType::f32, DType::f16, DType::bf16, DType::f8e4m3,
                              DType::f8e5m2, DType::i8,  DType::i16, DType::i32,  DType::i64,
                              DType::u8,     DType::u16, DType::u32, DType::u64};

Status check_shapes(const Extents& in, bool packed, std::size_t unit) {
  const int least = packed ? 3 : 2;
  if (in.rank() < least) {
    return invalid_argument(
        packed ? "in must have three dimensions at least: rows, columns and what moves as one"
               : "in must have two dimensions at least: rows and columns");
  }
  if (packed) {
    const std::int64_t bytes = in[in.rank() - 1] * static_cast<std::int64_t>(unit);
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16) {
      return unsupported("what moves as one must have 1, 2, 4, 8 or 16 bytes, not " + std::to_string(bytes));
    }
  }
  return {};
}

Status check_packed(const ConstTensorView& view, const char* name) {
  const int last = view.rank() - 1;
  if (view.shape[last] == 1 || view.strides[last] == 1) return {};
  return unsupported(std::string(name) + "'s last dimension must have no gaps: it moves as one");
}

Status result_of(const TransposeArgs& args, TensorSpec& out) {
  ROOFTILE_TRY(check_shapes(args.in.shape, args.packed, size_of(args.in.dtype)));
  out.dtype = args.in.dtype;
  out.shape = args.in.shape;
  const int row = args.in.rank() - (args.packed ? 3 : 2);
  std::swap(out.shape[row], out.shape[row + 1]);
  return {};
}

Status check(const TransposeArgs& args) {
  if (!args.packed) return {};
  ROOFTILE_TRY(check_packed(args.in, "in"));
  return check_packed(args.out, "out");
}

}  // namespace

const OperatorDescriptor& transpose_operator() {
  static const OperatorDescriptor op = describe<TransposeArgs>(
      {.name = "transpose",
       .summary = "the last two dimensions of a tensor change places",
       .maths = "out[.., j, i] = in[.., i, j]. Bits are moved: the dtype matters by its size alone.",
       .model =
           "reads and writes every element once; no arithmetic. The roofline is a copy of the same bytes: what a "
           "transposition may lose to it are accesses that do not fill their sectors, bank conflicts, and too few "
           "bytes on the way.",
       .source =
           "Ruetsch and Micikevicius, Optimizing Matrix Transpose in CUDA (2009); Frigo et al., Cache-Oblivious "
           "Algorithms (1999)",
       .slots = {in("in", &TransposeArgs::in,
                    {.dtypes = kDTypes,
                     .min_rank = 2,
                     .doc = "[.., m, n], any strides; with packed [.., m, n, p]"}),
                 out("out", &TransposeArgs::out, result_of,
                     {.dtype_of = "in",
                      .min_rank = 2,
                      .may_alias = "in",
                      .doc = "[.., n, m]; with packed [.., n, m, p]"})},
       .params = {param(
           "packed", &TransposeArgs::packed,
           {.doc = "the last dimension (1 to 16 bytes) moves as one: complex numbers as pairs, pixels"})},
       .check = check,
       .choose = transpose_choose,
       .rungs = transpose_rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS(transpose, TransposeArgs, in)

}  // namespace rooftile
