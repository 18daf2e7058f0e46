// Host tensors of a few elements.
#pragma once

#include <algorithm>
#include <vector>

#include "rooftile/core/element.h"
#include "rooftile/core/host_tensor.h"

namespace rooftile::test {

template <class T>
HostTensor tensor_of(const std::vector<T>& values, Extents shape = {}) {
  if (shape.empty()) shape = Extents{static_cast<std::int64_t>(values.size())};
  HostTensor tensor = HostTensor::create(dtype_of<T>, shape).value();
  std::copy(values.begin(), values.end(), tensor.as<T>().begin());
  return tensor;
}

template <class... Tensors>
std::vector<HostTensor> tensors(Tensors&&... list) {
  std::vector<HostTensor> all;
  (all.push_back(std::move(list)), ...);
  return all;
}

}  // namespace rooftile::test
