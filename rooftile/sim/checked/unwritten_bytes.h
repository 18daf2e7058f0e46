// Which bytes of an access nobody has written.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace rooftile::simt::checked {

class UnwrittenBytes {
 public:
  [[nodiscard]] bool any() const { return bytes_ != 0; }
  // Bit i of `bytes` is byte `first` + i of the access; `first` may lie before it, the bits do not. What lies far
  // behind counts as one byte.
  void add(unsigned bytes, std::ptrdiff_t first) {
    bytes_ |= first < 0 ? bytes >> -first : first < kLast ? std::uint64_t{bytes} << first : 1u << kLast;
  }
  // Of a struct that is copied whole: forgets gaps in front of what is aligned, and at the end.
  void drop_padding(std::uintptr_t address, std::size_t bytes) {
    std::uint64_t left = bytes_;
    while (left != 0) {
      const auto first = static_cast<unsigned>(std::countr_zero(left));
      const auto length = static_cast<unsigned>(std::countr_one(left >> first));
      const std::uint64_t gap = ((std::uint64_t{1} << length) - 1) << first;
      const bool is_aligned = (address + first + length) % std::bit_ceil(length + 1) == 0;
      if (first > 0 && first + length <= bytes && length < kMostPadding && is_aligned) bytes_ &= ~gap;
      left &= ~gap;
    }
  }

 private:
  static constexpr std::ptrdiff_t kLast = 31;
  static constexpr unsigned kMostPadding = 8;
  std::uint64_t bytes_ = 0;
};

}  // namespace rooftile::simt::checked
