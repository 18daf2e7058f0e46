#include "rooftile/cases/draws.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "rooftile/cases/elements.h"
#include "rooftile/cases/fill.h"
#include "rooftile/core/philox.h"

namespace rooftile {
namespace {

// Random words of one draw, one after another.
class Words {
 public:
  explicit Words(std::uint64_t seed) : key_(philox_key(seed ^ kStream)) {}
  std::uint64_t next() {
    const PhiloxCounter words = philox4x32_10(philox_counter(count_++, 0), key_);
    return std::uint64_t{words.x} << 32 | words.y;
  }
  // Of [0, count); the bias is below count / 2^64.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(count));
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  static constexpr std::uint64_t kStream = 0x64726177'64726177;  // not the words of the fills
  PhiloxKey key_;
  std::uint64_t count_ = 0;
};

// Bit for bit, where a double could not hold it.
void set_integer(HostTensor& tensor, std::int64_t i, std::int64_t value) {
  const std::size_t size = size_of(tensor.dtype());
  std::memcpy(static_cast<std::byte*>(tensor.data()) + static_cast<std::size_t>(i) * size, &value, size);
}

std::pair<std::int64_t, std::int64_t> integer_range(DType dtype) {
  const unsigned bits = 8 * static_cast<unsigned>(size_of(dtype)) - 1;
  if (is_signed(dtype))
    return {static_cast<std::int64_t>(~std::uint64_t{0} << bits),
            static_cast<std::int64_t>((std::uint64_t{1} << bits) - 1)};
  return {0, bits == 63
                 ? -1
                 : static_cast<std::int64_t>((std::uint64_t{2} << bits) - 1)};  // -1: all bits of a u64
}

std::vector<std::int64_t> permutation(std::int64_t count, Words& words) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(words.below(static_cast<std::int64_t>(i)))]);
  return order;
}

Status set_all(HostTensor& tensor, std::span<const std::int64_t> values) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.numel()); ++i) {
    if (is_float(tensor.dtype()))
      tensor.set(static_cast<std::int64_t>(i), static_cast<double>(values[i]));
    else
      set_integer(tensor, static_cast<std::int64_t>(i), values[i]);
  }
  return {};
}

using Before = std::span<const HostTensor>;

}  // namespace

std::uint64_t draw_seed(std::uint64_t case_seed, std::size_t input) {
  return case_seed + (static_cast<std::uint64_t>(input) + 1) * 0x9E3779B97F4A7C15u;
}

Draw drawn_by(Fill fill) { return {.name = std::string(to_string(fill)), .fixed = fill, .fill = {}}; }

Draw drawn_indices(std::int64_t low, std::int64_t high, int outside_every) {
  std::string name = "indices in [" + std::to_string(low) + "," + std::to_string(high) + ")";
  if (outside_every > 0) name += ", one in " + std::to_string(outside_every) + " outside";
  return {.name = name, .fixed = {}, .fill = [=](HostTensor& tensor, std::uint64_t seed, Before) -> Status {
            if (is_float(tensor.dtype())) return invalid_argument("indices are integers");
            if (low >= high && tensor.numel() > 0)
              return invalid_argument("there is no index to draw: the range is empty");
            Words words(seed);
            const auto [least, largest] = integer_range(tensor.dtype());
            std::vector<std::int64_t> outside;
            for (const std::int64_t index : {low - 1, high, least, largest}) {
              // As the dtype holds them: -1 is no unsigned number.
              const bool is_there = least < 0 || index >= 0 || (index == largest && least == 0);
              if (is_there && (index < low || index >= high)) outside.push_back(index);
            }
            for (std::int64_t i = 0; i < tensor.numel(); ++i) {
              const std::uint64_t which = words.next();
              const bool out = outside_every > 0 && which % static_cast<std::uint64_t>(outside_every) == 0;
              set_integer(tensor, i,
                          out ? outside[(which >> 32) % outside.size()] : low + words.below(high - low));
            }
            return {};
          }};
}

Draw drawn_permutation() {
  return {.name = "permutation",
          .fixed = {},
          .fill = [](HostTensor& tensor, std::uint64_t seed, Before) -> Status {
            Words words(seed);
            if (!is_float(tensor.dtype()) && size_of(tensor.dtype()) < 8 &&
                tensor.numel() - 1 > integer_range(tensor.dtype()).second)
              return invalid_argument("the dtype has fewer numbers than the permutation");
            return set_all(tensor, permutation(tensor.numel(), words));
          }};
}

