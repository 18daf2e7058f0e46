#include "rooftile/core/case.h"

#include <gtest/gtest.h>

namespace rooftile {
namespace {

TEST(Case, ShapesPrintAndAnswer) {
  const Shape shape = {{"m", 8192}, {"n", 4096}};
  EXPECT_EQ(to_string(shape), "m=8192,n=4096");
  EXPECT_EQ(shape_at(shape, "n"), 4096);
  // In every build type: a mistyped key must not be an extent of 0.
  EXPECT_DEATH((void)shape_at(shape, "k"), "the shape m=8192,n=4096 has no key k");
}

TEST(Case, TheIdNamesEverythingThatTellsCasesApart) {
  const std::vector<ParamSpec> specs = {
      {.name = "op", .default_value = std::string("sum"), .choices = {"sum", "max"}},
      {.name = "axis", .default_value = std::int64_t{0}}};
  Case c;
  c.shape = {{"n", 1025}};
  c.params = with(specs, "op", "max");
  c.fill = Fill::nan_at_last;
  c.offset = 1;
  EXPECT_EQ(case_id(c), "n=1025,f32,op=max,axis=0,fill=nan_at_last,offset=1");
  c.seed = 7;
  EXPECT_EQ(case_id(c), "n=1025,f32,op=max,axis=0,fill=nan_at_last,offset=1,seed=7");
  c.in_place = true;
  EXPECT_EQ(case_id(c), "n=1025,f32,op=max,axis=0,fill=nan_at_last,offset=1,seed=7,in_place");
  EXPECT_EQ(case_id(Case()), "f32,fill=uniform,offset=0");
}

TEST(Case, NumbersThatOnlyCasesHave) {
  const std::vector<ParamSpec> specs = {
      {.name = "pad", .default_value = NoValue{"none"}, .none = "none", .type = ParamType::real}};
  Case c;
  c.params = Params(specs);
  EXPECT_EQ(case_number(c, "pad"), 0);
  EXPECT_EQ(case_count(c, "pad", 1), 1);
  c.params = with(specs, "pad", "2.5");
  EXPECT_EQ(case_number(c, "pad"), 2.5);
  EXPECT_EQ(case_count(c, "pad", 1), 2);
}

TEST(Case, FillsParseAsTheyPrint) {
  EXPECT_EQ(all_fills().size(), 15u);
  for (const Fill fill : all_fills()) {
    const Result<Fill> parsed = parse_fill(to_string(fill));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, fill);
  }
  EXPECT_EQ(
      parse_fill("unifrom").status().rule(),
      "unknown fill \"unifrom\": did you mean uniform? use one of uniform, small_integers, "
      "nan_at_last, special, nan_inside, rising, falling, inf_inside, one_maximum, tile_maximum, normal, "
      "log_uniform, any_bits, equal, tile_minimum");
}

}  // namespace
}  // namespace rooftile
