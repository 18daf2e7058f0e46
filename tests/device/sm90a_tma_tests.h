// TMA tiles against plain arithmetic. Included by one test program per target.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>
#include <optional>

#include "tests/device/sm90a_testing.h"
#include "tests/device/sm90a_tma.h"

namespace rooftile::testing_sm90a {

class Sm90aTma : public ::testing::TestWithParam<Target<TmaKernels>> {
 protected:
  void SetUp() override { start(GetParam(), context_); }
  [[nodiscard]] const TmaKernels& kernels() const { return GetParam().kernels; }
  std::optional<Context> context_;
};

// A tensor in device memory, every byte of it different from its neighbours, rows padded by `padding`
// elements.
struct Tensor {
  Tensor(const Context& context, TensorMapSpec map, std::int64_t padding) : spec(std::move(map)) {
    const auto unit = static_cast<std::int64_t>(16 / size_of(spec.dtype));
    std::int64_t stride = 1;
    for (std::size_t d = 0; d < static_cast<std::size_t>(spec.rank); ++d) {
      spec.strides[d] = stride;
      stride *= spec.extents[d] + (d == 0 ? padding : 0);
      if (d == 0) stride = (stride + unit - 1) / unit * unit;
    }
    bytes = some_bytes(static_cast<std::size_t>(stride) * size_of(spec.dtype));
    memory.emplace(context, bytes);
    spec.data = memory->data();
  }
  // Where the element at these coordinates lies, or nothing outside the tensor.
  [[nodiscard]] std::optional<std::size_t> offset_of(
      const std::array<std::int64_t, kMaxTensorMapRank>& at) const {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(spec.rank); ++d) {
      if (at[d] < 0 || at[d] >= spec.extents[d]) return std::nullopt;
      element += at[d] * spec.strides[d];
    }
    return static_cast<std::size_t>(element) * size_of(spec.dtype);
  }
  // The same for an element that a store writes: 16-byte chunks are written whole.
  [[nodiscard]] std::optional<std::size_t> written_offset_of(
      std::array<std::int64_t, kMaxTensorMapRank> at) const {
    const auto unit = static_cast<std::int64_t>(16 / size_of(spec.dtype));
    const std::int64_t in_chunk = (at[0] % unit + unit) % unit;
    at[0] -= in_chunk;
    const auto chunk = offset_of(at);
    if (!chunk.has_value()) return std::nullopt;
    return *chunk + static_cast<std::size_t>(in_chunk) * size_of(spec.dtype);
  }
  TensorMapSpec spec;
  std::vector<std::byte> bytes;
  std::optional<DeviceArray<std::byte>> memory;
};

