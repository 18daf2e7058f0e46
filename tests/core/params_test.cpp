#include "rooftile/core/params.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rooftile {
namespace {

const std::vector<ParamSpec>& specs() {
  static const std::vector<ParamSpec> list = {
      {.name = "op", .default_value = std::string("sum"), .choices = {"sum", "max"}},
      {.name = "axis", .default_value = std::int64_t{-1}, .minimum = -4, .maximum = 4096},
      {.name = "epsilon", .default_value = 1e-5, .minimum = 0, .maximum = 1},
      {.name = "causal", .default_value = false},
      {.name = "label", .default_value = std::string("none")},
      {.name = "free", .default_value = std::int64_t{0}},
  };
  return list;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Params, StartWithTheDefaults) {
  const Params params(specs());
  EXPECT_EQ(params.get_string("op"), "sum");
  EXPECT_EQ(params.get_int("axis"), -1);
  EXPECT_EQ(params.get_double("epsilon"), 1e-5);
  EXPECT_FALSE(params.get_bool("causal"));
  ASSERT_EQ(params.values().size(), specs().size());
  EXPECT_EQ(params.values()[1].first, "axis");
}

TEST(Params, ParseByType) {
  Params params(specs());
  EXPECT_TRUE(params.set(specs(), "op", "max").ok());
  EXPECT_TRUE(params.set(specs(), "axis", "2^10").ok());
  EXPECT_TRUE(params.set(specs(), "epsilon", "1e-3").ok());
  EXPECT_TRUE(params.set(specs(), "causal", "1").ok());
  EXPECT_EQ(params.get_string("op"), "max");
  EXPECT_EQ(params.get_int("axis"), 1024);
  EXPECT_EQ(params.get_double("epsilon"), 1e-3);
  EXPECT_TRUE(params.get_bool("causal"));
  EXPECT_TRUE(params.set(specs(), "axis", "-4").ok());
  EXPECT_TRUE(params.set(specs(), "axis", "4Ki").ok());
  EXPECT_TRUE(params.set(specs(), "causal", "false").ok());
  EXPECT_TRUE(params.set(specs(), "label", "anything at all").ok());
  EXPECT_EQ(params.get_int("axis"), 4096);
  EXPECT_FALSE(params.get_bool("causal"));
}

TEST(Params, AnErrorSaysWhatIsLegalAndChangesNothing) {
  Params params(specs());
  const auto rule = [&](const char* name, const char* text) {
    const Status status = params.set(specs(), name, text);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << name << "=" << text;
    return status.rule();
  };
  EXPECT_EQ(rule("op", "mx"), "parameter op: \"mx\" is unknown: did you mean max? (one of sum, max)");
  EXPECT_EQ(rule("op", "product"), "parameter op: \"product\" is unknown: use one of sum, max");
  EXPECT_TRUE(contains(rule("axis", "-5"), "out of range: use -4 to 4096"));
  EXPECT_TRUE(contains(rule("axis", "4097"), "out of range"));
  EXPECT_TRUE(contains(rule("axis", "one"), "not a count"));
  EXPECT_TRUE(contains(rule("axis", "--1"), "negative"));
  EXPECT_TRUE(contains(rule("axis", ""), "not a count"));
  EXPECT_TRUE(contains(rule("epsilon", "1.5"), "out of range: use 0 to 1"));
  EXPECT_TRUE(contains(rule("epsilon", "nan"), "out of range"));
  EXPECT_TRUE(contains(rule("epsilon", "1e-3x"), "not a number"));
  EXPECT_TRUE(contains(rule("epsilon", "1e999"), "does not fit"));
  EXPECT_TRUE(contains(rule("causal", "yes"), "true, false, 1 or 0"));
  EXPECT_TRUE(contains(rule("casual", "1"), "did you mean causal?"));
  EXPECT_TRUE(contains(rule("zzzzzzzz", "1"), "use one of op, axis"));
  EXPECT_EQ(to_string(params.values()[0].second), "sum");
  EXPECT_EQ(params.get_int("axis"), -1);
  EXPECT_TRUE(contains(params.set({}, "x", "1").rule(), "there are none"));
}

TEST(Params, WithReplacesOneValue) {
  const Params params = with(specs(), "op", "max");
  EXPECT_EQ(params.get_string("op"), "max");
  EXPECT_EQ(params.get_int("axis"), -1);
}

TEST(Params, ValuesPrintAsTheyParse) {
  EXPECT_EQ(to_string(ParamValue(true)), "true");
  EXPECT_EQ(to_string(ParamValue(std::int64_t{-7})), "-7");
  EXPECT_EQ(to_string(ParamValue(1e-5)), "1e-05");
  EXPECT_EQ(to_string(ParamValue(0.1)), "0.1");
  EXPECT_EQ(to_string(ParamValue(std::string("max"))), "max");
}

TEST(Params, AListOfChoicesIsCheckedEntryByEntry) {
  const std::vector<ParamSpec> lists = {
      {.name = "op", .default_value = std::string("add"), .choices = {"add", "mul"}, .most_choices = 3}};
  Params params(lists);
  EXPECT_TRUE(params.set(lists, "op", "mul,add,mul").ok());
  EXPECT_EQ(params.get_string("op"), "mul,add,mul");
  EXPECT_TRUE(contains(params.set(lists, "op", "add,nul").rule(), "did you mean mul?"));
  EXPECT_TRUE(contains(params.set(lists, "op", "add,").rule(), "\"\" is unknown"));
  EXPECT_TRUE(
      contains(params.set(lists, "op", "add,add,add,add").rule(), "a list of 4 is too long: at most 3"));
  EXPECT_EQ(params.get_string("op"), "mul,add,mul");
  EXPECT_EQ(legal_values(lists[0]), "add | mul; up to 3 of them, divided by commas");
}

TEST(ParseCount, AcceptsTheDocumentedForms) {
  EXPECT_EQ(*parse_count("0"), 0);
  EXPECT_EQ(*parse_count("1048576"), 1 << 20);
  EXPECT_EQ(*parse_count("2^20"), 1 << 20);
  EXPECT_EQ(*parse_count("2^0"), 1);
  EXPECT_EQ(*parse_count("2^62"), std::int64_t{1} << 62);
  EXPECT_EQ(*parse_count("4611686018427387904"), std::int64_t{1} << 62);
  EXPECT_EQ(*parse_count("4Ki"), 4096);
  EXPECT_EQ(*parse_count("1Mi"), 1 << 20);
  EXPECT_EQ(*parse_count("3Gi"), std::int64_t{3} << 30);
  EXPECT_EQ(*parse_count("4294967296Gi"), std::int64_t{1} << 62);
}

TEST(ParseCount, RefusesEverythingElse) {
  for (const char* text : {"",     " ",     "1 ", " 1", "+1",  "1.0",  "1e6", "0x10",  "2^", "^2", "3^2",
                           "2^-1", "2^2Ki", "Ki", "4K", "4ki", "4Kib", "4Ti", "1,000", "i",  "Mi4"}) {
    EXPECT_EQ(parse_count(text).status().code(), StatusCode::invalid_argument) << text;
  }
  for (const char* text : {"-1", "-2^20"})
    EXPECT_TRUE(contains(parse_count(text).status().rule(), "negative")) << text;
  for (const char* text : {"2^63", "2^999999999999999999999", "4611686018427387905", "9223372036854775808",
                           "99999999999999999999999999", "4294967297Gi", "9223372036854775807Gi"}) {
    EXPECT_TRUE(contains(parse_count(text).status().rule(), "too large")) << text;
  }
}

TEST(NearestName, FindsTyposAndAbbreviations) {
  const std::vector<std::string> names = {"reduce", "softmax", "layernorm", "gemm", "scan", "attention"};
  EXPECT_EQ(nearest_name("reduec", names), "reduce");
  EXPECT_EQ(nearest_name("Reduce", names), "reduce");
  EXPECT_EQ(nearest_name("sofmax", names), "softmax");
  EXPECT_EQ(nearest_name("layer_norm", names), "layernorm");
  EXPECT_EQ(nearest_name("gem", names), "gemm");
  EXPECT_EQ(nearest_name("atten", names), "attention");
  EXPECT_EQ(nearest_name("gelu", {"relu", "gelu_tanh", "gelu_tanh_approx"}), "gelu_tanh");
  EXPECT_EQ(nearest_name("convolution", names), "");
  EXPECT_EQ(nearest_name("x", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("scan", {}), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'r'), names), "");
}

TEST(NearestName, TakesTheLeastDistance) {
  EXPECT_EQ(nearest_name("block_rov", {"block_raw", "block_row", "block_rows"}), "block_row");
  // What goes on where the word ends is meant before what differs from it, and the shortest of that.
  EXPECT_EQ(nearest_name("block_row", {"block_rows_2", "block_raw", "block_rowx"}), "block_rowx");
  EXPECT_EQ(nearest_name("warp_shufle", {"warp_shuffles", "warp_shuffle"}), "warp_shuffle");
}

}  // namespace
}  // namespace rooftile
