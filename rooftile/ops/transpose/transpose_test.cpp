// What is special to transpose: strides, in place, bits that are no numbers, and its contract at the edges,
// on every device that is usable here and by every rung that serves the call. The cases themselves run
// through the lab.
#include "rooftile/ops/transpose/transpose.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "rooftile/core/memory.h"
#include "rooftile/core/operator.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

// A view of `first` and on in a buffer.
struct Layout {
  Extents shape;
  Extents strides;
  std::int64_t first = 0;
};
Layout contiguous(const Extents& shape) { return {shape, contiguous_strides(shape)}; }

// Every index of a shape in turn.
template <class Body>
void for_each_index(const Extents& shape, Body body) {
  Extents index = shape;
  for (int d = 0; d < shape.rank(); ++d) index[d] = 0;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape.span()) count *= extent;
  for (std::int64_t i = 0; i < count; ++i) {
    body(index);
    for (int d = shape.rank() - 1; d >= 0 && ++index[d] == shape[d]; --d) index[d] = 0;
  }
}

std::int64_t place(const Layout& layout, const Extents& index) {
  std::int64_t at = layout.first;
  for (int d = 0; d < index.rank(); ++d) at += index[d] * layout.strides[d];
  return at;
}

class TransposeTest : public OnEveryDevice {
 protected:
  template <class T>
  TransposeArgs args_on_device(const DeviceMemory& in, const Layout& from, const DeviceMemory& out,
                               const Layout& to, bool packed) {
    return {.in = {static_cast<const void*>(static_cast<const T*>(in.data()) + from.first), dtype_of<T>,
                   GetParam(), from.shape, from.strides},
            .out = {static_cast<void*>(static_cast<T*>(out.data()) + to.first), dtype_of<T>, GetParam(),
                    to.shape, to.strides},
            .packed = packed};
  }

  // Transposes a buffer of in_size elements into one of out_size by every rung that serves the layouts, and
  // compares all of out with plain loops: what lies between out's elements must stay. Says how many rungs
  // there were.
  template <class T>
  int check_all_rungs(int in_count, const Layout& from, int out_count, const Layout& to,
                      bool packed = false) {
    const Device device = GetParam();
    const auto in_size = static_cast<std::size_t>(in_count);
    const auto out_size = static_cast<std::size_t>(out_count);
    std::vector<T> source(in_size);
    for (std::size_t i = 0; i < in_size; ++i) source[i] = static_cast<T>(i * 2654435761u >> 3);
    const std::vector<T> untouched(out_size, static_cast<T>(0x5A));
    std::vector<T> expected = untouched;
    const int row = from.shape.rank() - (packed ? 3 : 2);
    for_each_index(from.shape, [&](const Extents& index) {
      Extents mirrored = index;
      std::swap(mirrored[row], mirrored[row + 1]);
      expected[static_cast<std::size_t>(place(to, mirrored))] =
          source[static_cast<std::size_t>(place(from, index))];
    });

    Result<DeviceMemory> in = DeviceMemory::allocate(device, in_size * sizeof(T));
    Result<DeviceMemory> out = DeviceMemory::allocate(device, out_size * sizeof(T));
    if (!in.ok() || !out.ok()) return -1;
    const TransposeArgs args = args_on_device<T>(*in, from, *out, to, packed);
    return run_rungs<T>(args, source, *in, untouched, *out, expected);
  }