// Says where they differ first: vectors of bytes are too long to be printed.
inline ::testing::AssertionResult same_bytes(const std::vector<std::byte>& actual,
                                             const std::vector<std::byte>& expected) {
  if (actual.size() != expected.size()) return ::testing::AssertionFailure() << actual.size() << " bytes";
  std::size_t first = actual.size();
  std::size_t count = 0;
  for (std::size_t i = actual.size(); i-- > 0;) {
    if (actual[i] != expected[i]) {
      first = i;
      ++count;
    }
  }
  if (count == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << count << " of " << actual.size() << " bytes differ, the first at " << first << ": "
         << static_cast<int>(actual[first]) << ", not " << static_cast<int>(expected[first]);
}

// Calls body(offset of the element in the tile as it lies in shared memory, its coordinates in the tensor).
template <class Body>
void for_each_element(const TensorMapSpec& spec, const TileAt& at, Body&& body) {
  std::array<int, kMaxTensorMapRank> count{1, 1, 1, 1, 1};
  for (std::size_t d = 0; d < static_cast<std::size_t>(spec.rank); ++d) {
    count[d] = (spec.box[d] + spec.element_strides[d] - 1) / spec.element_strides[d];
  }
  std::uint32_t number = 0;
  std::array<int, kMaxTensorMapRank> i{};
  for (i[4] = 0; i[4] < count[4]; ++i[4]) {
    for (i[3] = 0; i[3] < count[3]; ++i[3]) {
      for (i[2] = 0; i[2] < count[2]; ++i[2]) {
        for (i[1] = 0; i[1] < count[1]; ++i[1]) {
          for (i[0] = 0; i[0] < count[0]; ++i[0], ++number) {
            std::array<std::int64_t, kMaxTensorMapRank> place{};
            for (std::size_t d = 0; d < place.size(); ++d) {
              place[d] = std::int64_t{at.c[d]} + i[d] * spec.element_strides[d];
            }
            body(swizzled(spec.swizzle, number * static_cast<std::uint32_t>(size_of(spec.dtype))), place);
          }
        }
      }
    }
  }
}

// The tiles at these coordinates as they must lie in shared memory; elements outside are zeros.
inline std::vector<std::byte> expected_tiles(const Tensor& tensor, const std::vector<TileAt>& at) {
  const std::size_t tile = tile_bytes(tensor.spec);
  const std::size_t element = size_of(tensor.spec.dtype);
  std::vector<std::byte> tiles(at.size() * tile, std::byte{0});
  for (std::size_t t = 0; t < at.size(); ++t) {
    for_each_element(tensor.spec, at[t], [&](std::uint32_t offset, const auto& place) {
      if (const auto source = tensor.offset_of(place)) {
        std::memcpy(tiles.data() + t * tile + offset, tensor.bytes.data() + *source, element);
      }
    });
  }
  return tiles;
}

inline std::vector<std::byte> load(const Context& context, const TmaKernels& kernels, const Tensor& tensor,
                                   const std::vector<TileAt>& at) {
  const DeviceArray<TileAt> places(context, at);
  const DeviceArray<std::byte> tiles(
      context, std::vector<std::byte>(at.size() * tile_bytes(tensor.spec), std::byte{0xa5}));
  EXPECT_TRUE(is_ok(kernels.load(context.stream(), tensor.spec, places.data(),
                                 static_cast<unsigned>(at.size()), tiles.data())));
  return tiles.read();
}

// Loads the tiles, and stores other bytes where they came from: both against plain loops.
inline void expect_round_trip(const Context& context, const TmaKernels& kernels, Tensor& tensor,
                              std::vector<TileAt> at) {
  SCOPED_TRACE("dtype " + std::string(to_string(tensor.spec.dtype)) + ", rank " +
               std::to_string(tensor.spec.rank) + ", box[0] " + std::to_string(tensor.spec.box[0]) +
               ", swizzle " + std::to_string(static_cast<int>(tensor.spec.swizzle)));
  EXPECT_TRUE(same_bytes(load(context, kernels, tensor, at), expected_tiles(tensor, at))) << "load";

  // Stores may not start before the tensor.
  std::erase_if(at, [](const TileAt& tile) {
    return std::any_of(std::begin(tile.c), std::end(tile.c), [](std::int32_t c) { return c < 0; });
  });
  const std::size_t tile = tile_bytes(tensor.spec);
  const std::size_t element = size_of(tensor.spec.dtype);
  const std::vector<std::byte> written = some_bytes(at.size() * tile, 77);
  const DeviceArray<TileAt> places(context, at);
  const DeviceArray<std::byte> tiles(context, written);
  ASSERT_TRUE(is_ok(kernels.store(context.stream(), tensor.spec, places.data(),
                                  static_cast<unsigned>(at.size()), tiles.data())));
  for (std::size_t t = 0; t < at.size(); ++t) {
    for_each_element(tensor.spec, at[t], [&](std::uint32_t offset, const auto& place) {
      if (const auto target = tensor.written_offset_of(place)) {
        std::memcpy(tensor.bytes.data() + *target, written.data() + t * tile + offset, element);
      }
    });
  }
  EXPECT_TRUE(same_bytes(tensor.memory->read(), tensor.bytes)) << "store";
}

constexpr TileSwizzle kSwizzles[] = {TileSwizzle::none, TileSwizzle::bytes32, TileSwizzle::bytes64,
                                     TileSwizzle::bytes128};

// One inside, the others over every edge. They do not overlap.
TEST_P(Sm90aTma, EveryTypeAndSwizzle) {
  for (const DType dtype : all_dtypes()) {
    for (const TileSwizzle swizzle : kSwizzles) {
      const auto span = swizzle == TileSwizzle::none ? 64 : static_cast<int>(swizzle);
      const int columns = span / static_cast<int>(size_of(dtype));
      const int unit = 16 / static_cast<int>(size_of(dtype));  // boxes start at multiples of 16 bytes
      TensorMapSpec spec{.dtype = dtype, .rank = 2, .swizzle = swizzle};
      spec.extents = {3 * columns + 3, 50};
      spec.box = {columns, 16};
      Tensor tensor(*context_, spec, 5);
      expect_round_trip(*context_, kernels(), tensor,
                        {{{unit, 7}}, {{columns + 2 * unit, -3}}, {{-unit, 30}}, {{3 * columns - unit, 40}}});
    }
  }
}

TEST_P(Sm90aTma, EveryRank) {
  for (int rank = 1; rank <= kMaxTensorMapRank; ++rank) {
    for (const TileSwizzle swizzle : kSwizzles) {
      TensorMapSpec spec{.dtype = DType::f32, .rank = rank, .swizzle = swizzle};
      const int columns = swizzle == TileSwizzle::none ? 8 : static_cast<int>(swizzle) / 4;
      spec.extents = {2 * columns + 5, 13, 7, 6, 5};
      spec.box = {columns, 4, 2, 3, 2};
      for (std::size_t d = static_cast<std::size_t>(rank); d < kMaxTensorMapRank; ++d) {
        spec.extents[d] = 0;
        spec.box[d] = 0;
      }
      Tensor tensor(*context_, spec, 3);
      std::vector<TileAt> at{
          {{columns - 4, 3, 3, 1, 1}}, {{-4, -1, -1, -2, -1}}, {{2 * columns, 11, 6, 4, 4}}};
      for (TileAt& tile : at) std::fill(tile.c + rank, tile.c + kMaxTensorMapRank, 0);
      expect_round_trip(*context_, kernels(), tensor, at);
    }
  }
}

TEST_P(Sm90aTma, SixteenByteElementsAsPairs) {
  TensorMapSpec spec{.dtype = DType::u64, .rank = 2, .swizzle = TileSwizzle::bytes128};
  spec.extents = {2 * 37, 20};
  spec.box = {2 * 8, 8};
  Tensor tensor(*context_, spec, 0);
  expect_round_trip(*context_, kernels(), tensor, {{{2 * 3, 5}}, {{2 * 33, 15}}});
}

TEST_P(Sm90aTma, LoadsWithElementStrides) {
  TensorMapSpec spec{.dtype = DType::f16, .rank = 3, .swizzle = TileSwizzle::bytes64};
  spec.extents = {96, 40, 9};
  spec.box = {32, 16, 5};
  spec.element_strides = {1, 4, 2, 1, 1};
  Tensor tensor(*context_, spec, 0);
  ASSERT_EQ(tile_bytes(tensor.spec), 32u * 2 * 4 * 3);
  const std::vector<TileAt> at{{{0, 0, 0}}, {{40, 30, 4}}, {{-8, 17, -2}}};
  EXPECT_TRUE(same_bytes(load(*context_, kernels(), tensor, at), expected_tiles(tensor, at)));
}

TEST_P(Sm90aTma, L2PromotionChangesNoBytes) {
  for (const L2Promotion promotion :
       {L2Promotion::none, L2Promotion::bytes64, L2Promotion::bytes128, L2Promotion::bytes256}) {
    TensorMapSpec spec{.dtype = DType::f32, .rank = 2, .l2_promotion = promotion};
    spec.extents = {100, 30};
    spec.box = {32, 8};
    Tensor tensor(*context_, spec, 0);
    expect_round_trip(*context_, kernels(), tensor, {{{4, 9}}, {{80, 25}}});
  }
}

TEST_P(Sm90aTma, TheLargestBox) {
  TensorMapSpec spec{.dtype = DType::u8, .rank = 2};
  spec.extents = {700, 300};
  spec.box = {256, 256};
  Tensor tensor(*context_, spec, 4);
  expect_round_trip(*context_, kernels(), tensor, {{{0, 0}}, {{592, 200}}});
}

TEST_P(Sm90aTma, OutsideIsNanWhereAskedFor) {
  const auto expect_nan = [&](DType dtype) {
    TensorMapSpec spec{.dtype = dtype, .rank = 2, .fill = OutOfBoundsFill::nan};
    spec.extents = {37, 9};
    spec.box = {16, 4};
    const Tensor tensor(*context_, spec, 0);
    const TileAt at{{32, 7}};
    const std::vector<std::byte> tile = load(*context_, kernels(), tensor, {at});
    for_each_element(spec, at, [&](std::uint32_t offset, const auto& place) {
      const auto source = tensor.offset_of(place);
      if (source.has_value()) {
        EXPECT_EQ(std::memcmp(tile.data() + offset, tensor.bytes.data() + *source, size_of(dtype)), 0);
      } else {
        EXPECT_TRUE(std::isnan(load_as_double(tile.data() + offset, dtype)))
            << to_string(dtype) << " at " << offset;
      }
    });
  };
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) expect_nan(dtype);
}

