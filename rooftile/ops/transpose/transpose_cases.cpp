#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "rooftile/core/registry.h"
#include "rooftile/ops/transpose/transpose.h"
#include "rooftile/ops/transpose/transpose_ref.h"

namespace rooftile {
namespace {

struct Spec {
  Shape shape;
  DType dtype = DType::f32;
  Fill fill = Fill::uniform;
  int offset = 0;
  bool in_place = false;
  CaseTier tier = CaseTier::quick;
  bool packed = false;
};

Case make_case(const Spec& spec) {
  return {.shape = spec.shape,
          .dtype = spec.dtype,
          .params = with(transpose_operator().params, "packed", spec.packed ? "true" : "false"),
          .fill = spec.fill,
          .offset = spec.offset,
          .in_place = spec.in_place,
          .tier = spec.tier};
}

Shape matrix_of(std::int64_t m, std::int64_t n) { return {{"m", m}, {"n", n}}; }
Shape batch_of(std::int64_t b, std::int64_t m, std::int64_t n) { return {{"b", b}, {"m", m}, {"n", n}}; }

// One dtype of each size in full; the others, which take the same ways, once.
constexpr std::array<DType, 4> kSizes = {DType::u8, DType::bf16, DType::f32, DType::f64};
constexpr std::array<DType, 10> kOthers = {DType::f16, DType::f8e4m3, DType::f8e5m2, DType::i8,  DType::i16,
                                           DType::i32, DType::i64,    DType::u16,    DType::u32, DType::u64};

void add_edges(std::vector<Case>& cases, DType dtype) {
  const std::int64_t vector = 16 / static_cast<std::int64_t>(size_of(dtype));
  std::vector<Shape> shapes = {
      // Empty, one, one row, one column.
      matrix_of(0, 5), matrix_of(5, 0), matrix_of(0, 0), matrix_of(1, 1), matrix_of(1, 1000),
      matrix_of(1000, 1),
      // The edges of a warp's tile and of a block's.
      matrix_of(31, 33), matrix_of(32, 32), matrix_of(33, 31), matrix_of(63, 65), matrix_of(64, 64),
      matrix_of(129, 127),
      // Rows of whole vectors: one, a tile's and its neighbours'.
      matrix_of(vector, vector), matrix_of(9 * vector, 7 * vector), matrix_of(16 * vector, 16 * vector),
      matrix_of(17 * vector, 33 * vector),
      // Odd rows around the edges of a shifted tile, with whole tiles between them; of bytes each tile but the large one.
      matrix_of(241, 129), matrix_of(255, 257), matrix_of(383, 259), matrix_of(121, 131), matrix_of(239, 67),
      matrix_of(650, 131), matrix_of(700, 131), batch_of(3, 123, 66), batch_of(2, 450, 131),
      // Rows of in begin within a burst of DRAM, rows of out do not: blocks in the other order.
      matrix_of(320, 328),
      // Long and short.
      matrix_of(3, 1025), matrix_of(1025, 3), matrix_of(4, 4096), matrix_of(4096, 4), matrix_of(16, 513),
      matrix_of(513, 16), matrix_of(2, 100000 / static_cast<std::int64_t>(size_of(dtype))),
      // Batches of small matrices, of odd ones, of tiles.
      batch_of(0, 4, 4), batch_of(1000, 3, 5), batch_of(37, 4, 4), batch_of(5, 32, 32), batch_of(3, 33, 65),
      batch_of(7, 64, 64), batch_of(2, 17 * vector, 9 * vector), batch_of(3, 3, 700)};
  for (auto shape = shapes.begin(); shape != shapes.end(); ++shape) {
    // With some vectors two of these are one.
    if (std::find(shapes.begin(), shape, *shape) != shape) continue;
    cases.push_back(make_case({.shape = *shape, .dtype = dtype}));
  }
  for (const int offset : {1, 2, 3}) {
    for (const Shape& shape : {matrix_of(65, 67), matrix_of(64, 128), matrix_of(3, 515), matrix_of(515, 3)}) {
      cases.push_back(make_case({.shape = shape, .dtype = dtype, .offset = offset}));
    }
    cases.push_back(make_case({.shape = batch_of(9, 8, 8), .dtype = dtype, .offset = offset}));
  }
  cases.push_back(make_case({.shape = matrix_of(70, 90), .dtype = dtype, .fill = Fill::special}));
  for (const Shape& shape : {matrix_of(1, 1), matrix_of(33, 33), matrix_of(192, 192), batch_of(3, 65, 65)}) {
    for (const int offset : {0, 1})
      cases.push_back(make_case({.shape = shape, .dtype = dtype, .offset = offset, .in_place = true}));
  }
  if (is_float(dtype)) {
    cases.push_back(make_case({.shape = matrix_of(48, 80), .dtype = dtype, .fill = Fill::nan_at_last}));
  }
}

// What moves as one: two to sixteen elements of 2 to 16 bytes.
void add_packed(std::vector<Case>& cases) {
  struct Packed {
    DType dtype;
    std::int64_t p;
  };
  for (const Packed& item :
       {Packed{DType::f64, 2}, Packed{DType::f32, 4}, Packed{DType::f32, 2}, Packed{DType::u8, 4},
        Packed{DType::u8, 16}, Packed{DType::bf16, 1}, Packed{DType::i64, 2}}) {
    for (const auto& [m, n] : {std::pair{1, 1}, std::pair{33, 65}, std::pair{64, 48}, std::pair{3, 700},
                               std::pair{700, 3}, std::pair{0, 3}}) {
      for (const int offset : {0, 1}) {
        cases.push_back(make_case({.shape = {{"m", m}, {"n", n}, {"p", item.p}},
                                   .dtype = item.dtype,
                                   .offset = offset,
                                   .packed = true}));
      }
    }
    cases.push_back(make_case(
        {.shape = {{"b", 21}, {"m", 5}, {"n", 8}, {"p", item.p}}, .dtype = item.dtype, .packed = true}));
  }
}

void add_large(std::vector<Case>& cases) {
  for (const DType dtype : kSizes) {
    cases.push_back(make_case({.shape = matrix_of(1024, 2048), .dtype = dtype, .tier = CaseTier::full}));
    cases.push_back(make_case({.shape = matrix_of(1025, 2049), .dtype = dtype, .tier = CaseTier::full}));
  }
  cases.push_back(make_case({.shape = {{"m", 1000}, {"n", 600}, {"p", 2}},
                             .dtype = DType::f64,
                             .tier = CaseTier::full,
                             .packed = true}));
  // Odd rows: many matrices; and on a GPU alone large tiles of bytes, few tiles, matrices of gigabytes.
  for (const DType dtype : kSizes) {
    cases.push_back(
        make_case({.shape = batch_of(4, 713, 701), .dtype = dtype, .offset = 1, .tier = CaseTier::full}));
    for (const Shape& shape : {matrix_of(8191, 4097), matrix_of(5003, 6997), batch_of(40, 713, 701)})
      cases.push_back(make_case({.shape = shape, .dtype = dtype, .offset = 1, .tier = CaseTier::huge}));
  }
  cases.push_back(make_case({.shape = matrix_of(16383, 16385), .dtype = DType::u8, .tier = CaseTier::huge}));
  cases.push_back(make_case({.shape = matrix_of(4097, 8191), .tier = CaseTier::full}));
  cases.push_back(make_case({.shape = batch_of(4096, 64, 64), .tier = CaseTier::full}));
  // Beyond 32-bit indices: tiles, and a few long rows.
  cases.push_back(make_case({.shape = matrix_of(65552, 32784), .dtype = DType::u8, .tier = CaseTier::huge}));
  cases.push_back(make_case({.shape = matrix_of(3, 715827885), .dtype = DType::u8, .tier = CaseTier::huge}));
}

std::vector<Case> transpose_cases() {
  std::vector<Case> cases;
  for (const DType dtype : kSizes) add_edges(cases, dtype);
  for (const DType dtype : kOthers) {
    cases.push_back(make_case({.shape = matrix_of(48, 80), .dtype = dtype}));
    cases.push_back(make_case({.shape = matrix_of(47, 81), .dtype = dtype, .fill = Fill::special}));
  }
  // The largest quick case is the one that `rooftile sim` shows: whole tiles alone, so that its numbers are
  // the textbook's.
  cases.push_back(make_case({.shape = matrix_of(512, 512)}));
  add_packed(cases);
  add_large(cases);
  return cases;
}

Result<CasePlan> plan_case(const Case& c) {
  std::vector<std::int64_t> extents;
  for (const auto& [key, extent] : c.shape) extents.push_back(extent);
  const Extents shape(extents);
  ROOFTILE_TRY_ASSIGN(const std::int64_t n, checked_numel(shape, size_of(c.dtype)));
  CasePlan plan;
  plan.inputs = {{c.dtype, shape}};
  plan.read_bytes = static_cast<double>(n) * static_cast<double>(size_of(c.dtype));
  plan.write_bytes = plan.read_bytes;
  return plan;
}

}  // namespace

void register_transpose_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "transpose";
  cases.shapes = {"m,n", "b,m,n", "m,n,p", "b,m,n,p"};
  cases.default_case = make_case({.shape = matrix_of(8192, 8192), .tier = CaseTier::full});
  cases.default_host_case = make_case({.shape = matrix_of(4096, 4096), .tier = CaseTier::full});
  cases.cases = transpose_cases;
  cases.plan = plan_case;
  cases.reference = transpose_reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
