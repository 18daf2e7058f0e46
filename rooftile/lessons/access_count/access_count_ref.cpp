#include "rooftile/lessons/access_count/access_count_ref.h"

namespace rooftile {

Result<std::vector<Expected>> access_count_reference(const Case&, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  Expected expected;
  ROOFTILE_TRY_ASSIGN(expected.exact, HostTensor::create(DType::i32, Extents{}));
  std::uint32_t total = 0;
  for (const std::int32_t value : x.as<std::int32_t>()) total += static_cast<std::uint32_t>(value);
  expected.exact.as<std::int32_t>()[0] = static_cast<std::int32_t>(total);
  expected.rule = "exact: integers, modulo 2^32";
  std::vector<Expected> all;
  all.push_back(std::move(expected));
  return all;
}

}  // namespace rooftile