  // The same in place: one buffer, one layout.
  template <class T>
  int check_in_place(int count, const Layout& layout, bool packed = false) {
    const auto size = static_cast<std::size_t>(count);
    std::vector<T> source(size);
    for (std::size_t i = 0; i < size; ++i) source[i] = static_cast<T>(i * 2654435761u >> 3);
    std::vector<T> expected = source;
    const int row = layout.shape.rank() - (packed ? 3 : 2);
    for_each_index(layout.shape, [&](const Extents& index) {
      Extents mirrored = index;
      std::swap(mirrored[row], mirrored[row + 1]);
      expected[static_cast<std::size_t>(place(layout, mirrored))] =
          source[static_cast<std::size_t>(place(layout, index))];
    });
    Result<DeviceMemory> memory = DeviceMemory::allocate(GetParam(), size * sizeof(T));
    if (!memory.ok()) return -1;
    const TransposeArgs args = args_on_device<T>(*memory, layout, *memory, layout, packed);
    return run_rungs<T>(args, source, *memory, source, *memory, expected);
  }
  // in and out as parts of one buffer of so many elements, which do not share one.
  template <class T>
  int serves_within(std::size_t elements, const Layout& from, const Layout& to) {
    std::vector<T> source(elements);
    for (std::size_t i = 0; i < elements; ++i) source[i] = static_cast<T>(7 * i + 3);
    std::vector<T> expected = source;
    for_each_index(from.shape, [&](const Extents& index) {
      expected[static_cast<std::size_t>(place(to, {index[1], index[0]}))] =
          source[static_cast<std::size_t>(place(from, index))];
    });
    const Result<DeviceMemory> memory = DeviceMemory::allocate(GetParam(), elements * sizeof(T));
    EXPECT_TRUE(memory.ok());
    if (!memory.ok()) return -1;
    const auto part = [&](const Layout& layout) {
      void* const data = static_cast<T*>(memory->data()) + layout.first;
      return TensorView{data, dtype_of<T>, GetParam(), layout.shape, layout.strides};
    };
    return run_rungs<T>({.in = part(from), .out = part(to)}, source, *memory, source, *memory, expected);
  }

