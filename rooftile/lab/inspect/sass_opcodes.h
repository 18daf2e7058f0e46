// What the instructions of a GPU do, by their names.
#pragma once

#include <cstddef>
#include <string_view>

#include "rooftile/lab/inspect/sass.h"

namespace rooftile::lab {

enum class InstructionClass {
  memory,   // loads, stores, atomics, asynchronous copies; not constants and parameters
  fma,      // floating-point arithmetic and comparisons
  tensor,   // matrix products
  integer,  // arithmetic, logic and comparisons, of addresses too
  control,  // branches, barriers, fences, waits
  other,    // moves, conversions, shuffles, special functions, constants
};
inline constexpr std::size_t kInstructionClasses = 6;
[[nodiscard]] std::string_view to_string(InstructionClass kind);
[[nodiscard]] InstructionClass class_of(const SassInstruction& instruction);

// "global load"; empty: not of InstructionClass::memory.
[[nodiscard]] std::string_view access_of(const SassInstruction& instruction);
// Bytes that one lane moves by it; 0: a bulk copy, whose size is an operand. Of access_of() alone.
[[nodiscard]] int bytes_per_lane(const SassInstruction& instruction);
// From global memory, asynchronous copies into shared memory included.
[[nodiscard]] bool is_global_load(const SassInstruction& instruction);
[[nodiscard]] bool is_shared_load(const SassInstruction& instruction);

// "TMA load": of instructions that say how a kernel works; empty of the others.
[[nodiscard]] std::string_view meaning_of(const SassInstruction& instruction);

}  // namespace rooftile::lab
