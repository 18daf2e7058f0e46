// The __shared__ variables of checked kernels: thread-local storage of this program, found by its symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rooftile::simt::checked {

struct SharedVariable {
  std::size_t offset = 0;  // in the program's thread-local block
  std::size_t bytes = 0;
  std::string name;  // "s_tile"
};

class SharedVariables {
 public:
  // Of the running program; without symbols (a stripped program) there are none.
  static const SharedVariables& of_program();

  [[nodiscard]] std::span<const SharedVariable> all() const { return variables_; }  // by offset
  [[nodiscard]] std::size_t block_bytes() const { return block_bytes_; }
  // The variable that holds this byte of the block, or null.
  [[nodiscard]] const SharedVariable* at(std::size_t offset) const {
    const std::size_t granule = offset / kGranule;
    if (granule >= index_.size() || index_[granule] == 0) return nullptr;
    return find(offset);
  }
  // Of the calling OS thread.
  [[nodiscard]] static std::uintptr_t block_address();

 private:
  SharedVariables();
  [[nodiscard]] const SharedVariable* find(std::size_t offset) const;

  static constexpr std::size_t kGranule = 16;
  std::vector<SharedVariable> variables_;
  std::vector<std::uint16_t> index_;  // per granule: 1 + the first variable that reaches into it
  std::size_t block_bytes_ = 0;
};

}  // namespace rooftile::simt::checked
