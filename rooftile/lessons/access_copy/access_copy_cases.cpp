#include <string>
#include <utility>

#include "rooftile/core/registry.h"
#include "rooftile/lessons/access_copy/access_copy.h"

namespace rooftile {
namespace {

Result<std::vector<Expected>> reference(const Case& c, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  const std::int64_t offset = c.params.get_int("offset");
  const std::int64_t stride = c.params.get_int("stride");
  const std::int64_t n = shape_at(c.shape, "n");
  ROOFTILE_TRY_ASSIGN(HostTensor exact, HostTensor::create(DType::f64, Extents{n}));
  for (std::int64_t i = 0; i < n; ++i) exact.set(i, x.at(offset + i * stride));
  return exactly(std::move(exact), "exact: nothing is computed");
}

struct Spec {
  std::int64_t n = 0;
  int offset = 0;
  int stride = 1;
  int misaligned = 0;  // elements
  Fill fill = Fill::uniform;
  CaseTier tier = CaseTier::quick;
};

Case make_case(const Spec& spec) {
  Params params(access_copy_operator().params);
  // Legal by the ranges of the parameters.
  (void)params.set(access_copy_operator().params, "offset", std::to_string(spec.offset));
  (void)params.set(access_copy_operator().params, "stride", std::to_string(spec.stride));
  return {.shape = {{"n", spec.n}},
          .dtype = DType::f32,
          .params = params,
          .fill = spec.fill,
          .offset = spec.misaligned,
          .tier = spec.tier};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  // Empty, one, the edges of a warp, of a block and of the vectors.
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 31, 32, 33, 255, 257, 1023, 4095, 4096, 4097, 32768}) {
    cases.push_back(make_case({.n = n}));
    cases.push_back(make_case({.n = n, .offset = 1, .stride = 2}));
  }
  for (int offset = 0; offset <= 32; ++offset) cases.push_back(make_case({.n = 1000, .offset = offset}));
  for (int stride = 1; stride <= 32; ++stride) cases.push_back(make_case({.n = 500, .stride = stride}));
  // The lessons: whole warps at each stride and at some offsets.
  for (const int stride : {2, 4, 8, 16, 32}) cases.push_back(make_case({.n = 8192, .stride = stride}));
  for (const int stride : {2, 8}) cases.push_back(make_case({.n = 8192, .offset = 1, .stride = stride}));
  for (const int offset : {1, 4, 8, 16, 31, 32}) cases.push_back(make_case({.n = 8192, .offset = offset}));
  for (const int misaligned : {1, 2, 3}) {
    for (const int offset : {0, 1, 2, 3}) {
      cases.push_back(make_case({.n = 1025, .offset = offset, .misaligned = misaligned}));
    }
  }
  for (const Fill fill : {Fill::nan_at_last, Fill::special})
    cases.push_back(make_case({.n = 1025, .fill = fill}));
  cases.push_back(make_case({.n = (1 << 22) + 1, .offset = 3, .stride = 3, .tier = CaseTier::full}));
  // Beyond 32-bit indices.
  cases.push_back(make_case({.n = (std::int64_t{1} << 31) + 5, .tier = CaseTier::huge}));
  cases.push_back(make_case({.n = 1 << 27, .offset = 7, .stride = 17, .tier = CaseTier::huge}));
  return cases;
}

Result<CasePlan> plan_case(const Case& c) {
  const std::int64_t n = shape_at(c.shape, "n");
  const std::int64_t offset = c.params.get_int("offset");
  const std::int64_t stride = c.params.get_int("stride");
  constexpr std::int64_t kMost = std::int64_t{1} << 60;  // elements
  if (n > 0 && (offset > kMost || n - 1 > (kMost - offset) / stride)) {
    return invalid_argument("n * stride has more than 2^60 elements: choose smaller ones")
        .with_operator("access_copy");
  }
  const std::int64_t length = n == 0 ? offset : offset + (n - 1) * stride + 1;
  CasePlan plan;
  plan.inputs = {{c.dtype, Extents{length}}};
  plan.read_bytes = static_cast<double>(n) * static_cast<double>(size_of(c.dtype));
  plan.write_bytes = plan.read_bytes;
  return plan;
}

}  // namespace

void register_access_copy_cases(Registry& registry) {
  OperatorCases cases;
  cases.operator_name = "access_copy";
  cases.shapes = {"n"};
  cases.default_case = make_case({.n = 1 << 24, .tier = CaseTier::full});
  cases.default_host_case = make_case({.n = 1 << 22, .tier = CaseTier::full});
  cases.cases = all_cases;
  cases.plan = plan_case;
  cases.reference = reference;
  registry.add(std::move(cases));
}

}  // namespace rooftile
