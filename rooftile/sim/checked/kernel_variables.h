// The variables of checked kernels, found by this program's symbols: what is __shared__ lies in thread-local
// storage, what is __device__ in the program's data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rooftile::simt::checked {

struct KernelVariable {
  std::uintptr_t place = 0;  // shared: offset in the program's thread-local block; device: address
  std::size_t bytes = 0;
  std::string name;  // "s_tile"
};

struct AddressRange {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  [[nodiscard]] bool contains(std::uintptr_t address) const { return address - begin < bytes; }
};
// The program's __constant__ variables.
[[nodiscard]] AddressRange constant_memory();

class KernelVariables {
 public:
  // Of the running program; without symbols (a stripped program) there are none.
  static const KernelVariables& of_program();

  [[nodiscard]] std::span<const KernelVariable> shared() const { return shared_; }  // by place
  [[nodiscard]] std::span<const KernelVariable> device() const { return device_; }  // by place
  [[nodiscard]] std::size_t block_bytes() const { return block_bytes_; }
  // The __shared__ variable that holds this byte of the thread-local block, or null.
  [[nodiscard]] const KernelVariable* shared_at(std::size_t offset) const {
    const std::size_t granule = offset / kGranule;
    if (granule >= index_.size() || index_[granule] == 0) return nullptr;
    return find(offset);
  }
  // The thread-local block of the calling OS thread.
  [[nodiscard]] static std::uintptr_t block_address();

 private:
  KernelVariables();
  [[nodiscard]] const KernelVariable* find(std::size_t offset) const;

  static constexpr std::size_t kGranule = 16;
  std::vector<KernelVariable> shared_;
  std::vector<KernelVariable> device_;
  std::vector<std::uint16_t> index_;  // per granule: 1 + the first shared variable that reaches into it
  std::size_t block_bytes_ = 0;
};

}  // namespace rooftile::simt::checked
