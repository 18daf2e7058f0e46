#include "rooftile/core/status.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rooftile {
namespace {

TEST(Status, DefaultIsOkAndSilent) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::ok);
  EXPECT_EQ(status.message(), "ok");
  EXPECT_TRUE(status.with_operator("reduce").with_shapes("in f32[8]").ok());
}

TEST(Status, MessageCarriesOperatorRuleAndShapes) {
  const Status status = invalid_argument("out must hold one element")
                            .with_operator("reduce")
                            .with_shapes("in f32[8], out f32[2]");
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_EQ(status.operator_name(), "reduce");
  EXPECT_EQ(status.rule(), "out must hold one element");
  EXPECT_EQ(status.shapes(), "in f32[8], out f32[2]");
  EXPECT_EQ(status.sentence(), "reduce: out must hold one element (in f32[8], out f32[2])");
  EXPECT_EQ(status.message(), status.sentence() + " [invalid argument]");
}

TEST(Status, TheCallersLineReplacesOurs) {
  const auto line = static_cast<unsigned>(__LINE__) + 1;
  const Status status = internal_error("here").with_caller(SourceLocation::current());
  EXPECT_EQ(status.where().line, line);
  EXPECT_TRUE(Status().with_caller(SourceLocation::current()).ok());
}

TEST(Status, OutOfMemoryNeedsNone) {
  const Status status = Status::host_out_of_memory();
  EXPECT_EQ(status.code(), StatusCode::out_of_memory);
  EXPECT_EQ(status.rule(), "out of memory");
  Status copy = status;
  copy = Status::host_out_of_memory();
  EXPECT_EQ(copy.code(), StatusCode::out_of_memory);
}

TEST(Status, TheFirstOperatorAndShapesStay) {
  const Status status =
      unsupported("no").with_operator("inner").with_shapes("a").with_operator("outer").with_shapes("b");
  EXPECT_EQ(status.operator_name(), "inner");
  EXPECT_EQ(status.shapes(), "a");
}

TEST(Status, CopiesAreIndependentValues) {
  const Status plain = io_error("gone");
  const Status named = plain.with_operator("softmax");
  EXPECT_EQ(plain.operator_name(), "");
  EXPECT_EQ(named.operator_name(), "softmax");
  Status assigned = named;
  assigned = plain;
  EXPECT_EQ(assigned.sentence(), "gone");
  EXPECT_EQ(named.message(), "softmax: gone [i/o error]");
}

TEST(Status, KnowsWhereItWasDecided) {
  const auto line = static_cast<unsigned>(__LINE__) + 1;
  const Status status = internal_error("here");
  EXPECT_EQ(status.where().line, line);
  EXPECT_TRUE(std::string_view(status.where().file).ends_with("status_test.cpp"));
}

TEST(Status, AnErrorCannotBeOk) { EXPECT_FALSE(Status::error(StatusCode::ok, "contradiction").ok()); }

Status fails() { return unavailable("no GPU"); }
Result<int> half_of(int value) {
  if (value % 2 != 0) return invalid_argument("odd");
  return value / 2;
}
Result<int> quarter_of(int value) {
  ROOFTILE_TRY_ASSIGN(const int half, half_of(value));
  ROOFTILE_TRY_ASSIGN(const int quarter, half_of(half));
  return quarter;
}
Status stops_at_the_first() {
  ROOFTILE_TRY(Status());
  ROOFTILE_TRY(fails());
  return internal_error("not reached");
}

TEST(Result, OfATemporaryTheValueOutlivesIt) {
  const auto make = [] { return Result<std::vector<int>>(std::vector<int>{1, 2, 3}); };
  int sum = 0;
  for (const int x : make().value()) sum += x;
  for (const int x : *make()) sum += x;
  EXPECT_EQ(sum, 12);
}

TEST(Result, HoldsAValueOrTheReason) {
  EXPECT_EQ(quarter_of(12).value(), 3);
  EXPECT_EQ(quarter_of(6).status().rule(), "odd");
  EXPECT_EQ(stops_at_the_first().code(), StatusCode::unavailable);
  const Result<int> nothing = Status();
  EXPECT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.status().code(), StatusCode::internal);
}

TEST(Status, IsTrueWhereItIsOkAndPrints) {
  EXPECT_TRUE(Status());
  const Status status = invalid_argument("no").with_operator("scale");
  EXPECT_FALSE(status);
  std::ostringstream text;
  text << status;
  EXPECT_EQ(text.str(), "scale: no [invalid argument]");
}

TEST(Status, CopiesShareAndMovesEmpty) {
  Status first = invalid_argument("no");
  Status second = first;
  EXPECT_EQ(&first.rule(), &second.rule());
  const Status third = std::move(first);
  EXPECT_EQ(third.rule(), "no");
  second = third;
  second = Status();
  EXPECT_TRUE(second.ok());
  EXPECT_EQ(third.rule(), "no");
}

TEST(Result, ValueOr) {
  EXPECT_EQ(Result<int>(3).value_or(4), 3);
  EXPECT_EQ(Result<int>(invalid_argument("no")).value_or(4), 4);
  EXPECT_TRUE(Result<int>(0));
}

}  // namespace
}  // namespace rooftile
