#include "rooftile/core/overlap.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

namespace rooftile {
namespace {

// Addresses are 64 bits and a view reaches 63 to either side: the distances of two views need 66.
__extension__ using Address = __int128;
__extension__ using Wide = unsigned __int128;

// The numbers 0, stride, 2 stride, ..., count stride. Neither is 0.
struct Multiples {
  std::uint64_t stride;
  Wide count;
};

// Whether numbers, one of each set of multiples, have a sum in [target - slack, target].
class Sums {
 public:
  // Sets of ascending strides. They are sorted out: what can be part of the slack or of another set becomes so.
  Sums(std::span<const Multiples> ascending, Wide slack) : slack_(slack) {
    for (const Multiples& set : ascending) {
      if (!add_to_slack(set) && !add_to_another(set)) sets_[size_++] = set;
    }
    for (std::size_t i = 0; i < size_; ++i) {
      divisor_[i + 1] = std::gcd(divisor_[i], sets_[i].stride);
      reach_[i + 1] = reach_[i] + sets_[i].stride * sets_[i].count;
    }
  }

  // True, too, when the steps are used up.
  [[nodiscard]] bool hit(Wide target) { return hit(size_, target); }

 private:
  // Where the slack leaves no gaps between the multiples.
  bool add_to_slack(const Multiples& set) {
    if (slack_ < set.stride - 1) return false;
    slack_ += set.stride * set.count;
    return true;
  }

  // To one with a stride that divides this one, and that leaves no gaps: nested dimensions that one stride serves.
  bool add_to_another(const Multiples& set) {
    for (std::size_t i = size_; i > 0; --i) {
      Multiples& other = sets_[i - 1];
      const std::uint64_t ratio = set.stride / other.stride;
      if (set.stride % other.stride != 0 || other.count < ratio - 1) continue;
      other.count += ratio * set.count;
      return true;
    }
    return false;
  }

  // With the first n sets. Tries the multiples of the last one, whose stride is the largest.
  bool hit(std::size_t n, Wide target) {
    const Wide low = target > slack_ ? target - slack_ : 0;
    if (low > reach_[n]) return false;
    if (low == 0 || target >= reach_[n]) return true;
    // Every sum is a multiple of the divisor; those of one set are all its multiples.
    if (target / divisor_[n] * divisor_[n] < low) return false;
    if (n == 1) return true;

    const Multiples& last = sets_[n - 1];
    const Wide rest = reach_[n - 1];
    const Wide fewest = low > rest ? (low - rest - 1) / last.stride + 1 : 0;
    for (Wide i = std::min(last.count, target / last.stride) + 1; i > fewest; --i) {
      if (++steps_ > kOverlapSteps || hit(n - 1, target - (i - 1) * last.stride)) return true;
    }
    return false;
  }

  std::array<Multiples, std::size_t{2} * kMaxRank> sets_;
  std::array<std::uint64_t, std::size_t{2} * kMaxRank + 1> divisor_{};  // of the first n strides
  std::array<Wide, std::size_t{2} * kMaxRank + 1> reach_{};             // of the first n sets
  Wide slack_;
  std::size_t size_ = 0;
  int steps_ = 0;
};

// The offsets of a view's elements from its first byte in memory are sums of these.
std::size_t append_dimensions(const ConstTensorView& view, std::span<Multiples> sets) {
  const std::size_t element = size_of(view.dtype);
  std::size_t count = 0;
  for (int i = 0; i < view.rank(); ++i) {
    const auto stride = static_cast<std::uint64_t>(view.strides[i]);
    if (view.shape[i] == 1 || stride == 0) continue;
    sets[count++] = {(view.strides[i] < 0 ? 0 - stride : stride) * element,
                     static_cast<Wide>(view.shape[i] - 1)};
  }
  return count;
}

// Counted up from a's first byte and down from b's last one, both views' strides are positive: they share a byte where
// the way from one to the other is a sum of steps along the dimensions and within the two elements.
bool share_byte(const ConstTensorView& a, const ConstTensorView& b, Wide distance) {
  std::array<Multiples, std::size_t{2} * kMaxRank> sets;
  const std::span all(sets);
  std::size_t count = append_dimensions(a, all);
  count += append_dimensions(b, all.subspan(count));
  const auto ascending = all.first(count);
  std::sort(ascending.begin(), ascending.end(),
            [](const Multiples& x, const Multiples& y) { return x.stride < y.stride; });
  return Sums(ascending, size_of(a.dtype) + size_of(b.dtype) - 2).hit(distance);
}

Address address(const ConstTensorView& view, std::int64_t offset) {
  return static_cast<Address>(reinterpret_cast<std::uintptr_t>(view.data)) + offset;
}

}  // namespace

ByteRange byte_range(const ConstTensorView& view) {
  if (view.numel() == 0) return {};
  std::int64_t first = 0;
  std::int64_t last = 1;
  for (int i = 0; i < view.rank(); ++i) {
    const std::int64_t reach = view.strides[i] * (view.shape[i] - 1);
    (reach < 0 ? first : last) += reach;
  }
  const auto element = static_cast<std::int64_t>(size_of(view.dtype));
  return {first * element, last * element};
}

// Addresses alone decide: cpu and sim share the host's memory,
// and CUDA gives every GPU and the host one address space.
bool overlaps(const ConstTensorView& a, const ConstTensorView& b) {
  const ByteRange range_a = byte_range(a);
  const ByteRange range_b = byte_range(b);
  if (range_a.first == range_a.last || range_b.first == range_b.last) return false;
  const Address first = address(a, range_a.first);
  const Address last = address(b, range_b.last);
  if (first >= last || address(b, range_b.first) >= address(a, range_a.last)) return false;
  if (a.data == b.data || (a.contiguous() && b.contiguous())) return true;
  return share_byte(a, b, static_cast<Wide>(last - first - 1));
}

}  // namespace rooftile
