#include "rooftile/cases/rounding.h"

namespace rooftile {

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 0x1p-53;
    case DType::f16:
      return 0x1p-11;
    case DType::bf16:
      return 0x1p-8;
    case DType::f8e4m3:
      return 0x1p-4;
    case DType::f8e5m2:
      return 0x1p-3;
    default:
      return 0x1p-24;
  }
}

double rounded_to(DType dtype, double value) {
  double storage = 0.0;
  store_from_double(&storage, dtype, value);
  return load_as_double(&storage, dtype);
}

}  // namespace rooftile
