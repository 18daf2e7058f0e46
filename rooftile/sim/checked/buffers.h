// The buffers that kernels may touch, and which of their bytes hold something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rooftile/sim/checked/global_shadow.h"
#include "rooftile/sim/checked/session.h"

namespace rooftile::simt::checked {

class KnownBuffer {
 public:
  explicit KnownBuffer(const Buffer& buffer);
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uintptr_t begin() const { return begin_; }
  [[nodiscard]] std::uintptr_t end() const { return begin_ + bytes_; }
  [[nodiscard]] bool holds(std::uintptr_t address, std::size_t bytes) const {
    return address - begin_ < bytes_ && bytes <= bytes_ - (address - begin_);
  }
  // Nobody may write it and all of it holds something: a read is right.
  [[nodiscard]] bool is_constant() const { return written_ == nullptr && shadow_ == nullptr; }
  // Of a range that it holds. Several OS threads may write: a byte says the same, whoever wrote it.
  void set_written(std::uintptr_t address, std::size_t bytes);
  [[nodiscard]] UnwrittenBytes unwritten(std::uintptr_t address, std::size_t bytes) const;
  // Null for a read-only buffer.
  [[nodiscard]] GlobalShadow* shadow() const { return shadow_.get(); }

 private:
  std::string name_;
  std::uintptr_t begin_;
  std::size_t bytes_;
  std::unique_ptr<std::uint8_t[]> written_;  // per byte; null: all of them are
  std::unique_ptr<GlobalShadow> shadow_;
};

class Buffers {
 public:
  void add(const Buffer& buffer) { buffers_.emplace_back(buffer); }
  [[nodiscard]] bool empty() const { return buffers_.empty(); }
  // The buffer that holds all of the range, or null.
  [[nodiscard]] KnownBuffer* find(std::uintptr_t address, std::size_t bytes);
  // "byte 1024 of out, which has 1024 bytes": where an address in no buffer is.
  [[nodiscard]] std::string describe_outside(std::uintptr_t address) const;
  // Close enough to a buffer to be meant for it.
  [[nodiscard]] bool is_near(std::uintptr_t address) const;

 private:
  std::vector<KnownBuffer> buffers_;
};

}  // namespace rooftile::simt::checked
