// Loops of references and judges over all cores.
#pragma once

#include <cstdint>
#include <functional>

namespace rooftile {

// Calls body(first, last) for parts of [0, count), at once and in any order: an element's value must not depend on which
// part it is in. `grain` is the smallest part that is worth a thread.
void in_parallel(std::int64_t count, std::int64_t grain,
                 const std::function<void(std::int64_t first, std::int64_t last)>& body);

}  // namespace rooftile
