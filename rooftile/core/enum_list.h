// A short list of an enum's values, in their order: a chain of operations.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>

namespace rooftile {

// At most kMost values; a list that was made of more of them is not valid.
template <class E, std::size_t kMost>
class EnumList {
 public:
  constexpr EnumList() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): one is a list
  constexpr EnumList(E value) : values_{value}, size_(1) {}
  constexpr EnumList(std::initializer_list<E> values) {
    for (const E value : values) push_back(value);
  }

  constexpr void push_back(E value) {
    if (size_ < kMost) values_[size_] = value;
    ++size_;
  }
  [[nodiscard]] constexpr bool valid() const { return size_ <= kMost; }
  [[nodiscard]] constexpr std::size_t size() const { return valid() ? size_ : kMost; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr E operator[](std::size_t i) const { return values_[i]; }
  [[nodiscard]] constexpr const E* begin() const { return values_.data(); }
  [[nodiscard]] constexpr const E* end() const { return values_.data() + size(); }

  friend constexpr bool operator==(const EnumList& a, const EnumList& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  std::array<E, kMost> values_{};
  std::size_t size_ = 0;
};

}  // namespace rooftile