TEST_P(Sm90aTma, MulticastReachesEveryBlockOfTheCluster) {
  for (const unsigned blocks : {1u, 2u, 3u, 4u, 8u}) {
    SCOPED_TRACE(blocks);
    TensorMapSpec spec{.dtype = DType::bf16, .rank = 2, .swizzle = TileSwizzle::bytes128};
    spec.extents = {200, 100};
    spec.box = {64, 8};
    const Tensor tensor(*context_, spec, 0);
    std::vector<TileAt> at;
    for (unsigned b = 0; b < blocks; ++b) {
      at.push_back({{static_cast<int>(32 * b) - 8, static_cast<int>(14 * b) - 3}});
    }
    const std::vector<std::byte> of_a_block = expected_tiles(tensor, at);
    std::vector<std::byte> expected;
    for (unsigned b = 0; b < 2 * blocks; ++b) {
      expected.insert(expected.end(), of_a_block.begin(), of_a_block.end());
    }
    const DeviceArray<TileAt> places(*context_, at);
    const DeviceArray<std::byte> tiles(*context_, std::vector<std::byte>(expected.size(), std::byte{0xa5}));
    ASSERT_TRUE(
        is_ok(kernels().multicast(context_->stream(), tensor.spec, places.data(), blocks, tiles.data())));
    EXPECT_TRUE(same_bytes(tiles.read(), expected));
  }
}

