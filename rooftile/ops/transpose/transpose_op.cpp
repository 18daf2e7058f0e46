#include <algorithm>
#include <cstdlib>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/ops/transpose/transpose.h"
#include "rooftile/ops/transpose/transpose_plan.h"
#include "rooftile/ops/transpose/transpose_table.h"

namespace rooftile {
namespace {

constexpr DTypeSet kDTypes = {DType::f64,    DType::f32, DType::f16, DType::bf16, DType::f8e4m3,
                              DType::f8e5m2, DType::i8,  DType::i16, DType::i32,  DType::i64,
                              DType::u8,     DType::u16, DType::u32, DType::u64};

std::string describe(const TransposeArgs& args) {
  return "in " + args.in.to_string() + ", out " + args.out.to_string() +
         ", packed=" + (args.packed ? "true" : "false");
}

Extents swapped(const Extents& shape, bool packed) {
  Extents result = shape;
  const int row = shape.rank() - (packed ? 3 : 2);
  std::swap(result[row], result[row + 1]);
  return result;
}

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

// Whether no two elements share a place: each stride clears all that the smaller ones span. (A permutation
// that interleaves in another way is refused as well.)
bool every_element_has_a_place(const ConstTensorView& view) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride, extent
  for (int d = 0; d < view.rank(); ++d) {
    if (view.shape[d] > 1) steps.emplace_back(std::abs(view.strides[d]), view.shape[d]);
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t span = 0;
  for (const auto& [stride, extent] : steps) {
    if (stride <= span) return false;
    span += stride * (extent - 1);
  }
  return true;
}

bool same_layout(const TransposeArgs& args) {
  for (int d = 0; d < args.in.rank(); ++d) {
    if (args.in.shape[d] != args.out.shape[d]) return false;
    if (args.in.shape[d] > 1 && args.in.strides[d] != args.out.strides[d]) return false;
  }
  return args.in.data == args.out.data;
}

// Where the call runs must be where its tensors are; make_args, which is not told, passes their own device.
Status check(const TransposeArgs& args, Device device) {
  const Status status = [&]() -> Status {
    ROOFTILE_TRY(check_view(args.in, "in"));
    ROOFTILE_TRY(check_view(args.out, "out"));
    if (args.in.dtype != args.out.dtype) return invalid_argument("out must have the dtype of in");
    ROOFTILE_TRY(check_shapes(args.in.shape, args.packed, size_of(args.in.dtype)));
    if (const Extents wanted = swapped(args.in.shape, args.packed); !(args.out.shape == wanted)) {
      return invalid_argument("out must have the shape of in with rows and columns exchanged, " +
                              wanted.to_string());
    }
    if (args.packed) {
      ROOFTILE_TRY(check_packed(args.in, "in"));
      ROOFTILE_TRY(check_packed(args.out, "out"));
    }
    if (args.in.device != args.out.device) return invalid_argument("in and out must be on the same device");
    if (args.in.device != device) {
      return invalid_argument("the tensors are on " + to_string(args.in.device) + " and the call runs on " +
                              to_string(device) + ": use a Context or stream of their device");
    }
    if (args.in.numel() == 0) return {};
    if (!every_element_has_a_place(args.out)) {
      return invalid_argument("out's strides must give every element a place of its own");
    }
    if (!same_layout(args) && overlaps(args.in, args.out)) {
      return invalid_argument(
          "out must not overlap in, unless it is in itself, square and with the same strides");
    }
    return {};
  }();
  return status.with_operator("transpose").with_shapes(describe(args));
}

Result<AnyArgs> make_args(std::span<const TensorView> tensors, const Params& params) {
  TransposeArgs args{.in = tensors[0], .out = tensors[1], .packed = params.get_bool("packed")};
  ROOFTILE_TRY(check(args, args.in.device));
  return AnyArgs::of(args);
}

Result<std::vector<TensorSpec>> infer_outputs(std::span<const TensorSpec> inputs, const Params& params) {
  const bool packed = params.get_bool("packed");
  const TensorSpec& in = inputs[0];
  if (Status status = check_shapes(in.shape, packed, size_of(in.dtype)); !status.ok()) {
    return status.with_operator("transpose");
  }
  return std::vector<TensorSpec>{{in.dtype, swapped(in.shape, packed)}};
}

OperatorDescriptor make_descriptor() {
  OperatorDescriptor op;
  op.name = "transpose";
  op.summary = "the last two dimensions of a tensor change places";
  op.maths = "out[.., j, i] = in[.., i, j]. Bits are moved: the dtype matters by its size alone.";
  op.model =
      "reads and writes every element once; no arithmetic. The roofline is a copy of the same bytes: what a "
      "transposition may lose to it are accesses that do not fill their sectors, bank conflicts, and too few "
      "bytes on "
      "the way.";
  op.source =
      "Ruetsch and Micikevicius, Optimizing Matrix Transpose in CUDA (2009); Frigo et al., Cache-Oblivious "
      "Algorithms "
      "(1999)";
  op.slots = {{.name = "in",
               .direction = SlotDirection::in,
               .min_rank = 2,
               .dtypes = kDTypes,
               .doc = "[.., m, n], any strides; with packed [.., m, n, p]"},
              {.name = "out",
               .direction = SlotDirection::out,
               .min_rank = 2,
               .dtypes = kDTypes,
               .doc = "[.., n, m]; with packed [.., n, m, p]"}};
  op.params = {{.name = "packed",
                .default_value = false,
                .doc = "the last dimension (1 to 16 bytes) moves as one: complex numbers as pairs, pixels"}};
  op.make_args = make_args;
  op.infer_outputs = infer_outputs;
  op.choose = transpose_choose;
  op.rungs = transpose_rung_table();
  return op;
}

}  // namespace

const OperatorDescriptor& transpose_operator() {
  static const OperatorDescriptor descriptor = make_descriptor();
  return descriptor;
}

Status transpose(Context& context, const TransposeArgs& args) {
  ROOFTILE_TRY(check(args, context.device()));
  if (args.in.numel() == 0) return {};
  return run_chosen(transpose_operator(), context, AnyArgs::of(args));
}

Result<WorkspaceSpec> transpose_workspace(const TransposeArgs& args, Device device) {
  ROOFTILE_TRY(check(args, device));
  if (args.in.numel() == 0) return WorkspaceSpec{};
  ROOFTILE_TRY_ASSIGN(const DeviceProperties* properties, device_properties(device));
  return chosen_workspace(transpose_operator(), AnyArgs::of(args), *properties);
}

Status transpose(StreamRef stream, const TransposeArgs& args, const Workspace& workspace) {
  ROOFTILE_TRY(check(args, stream.device));
  if (args.in.numel() == 0) return {};
  return run_chosen(transpose_operator(), stream, AnyArgs::of(args), workspace);
}

void register_transpose(Registry& registry) { registry.add(transpose_operator()); }

}  // namespace rooftile