 private:
  template <class T>
  int run_rungs(const TransposeArgs& args, const std::vector<T>& source, const DeviceMemory& in,
                const std::vector<T>& before, const DeviceMemory& out, const std::vector<T>& expected) {
    const StreamRef stream = context().stream();
    const Device device = GetParam();
    const Result<const DeviceProperties*> properties = device_properties(device);
    if (!properties.ok()) return -1;
    const RungKind kind = device.kind == DeviceKind::cpu ? RungKind::cpu : RungKind::gpu;
    int served = 0;
    const auto run = [&](const std::string& name, const auto& launch) {
      ++served;
      std::vector<T> result(expected.size());
      Status status = copy(stream, in.data(), device, source.data(), kCpu, source.size() * sizeof(T));
      if (status.ok())
        status = copy(stream, out.data(), device, before.data(), kCpu, before.size() * sizeof(T));
      if (status.ok()) status = launch();
      if (status.ok())
        status = copy(stream, result.data(), kCpu, out.data(), device, result.size() * sizeof(T));
      if (status.ok()) status = synchronize(stream);
      EXPECT_TRUE(status.ok()) << name << ": " << status.message();
      const auto differs = std::mismatch(result.begin(), result.end(), expected.begin());
      EXPECT_EQ(std::memcmp(result.data(), expected.data(), result.size() * sizeof(T)), 0)
          << name << " at element " << differs.first - result.begin();
    };
    for (const RungRow& rung : transpose_operator().rungs) {
      if (rung.kind != kind || !unsupported_reason(rung, AnyArgs::of(args), **properties).empty()) continue;
      run(rung.id, [&] { return run_rung(transpose_operator(), rung, context(), AnyArgs::of(args)); });
    }
    run("the chosen rung", [&] { return transpose(context(), args); });
    return served;
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, TransposeTest, ::testing::ValuesIn(usable_devices()), device_name);

TEST_P(TransposeTest, ServesRowsWithGaps) {
  // 16-byte aligned pitches on both sides; then odd ones.
  EXPECT_GE(check_all_rungs<float>(70 * 80, {Extents{64, 72}, Extents{80, 1}, 8}, 72 * 96,
                                   {Extents{72, 64}, Extents{96, 1}, 4}),
            2);
  EXPECT_GE(check_all_rungs<std::uint16_t>(40 * 83, {Extents{33, 70}, Extents{83, 1}, 5}, 80 * 41,
                                           {Extents{70, 33}, Extents{41, 1}, 3}),
            2);
  EXPECT_GE(check_all_rungs<std::uint8_t>(160 * 256, {Extents{144, 160}, Extents{256, 1}, 16}, 170 * 240,
                                          {Extents{160, 144}, Extents{240, 1}}),
            2);
}

// Vectors that cover a misaligned row hang over its ends: into the next row, a gap, or out of the tensor.
TEST_P(TransposeTest, ServesMisalignedRowsBackwardsAndWithGaps) {
  const int least = GetParam().kind == DeviceKind::cpu ? 2 : 3;
  EXPECT_GE(check_all_rungs<std::uint8_t>(150 * 143, {Extents{150, 140}, Extents{-143, 1}, 149 * 143 + 3},
                                          140 * 151 + 2, {Extents{140, 150}, Extents{151, 1}, 2}),
            least);
  EXPECT_GE(
      check_all_rungs<std::uint8_t>(150 * 141, {Extents{150, 141}, Extents{-141, 1}, std::int64_t{149} * 141},
                                    141 * 150, contiguous(Extents{141, 150})),
      least);
  EXPECT_GE(check_all_rungs<std::uint16_t>(131 * 77 + 1, {Extents{131, 77}, Extents{77, 1}, 1}, 77 * 133,
                                           {Extents{77, 131}, Extents{-133, 1}, std::int64_t{76} * 133}),
            least);
  EXPECT_GE(check_all_rungs<double>(67 * 69 + 1, {Extents{67, 65}, Extents{-69, 1}, 66 * 69 + 1}, 65 * 67 + 1,
                                    {Extents{65, 67}, Extents{67, 1}, 1}),
            least);
}

TEST_P(TransposeTest, ServesAnyStrides) {
  // Every other column; columns backwards; one row repeated; in stored by columns; both stored by columns.
  const Layout out = contiguous(Extents{20, 9});
  EXPECT_GE(check_all_rungs<float>(9 * 40, {Extents{9, 20}, Extents{40, 2}}, 180, out), 2);
  EXPECT_GE(check_all_rungs<float>(180, {Extents{9, 20}, Extents{20, -1}, 19}, 180, out), 2);
  EXPECT_GE(check_all_rungs<float>(20, {Extents{9, 20}, Extents{0, 1}}, 180, out), 2);
  EXPECT_GE(check_all_rungs<float>(180, {Extents{9, 20}, Extents{1, 9}}, 180, out), 2);
  EXPECT_GE(
      check_all_rungs<float>(180, {Extents{9, 20}, Extents{1, 9}}, 180, {Extents{20, 9}, Extents{1, 20}}), 2);
  EXPECT_GE(
      check_all_rungs<float>(180, contiguous(Extents{9, 20}), 400, {Extents{20, 9}, Extents{-20, 2}, 380}),
      2);
}

TEST_P(TransposeTest, ServesLeadingDimensionsThatDoNotMerge) {
  EXPECT_GE(check_all_rungs<float>(3000, {Extents{2, 3, 5, 7}, Extents{40, 400, 8, 1}}, 2000,
                                   {Extents{2, 3, 7, 5}, Extents{300, 60, 5, 1}}),
            2);
  // One matrix repeated, and vectors on both sides.
  EXPECT_GE(check_all_rungs<float>(16 * 32, {Extents{4, 16, 32}, Extents{0, 32, 1}}, 4 * 1024,
                                   {Extents{4, 32, 16}, Extents{1024, 16, 1}}),
            2);
}

TEST_P(TransposeTest, MovesWhatIsPackedAsOne) {
  EXPECT_GE(check_all_rungs<double>(64 * 48 * 2, contiguous(Extents{64, 48, 2}), 64 * 48 * 2,
                                    contiguous(Extents{48, 64, 2}), true),
            2);
  // Pixels of three bytes with one between them are items of 4 bytes only as wholes; an item off its own
  // alignment.
  EXPECT_GE(check_all_rungs<std::uint8_t>(20 * 64, {Extents{15, 12, 4}, Extents{64, 5, 1}, 1}, 12 * 80,
                                          {Extents{12, 15, 4}, Extents{70, 4, 1}}, true),
            2);
}

TEST_P(TransposeTest, InPlaceExchangesSquares) {
  for (const std::int64_t n : {1, 2, 31, 33, 64, 65, 130, 192}) {
    const auto size = static_cast<int>(n * n);
    EXPECT_GE(check_in_place<float>(size, contiguous(Extents{n, n})), 2) << n;
    EXPECT_GE(check_in_place<std::uint8_t>(size, contiguous(Extents{n, n})), 2) << n;
    EXPECT_GE(check_in_place<std::uint16_t>(size, contiguous(Extents{n, n})), 2) << n;
    EXPECT_GE(check_in_place<double>(size, contiguous(Extents{n, n})), 2) << n;
  }
  EXPECT_GE(check_in_place<double>(64 * 64 * 2, contiguous(Extents{64, 64, 2}), true), 2);
  EXPECT_GE(check_in_place<float>(9 * 48 * 48, contiguous(Extents{9, 48, 48})), 2);
  EXPECT_GE(check_in_place<float>(100 * 5 * 5, contiguous(Extents{100, 5, 5})), 2);
  // With gaps; and items that are not neighbours.
  EXPECT_GE(check_in_place<float>(100 * 128, {Extents{96, 96}, Extents{128, 1}, 4}), 2);
  EXPECT_GE(check_in_place<float>(40 * 100, {Extents{40, 40}, Extents{100, 2}, 1}), 2);
}

// No rung writes beside its elements, nor reads what another thread writes there.
TEST_P(TransposeTest, LeavesWhatLiesBetweenAlone) {
  for (const std::int64_t n : {5, 33, 64, 130}) {
    // The left half of a matrix to its right half.
    const auto elements = static_cast<std::size_t>(2 * n * n);
    const Layout left{{n, n}, {2 * n, 1}, 0};
    const Layout right{{n, n}, {2 * n, 1}, n};
    EXPECT_GT(serves_within<std::uint8_t>(elements, left, right), 1) << n;
    EXPECT_GT(serves_within<std::uint16_t>(elements, left, right), 1) << n;
    EXPECT_GT(serves_within<float>(elements, left, right), 1) << n;
    EXPECT_GT(serves_within<double>(elements, left, right), 1) << n;
    // The red of a picture to its green.
    const auto pixels = static_cast<std::size_t>(3 * n * (n + 3));
    const Layout red{{n, n + 3}, {3 * (n + 3), 3}, 0};
    const Layout green{{n + 3, n}, {3 * n, 3}, 1};
    EXPECT_GT(serves_within<std::uint8_t>(pixels, red, green), 1) << n;
    EXPECT_GT(serves_within<float>(pixels, red, green), 1) << n;
  }
}

TEST_P(TransposeTest, MovesBitsAndNotNumbers) {
  // Signalling NaNs with payloads, denormals and minus zero: reading them as numbers would change some.
  const std::vector<std::uint32_t> in = {0x7F800001u, 0xFFA5A5A5u, 0x00000001u,
                                         0x80000000u, 0x7FFFFFFFu, 0x807FFFFFu};
  const std::vector<std::uint32_t> expected = {in[0], in[3], in[1], in[4], in[2], in[5]};
  std::vector<std::uint32_t> out(6);
  const Device device = GetParam();
  const StreamRef stream = context().stream();
  Result<DeviceMemory> from = DeviceMemory::allocate(device, 24);
  Result<DeviceMemory> to = DeviceMemory::allocate(device, 24);
  ASSERT_TRUE(from.ok() && to.ok());
  ASSERT_TRUE(copy(stream, from->data(), device, in.data(), kCpu, 24).ok());
  const Status status =
      transpose(context(), {.in = contiguous_view<void>(from->data(), DType::f32, device, {2, 3}),
                            .out = contiguous_view<void>(to->data(), DType::f32, device, {3, 2})});
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_TRUE(copy(stream, out.data(), kCpu, to->data(), device, 24).ok());
  ASSERT_TRUE(synchronize(stream).ok());
  EXPECT_EQ(out, expected);
}

TEST_P(TransposeTest, EmptyIsANoOp) {
  for (const auto& [in, out] :
       {std::pair{Extents{0, 7}, Extents{7, 0}}, std::pair{Extents{3, 0, 2}, Extents{3, 2, 0}},
        std::pair{Extents{0, 0}, Extents{0, 0}}}) {
    const Status status =
        transpose(context(), {.in = contiguous_view<const void>(nullptr, DType::f32, GetParam(), in),
                              .out = contiguous_view<void>(nullptr, DType::f32, GetParam(), out)});
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

TEST_P(TransposeTest, RefusesWhatItDoesNotServe) {
  const Device device = GetParam();
  Result<DeviceMemory> memory = DeviceMemory::allocate(device, 4096);
  ASSERT_TRUE(memory.ok());
  auto* x = static_cast<float*>(memory->data());
  const auto view = [&](std::int64_t first, const Extents& shape, DType dtype = DType::f32) {
    return contiguous_view<void>(static_cast<void*>(x + first), dtype, device, shape);
  };
  const auto rule = [&](const TensorView& in, const TensorView& out, bool packed = false) {
    return transpose(context(), {.in = in, .out = out, .packed = packed}).rule();
  };
  const std::string overlap = "out must be in itself, with its shape and strides, or not overlap it";
  const TensorView square = view(0, Extents{8, 8});

  EXPECT_EQ(rule(view(0, Extents{8, 4}), view(512, Extents{8, 4})), "out must have the shape [4,8]");
  EXPECT_EQ(rule(view(0, Extents{8}), view(512, Extents{8})), "in must have at least 2 dimensions");
  EXPECT_EQ(rule(square, view(512, Extents{8, 8}, DType::i32)), "out must have the dtype of in, f32");
  EXPECT_EQ(rule(square, view(8, Extents{8, 8})), overlap);
  EXPECT_EQ(rule(view(0, Extents{8, 4}), view(0, Extents{4, 8})), overlap);
  TensorView wider = square;
  wider.strides = Extents{9, 1};
  EXPECT_EQ(rule(square, wider), overlap);
  TensorView folded = view(512, Extents{8, 8});
  folded.strides = Extents{0, 1};
  EXPECT_EQ(rule(square, folded), "out's strides must give every element a place of its own");
  EXPECT_EQ(rule(view(0, Extents{2, 2, 3}), view(512, Extents{2, 2, 3}), true),
            "what moves as one must have 1, 2, 4, 8 or 16 bytes, not 12");
  EXPECT_EQ(rule(view(0, Extents{2, 2}), view(512, Extents{2, 2}), true),
            "in must have three dimensions at least: rows, columns and what moves as one");
  TensorView gaps = view(0, Extents{2, 2, 2});
  gaps.strides = Extents{8, 4, 2};
  EXPECT_EQ(rule(gaps, view(512, Extents{2, 2, 2}), true),
            "in's last dimension must have no gaps: it moves as one");
  TensorView elsewhere = view(512, Extents{8, 8});
  elsewhere.device = device == kCpu ? kSim : kCpu;
  EXPECT_EQ(rule(square, elsewhere), "out is on " + to_string(elsewhere.device) + " and the call runs on " +
                                         to_string(device) +
                                         ": use a Context or stream of its device, or copy it");
}

TEST_P(TransposeTest, CapturedReplayedAndOnTwoStreamsAtOnce) {
  const Device device = GetParam();
  if (device.kind != DeviceKind::cuda)
    GTEST_SKIP() << "streams of cpu and sim run at once and cannot be captured";
  const std::int64_t m = 640;
  const std::int64_t n = 1024;
  const auto count = static_cast<std::size_t>(m * n);
  std::vector<float> in(count);
  std::iota(in.begin(), in.end(), 0.0f);
  std::vector<float> expected(count);
  for (std::size_t i = 0; i < count; ++i) expected[i % 1024 * 640 + i / 1024] = in[i];
  Result<DeviceMemory> memory = DeviceMemory::allocate(device, 4 * count * sizeof(float));
  ASSERT_TRUE(memory.ok());
  auto* x = static_cast<float*>(memory->data());
  ASSERT_TRUE(copy(context().stream(), x, device, in.data(), kCpu, count * sizeof(float)).ok());
  ASSERT_TRUE(context().synchronize().ok());
  const auto args_for = [&](int slot) {
    return TransposeArgs{.in = view(x, {m, n}, device), .out = view(x + slot * m * n, {n, m}, device)};
  };
  const auto result_in = [&](int slot) {
    std::vector<float> out(count);
    EXPECT_TRUE(
        copy(context().stream(), out.data(), kCpu, x + slot * m * n, device, count * sizeof(float)).ok());
    EXPECT_TRUE(context().synchronize().ok());
    return out;
  };

  Result<Graph> graph =
      Graph::capture(context().stream(), [&] { return transpose(context().stream(), args_for(1), {}); });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Result<GraphExec> exec = GraphExec::instantiate(*graph);
  ASSERT_TRUE(exec.ok());
  for (int replay = 0; replay < 3; ++replay) {
    ASSERT_TRUE(fill_bytes(context().stream(), x + m * n, 0xFF, count * sizeof(float)).ok());
    ASSERT_TRUE(exec->launch(context().stream()).ok());
    EXPECT_EQ(result_in(1), expected);
  }

  Result<Context> other = Context::create(device);
  ASSERT_TRUE(other.ok());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(transpose(context(), args_for(2)).ok());
    ASSERT_TRUE(transpose(*other, args_for(3)).ok());
  }
  ASSERT_TRUE(other->synchronize().ok());
  EXPECT_EQ(result_in(2), expected);
  EXPECT_EQ(result_in(3), expected);
}

}  // namespace
}  // namespace rooftile