TEST_P(Sm90aTma, RingOfTilesInFlight) {
  for (const unsigned count : {1u, 2u, 3u, 4u, 29u}) {
    SCOPED_TRACE(count);
    TensorMapSpec spec{.dtype = DType::u32, .rank = 2, .swizzle = TileSwizzle::bytes128};
    spec.extents = {32 * 5 - 3, 16 * 6 - 5};
    spec.box = {32, 16};
    const Tensor in(*context_, spec, 0);
    Tensor out(*context_, spec, 0);
    std::vector<TileAt> at;
    for (int t = 0; t < static_cast<int>(count); ++t) at.push_back({{t % 5 * 32, t / 5 * 16}});
    const DeviceArray<TileAt> places(*context_, at);
    ASSERT_TRUE(is_ok(kernels().ring(context_->stream(), in.spec, out.spec, places.data(), count, 0x5au)));
    for (const TileAt& tile : at) {
      for_each_element(spec, tile, [&](std::uint32_t, const auto& place) {
        const bool inside = in.offset_of(place).has_value();
        const auto offset = out.written_offset_of(place);
        for (std::size_t i = 0; offset.has_value() && i < size_of(spec.dtype); ++i) {
          out.bytes[*offset + i] = (inside ? in.bytes[*offset + i] : std::byte{0}) ^ std::byte{0x5a};
        }
      });
    }
    EXPECT_TRUE(same_bytes(out.memory->read(), out.bytes));
  }
}

