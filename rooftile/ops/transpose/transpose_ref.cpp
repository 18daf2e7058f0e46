#include "rooftile/ops/transpose/transpose_ref.h"

#include <algorithm>
#include <cstring>

#include "rooftile/cases/parallel.h"
#include "rooftile/ops/transpose/transpose.h"

namespace rooftile {
namespace {

// The definition; in strips of 64 columns, because 2^31 elements one by one down the columns of out take
// minutes, on all cores.
template <class Copy>
void for_each_place(std::int64_t matrices, std::int64_t m, std::int64_t n, Copy copy_item) {
  constexpr std::int64_t kStrip = 64;
  const std::int64_t strips = (n + kStrip - 1) / kStrip;
  const std::int64_t grain = (std::int64_t{1} << 16) / std::max<std::int64_t>(m * kStrip, 1);
  in_parallel(matrices * strips, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t strip = begin; strip < end; ++strip) {
      const std::int64_t b = strip / strips;
      const std::int64_t first = strip % strips * kStrip;
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = first; j < std::min(n, first + kStrip); ++j) {
          copy_item((b * n + j) * m + i, (b * m + i) * n + j);
        }
      }
    }
  });
}

}  // namespace

Result<std::vector<Expected>> transpose_reference(const Case& c, std::span<const HostTensor> inputs) {
  const HostTensor& in = inputs[0];
  const TensorSpec spec{in.dtype(), in.shape()};
  ROOFTILE_TRY_ASSIGN(const std::vector<TensorSpec> outputs,
                      transpose_operator().infer_outputs(std::span(&spec, 1), c.params));
  const bool packed = c.params.get_bool("packed");
  const int row = in.shape().rank() - (packed ? 3 : 2);
  const std::int64_t m = in.shape()[row];
  const std::int64_t n = in.shape()[row + 1];
  const std::int64_t units = packed ? in.shape()[row + 2] : 1;  // elements that move as one
  const std::int64_t matrices = in.numel() == 0 ? 0 : in.numel() / (m * n * units);

  Expected expected;
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(in.dtype(), outputs[0].shape));
  const std::size_t bytes = static_cast<std::size_t>(units) * size_of(in.dtype());
  for_each_place(matrices, m, n, [&](std::int64_t to, std::int64_t from) {
    std::memcpy(static_cast<char*>(expected.exact.data()) + static_cast<std::size_t>(to) * bytes,
                static_cast<const char*>(in.data()) + static_cast<std::size_t>(from) * bytes, bytes);
  });
  expected.bitwise = true;
  expected.rule = "exact: elements are moved";
  std::vector<Expected> all;
  all.push_back(std::move(expected));
  return all;
}

}  // namespace rooftile
