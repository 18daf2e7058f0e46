// Which elements of a matrix a lane holds, against the figures of the PTX ISA.
#include "tests/sim/wmma_test.h"

namespace rooftile::sim_testing {
namespace {

struct RowColumn {
  int row, column;
};

// Of lane l the figures of the PTX ISA write groupID = l / 4 and threadID_in_group = l % 4. A fragment of 16
// columns of B is two of mma, and one of 8 rows of A is the transposed B of an mma.
struct ElementCase {
  const char* name;
  WmmaShape shape;
  WmmaUse use;
  WmmaType type;
  int count;
  RowColumn (*place)(int group, int thread, int i);
};
const ElementCase kElements[] = {
    {"a_half", kSixteen, WmmaUse::a, WmmaType::float16, 16,
     [](int group, int thread, int i) {
       i %= 8;
       return RowColumn{group + (i / 2 % 2 == 0 ? 0 : 8), thread * 2 + i % 2 + (i >= 4 ? 8 : 0)};
     }},
    {"b_half", kSixteen, WmmaUse::b, WmmaType::float16, 16,
     [](int group, int thread, int i) {
       i %= 8;
       return RowColumn{thread * 2 + i % 2 + (i % 4 >= 2 ? 8 : 0), group + (i >= 4 ? 8 : 0)};
     }},
    {"a_half_tall", kTall, WmmaUse::a, WmmaType::float16, 16,
     [](int group, int thread, int i) {
       return RowColumn{group + (i / 2 % 2 == 0 ? 0 : 8) + (i >= 8 ? 16 : 0),
                        thread * 2 + i % 2 + (i % 8 >= 4 ? 8 : 0)};
     }},
    {"b_half_tall", kTall, WmmaUse::b, WmmaType::float16, 16,
     [](int group, int thread, int i) {
       return RowColumn{thread * 2 + i % 2 + (i % 4 >= 2 ? 8 : 0), group};
     }},
    {"a_half_wide", kWide, WmmaUse::a, WmmaType::float16, 16,
     [](int group, int thread, int i) {
       return RowColumn{group, thread * 2 + i % 2 + (i % 4 >= 2 ? 8 : 0)};
     }},
    {"a_bfloat16", kSixteen, WmmaUse::a, WmmaType::bfloat16, 8,
     [](int group, int thread, int i) {
       return RowColumn{group + (i / 2 % 2 == 0 ? 0 : 8), thread * 2 + i % 2 + (i >= 4 ? 8 : 0)};
     }},
    {"b_bfloat16_tall", kTall, WmmaUse::b, WmmaType::bfloat16, 4,
     [](int group, int thread, int i) {
       return RowColumn{thread * 2 + i % 2 + (i >= 2 ? 8 : 0), group};
     }},
    {"a_int8", kSixteen, WmmaUse::a, WmmaType::uint8, 8,
     [](int group, int thread, int i) {
       return RowColumn{group + (i < 4 ? 0 : 8), thread * 4 + i % 4};
     }},
    {"b_int8", kSixteen, WmmaUse::b, WmmaType::uint8, 8,
     [](int group, int thread, int i) {
       return RowColumn{thread * 4 + i % 4, group + (i < 4 ? 0 : 8)};
     }},
    {"a_tf32", kTf32, WmmaUse::a, WmmaType::tf32, 4,
     [](int group, int thread, int i) {
       return RowColumn{group + (i % 2 == 0 ? 0 : 8), thread + (i >= 2 ? 4 : 0)};
     }},
    {"b_tf32", kTf32, WmmaUse::b, WmmaType::tf32, 4,
     [](int group, int thread, int i) {
       return RowColumn{thread + (i % 2 == 0 ? 0 : 4), group + (i >= 2 ? 8 : 0)};
     }},
    {"sum", kSixteen, WmmaUse::accumulator, WmmaType::float16, 8,
     [](int group, int thread, int i) {
       return RowColumn{group + (i / 2 % 2 == 0 ? 0 : 8), thread * 2 + i % 2 + (i >= 4 ? 8 : 0)};
     }},
    {"sum_tall", kTall, WmmaUse::accumulator, WmmaType::float16, 8,
     [](int group, int thread, int i) {
       return RowColumn{group + 8 * (i / 2), thread * 2 + i % 2};
     }},
    {"sum_wide", kWide, WmmaUse::accumulator, WmmaType::float16, 8,
     [](int group, int thread, int i) {
       return RowColumn{thread * 2 + i % 2, group + 8 * (i / 2)};
     }},
};

class LaneElements : public ::testing::TestWithParam<ElementCase> {
 protected:
  // The place of an element as its value; in int8 256 of them.
  static void expect_places(DType type, bool row_major, bool through_shared, auto&& run) {
    const ElementCase& of = GetParam();
    const int rows = of.use == WmmaUse::b ? of.shape.k : of.shape.m;
    const int columns = of.use == WmmaUse::a ? of.shape.k : of.shape.n;
    const Placed place = placed(type, rows, columns, row_major, true);
    Matrix matrix;
    place.fill(matrix, [&](int row, int column) { return row * columns + column; });
    std::vector<unsigned char> elements(std::size_t{32} * 16 * 4);
    int count = 0;
    ASSERT_TRUE(is_ok(run(place.stride, matrix.data(), elements.data(), &count)));
    ASSERT_EQ(count, of.count);
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < count; ++i) {
        const int index = lane * count + i;
        const RowColumn expected = of.place(lane / 4, lane % 4, i);
        EXPECT_EQ(load_as_double(&elements[static_cast<std::size_t>(index) * size_of(type)], type),
                  expected.row * columns + expected.column)
            << "lane " << lane << " element " << i << (row_major ? " row-major" : " column-major")
            << (through_shared ? " from shared memory" : "");
      }
    }
  }
};

TEST_P(LaneElements, AreThoseOfTheHardware) {
  const ElementCase& of = GetParam();
  for (const Schedule& schedule : kSchedules) {
    use(schedule);
    for (const bool row_major : {false, true}) {
      for (const bool shared : {false, true}) {
        if (of.use != WmmaUse::accumulator) {
          expect_places(dtype_of(of.type), row_major, shared, [&](unsigned stride, auto*... pointers) {
            return run_wmma_elements(kStream, of.shape, of.use, of.type, row_major, shared, stride,
                                     pointers...);
          });
          continue;
        }
        for (const WmmaSum sum : {WmmaSum::float16, WmmaSum::float32, WmmaSum::int32}) {
          expect_places(dtype_of(sum), row_major, shared, [&](unsigned stride, auto*... pointers) {
            return run_wmma_sums(kStream, of.shape, sum, row_major, shared, stride, pointers...);
          });
        }
      }
    }
  }
}

void PrintTo(const ElementCase& of, std::ostream* out) { *out << of.name; }
INSTANTIATE_TEST_SUITE_P(Wmma, LaneElements, ::testing::ValuesIn(kElements),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace rooftile::sim_testing
