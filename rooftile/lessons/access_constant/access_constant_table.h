// The table that all rungs and the reference look up.
#pragma once

namespace rooftile {

inline constexpr int kTableSize = 64;

struct ConstantTable {
  float values[kTableSize];  // [k] = 1 / (k + 1)
};

constexpr ConstantTable make_constant_table() {
  ConstantTable table{};
  for (int k = 0; k < kTableSize; ++k) table.values[k] = 1.0f / static_cast<float>(k + 1);
  return table;
}

}  // namespace rooftile