Draw drawn_sorted(Fill fill) {
  return {.name = "sorted " + std::string(to_string(fill)),
          .fixed = {},
          .fill = [fill](HostTensor& tensor, std::uint64_t seed, Before) -> Status {
            fill_tensor(tensor, fill, seed, 0);
            std::vector<std::pair<std::uint64_t, std::uint64_t>> elements;  // order, bits
            for (std::int64_t i = 0; i < tensor.numel(); ++i)
              elements.emplace_back(order_bits(tensor, i), element_bits(tensor, i));
            std::sort(elements.begin(), elements.end());
            for (std::int64_t i = 0; i < tensor.numel(); ++i)
              set_integer(tensor, i, static_cast<std::int64_t>(elements[static_cast<std::size_t>(i)].second));
            return {};
          }};
}

Draw drawn_cumulative_lengths(std::int64_t total) {
  return {.name = "cumulative lengths of " + std::to_string(total),
          .fixed = {},
          .fill = [total](HostTensor& tensor, std::uint64_t seed, Before) {
            Words words(seed);
            std::vector<std::int64_t> cuts(static_cast<std::size_t>(tensor.numel()));
            for (std::int64_t& cut : cuts) cut = words.below(total + 1);
            std::sort(cuts.begin(), cuts.end());
            if (!cuts.empty()) {
              cuts.back() = total;
              cuts.front() = 0;
            }
            // An empty one in the middle for certain.
            if (cuts.size() > 3) cuts[cuts.size() / 2] = cuts[cuts.size() / 2 - 1];
            return set_all(tensor, cuts);
          }};
}

Draw drawn_pages(std::int64_t pages) {
  return {.name = "pages of " + std::to_string(pages),
          .fixed = {},
          .fill = [pages](HostTensor& tensor, std::uint64_t seed, Before) -> Status {
            if (tensor.numel() > pages) return invalid_argument("more pages are asked for than the pool has");
            Words words(seed);
            return set_all(tensor, permutation(pages, words));
          }};
}

Draw drawn_boxes(double width, double height) {
  return {
      .name = "boxes", .fixed = {}, .fill = [=](HostTensor& tensor, std::uint64_t seed, Before) -> Status {
        if (tensor.numel() % 4 != 0) return invalid_argument("boxes have four numbers each");
        Words words(seed);
        for (std::int64_t box = 0; box < tensor.numel() / 4; ++box) {
          const std::uint64_t kind = words.next() % 8;
          if (kind == 0 && box > 0) {
            const std::int64_t other = words.below(box);
            for (std::int64_t i = 0; i < 4; ++i) tensor.set(box * 4 + i, tensor.at(other * 4 + i));
            continue;
          }
          const double x = words.unit() * width;
          const double y = words.unit() * height;
          tensor.set(box * 4, x);
          tensor.set(box * 4 + 1, y);
          tensor.set(box * 4 + 2, kind == 1 ? x : x + words.unit() * (width - x));
          tensor.set(box * 4 + 3, kind == 1 ? y : y + words.unit() * (height - y));
        }
        return {};
      }};
}

Draw drawn_image() {
  return {.name = "image", .fixed = {}, .fill = [](HostTensor& tensor, std::uint64_t seed, Before) -> Status {
            if (tensor.shape().rank() != 3 || tensor.dtype() != DType::u8)
              return invalid_argument("an image is u8[h,w,c]");
            Words words(seed);
            auto pixels = tensor.as<std::uint8_t>();
            const std::int64_t w = tensor.shape()[1];
            const std::int64_t c = tensor.shape()[2];
            for (std::int64_t i = 0; i < tensor.numel(); ++i) {
              const std::int64_t y = i / (w * c);
              const std::int64_t x = i / c % w;
              // Four kinds of areas in squares of 32.
              switch ((x / 32 + 2 * (y / 32)) % 4) {
                case 0:
                  pixels[static_cast<std::size_t>(i)] =
                      static_cast<std::uint8_t>(4 * x + 2 * y + 40 * (i % c));
                  break;
                case 1:
                  pixels[static_cast<std::size_t>(i)] = (x / 4 + y / 4) % 2 == 0 ? 255 : 0;
                  break;
                case 2:
                  pixels[static_cast<std::size_t>(i)] = 127;
                  break;
                default:
                  pixels[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(words.next());
              }
            }
            return {};
          }};
}

Draw made_from(std::string name,
               std::function<Status(HostTensor& tensor, std::span<const HostTensor> before)> make) {
  return {.name = std::move(name),
          .fixed = {},
          .fill = [make = std::move(make)](HostTensor& tensor, std::uint64_t, Before before) {
            return make(tensor, before);
          }};
}

}  // namespace rooftile
