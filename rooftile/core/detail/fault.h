// Fault injection for tests: makes one allocation of the library fail.
#pragma once

namespace rooftile::detail {

// The next `k` allocations succeed and the one after them fails with
// out_of_memory; then the hook is off again. A negative `k` switches it off.
// Covers host tensors and all memory of both backends, on every thread.
void fail_allocation_after(int k);

// What every allocation asks first: whether it is the one to fail.
[[nodiscard]] bool take_allocation_fault();

}  // namespace rooftile::detail
