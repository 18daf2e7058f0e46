#include "rooftile/core/axes.h"

#include <string>

namespace rooftile {

Status check_axes(const Axes& axes, int rank, std::string_view name) {
  unsigned seen = 0;
  for (const std::int64_t axis : axes) {
    if (axis < -rank || axis >= rank) {
      const std::string last = std::to_string(rank - 1);
      return invalid_argument(std::string(name) + " has no axis " + std::to_string(axis) +
                              (rank == 0 ? ": it is a single element"
                                         : ": its axes are 0 to " + last + ", or -1 to " +
                                               std::to_string(-rank) + " from the last"));
    }
    const unsigned bit = 1u << (axis < 0 ? axis + rank : axis);
    if ((seen & bit) != 0) {
      return invalid_argument("axis " + std::to_string(axis) + " of " + std::string(name) +
                              " is named twice: name each once");
    }
    seen |= bit;
  }
  return {};
}

void append_without(const Extents& shape, const AxisSet& axes, bool keepdims, Extents& rest) {
  for (int d = 0; d < shape.rank(); ++d) {
    if (!axes.contains(d)) {
      rest.push_back(shape[d]);
    } else if (keepdims) {
      rest.push_back(1);
    }
  }
}

}  // namespace rooftile