TEST_P(Sm90aTma, AWrongMapIsAStatus) {
  const DeviceArray<TileAt> places(*context_, {{{0, 0}}});
  const DeviceArray<std::byte> data(*context_, std::vector<std::byte>(4096));
  TensorMapSpec spec{.data = data.data(), .dtype = DType::f32, .rank = 2};
  spec.extents = {32, 4};
  spec.strides = {1, 30};
  spec.box = {32, 4};
  const Status status = kernels().load(context_->stream(), spec, places.data(), 1, data.data());
  EXPECT_EQ(
      status.rule(),
      "tensor map: the stride of dimension 1 must be a positive multiple of 16 bytes below 2^40, not 30 "
      "elements of 4 bytes");
}

// Every tile is combined twice, by different blocks, over edges too. The numbers are small integers: sums are
// exact.
TEST_P(Sm90aTma, Reductions) {
  const std::vector<TileAt> at{{{0, 0}}, {{0, 0}}, {{16, 3}}, {{32, 8}}, {{16, 3}}, {{8, 14}}};
  for (const Reduction op : {Reduction::add, Reduction::min, Reduction::max}) {
    for (const DType dtype :
         {DType::i32, DType::i64, DType::u32, DType::u64, DType::f16, DType::bf16, DType::f32}) {
      if (op == Reduction::add ? dtype == DType::i64 : dtype == DType::f32) continue;  // not there
      SCOPED_TRACE(std::string(to_string(dtype)) + ", operation " + std::to_string(static_cast<int>(op)));
      const std::size_t element = size_of(dtype);
      TensorMapSpec spec{.dtype = dtype, .rank = 2, .swizzle = static_cast<TileSwizzle>(16 * element)};
      spec.extents = {37, 17};
      spec.box = {16, 4};
      Tensor tensor(*context_, spec, 0);
      const auto number = [&](std::size_t i) {
        const auto value = static_cast<double>(i * 37 % 101);
        return is_signed(dtype) ? value - 50 : value;
      };
      for (std::size_t i = 0; i < tensor.bytes.size() / element; ++i) {
        store_from_double(tensor.bytes.data() + i * element, dtype, number(i));
      }
      tensor.memory.emplace(*context_, tensor.bytes);
      tensor.spec.data = tensor.memory->data();
      const std::size_t tile = tile_bytes(tensor.spec);
      std::vector<std::byte> tiles(at.size() * tile);
      for (std::size_t i = 0; i < tiles.size() / element; ++i) {
        store_from_double(tiles.data() + i * element, dtype, number(i + 3));
      }
      const DeviceArray<TileAt> places(*context_, at);
      const DeviceArray<std::byte> device_tiles(*context_, tiles);
      ASSERT_TRUE(is_ok(kernels().reduce(context_->stream(), op, tensor.spec, places.data(),
                                         static_cast<unsigned>(at.size()), device_tiles.data())));
      for (std::size_t t = 0; t < at.size(); ++t) {
        for_each_element(tensor.spec, at[t], [&](std::uint32_t offset, const auto& place) {
          const auto target = tensor.written_offset_of(place);
          if (!target.has_value()) return;
          const double old = load_as_double(tensor.bytes.data() + *target, dtype);
          const double value = load_as_double(tiles.data() + t * tile + offset, dtype);
          store_from_double(tensor.bytes.data() + *target, dtype,
                            op == Reduction::add   ? old + value
                            : op == Reduction::min ? std::fmin(old, value)
                                                   : std::fmax(old, value));
        });
      }
      EXPECT_TRUE(same_bytes(tensor.memory->read(), tensor.bytes));
    }
  }
}

}  // namespace rooftile::testing_sm90a
