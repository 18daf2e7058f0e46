// What one rounding to a dtype costs, and what it gives: for references and their tolerances.
#pragma once

#include "rooftile/core/dtype.h"

namespace rooftile {

// Of a float dtype: half the distance of its numbers near 1, which a rounding to nearest is off relatively at most.
[[nodiscard]] double unit_roundoff(DType dtype);

// What the dtype holds of a value: to nearest even; overflow becomes an infinity (in f8e4m3 NaN).
[[nodiscard]] double rounded_to(DType dtype, double value);

}  // namespace rooftile
