// What a caller may ask for of a case, and what it is told where that makes no sense.
#include "rooftile/lab/case/case_request.h"

#include <gtest/gtest.h>

#include "tests/lab/fake_operator.h"

namespace rooftile::lab {
namespace {

class CaseRequests : public testing::Test {
 protected:
  CaseRequests() : op_(test::make_fake("fake", {})), cases_(test::make_fake_cases("fake")) {
    cases_.shapes = {"n", "m,n", "b,m,n", "b,p"};
  }

  Result<Case> make(std::vector<std::pair<std::string, std::string>> shape) const {
    CaseRequest request;
    request.shape = std::move(shape);
    return make_case(op_, cases_, request, DeviceKind::cpu);
  }
  // The rule that the shape breaks.
  std::string error(std::vector<std::pair<std::string, std::string>> shape) const {
    const Result<Case> made = make(std::move(shape));
    return made.ok() ? "none: " + to_string(made->shape) : made.status().rule();
  }

  OperatorDescriptor op_;
  OperatorCases cases_;
};

TEST_F(CaseRequests, TakeTheDefaultWhereNoShapeIsNamed) {
  EXPECT_EQ(to_string(make({})->shape), "n=65536");
  EXPECT_EQ(to_string(make_case(op_, cases_, {}, DeviceKind::cuda)->shape), "n=1048576");
}

TEST_F(CaseRequests, TakeAWholeShapeInTheOperatorsOrder) {
  EXPECT_EQ(to_string(make({{"n", "2^4"}})->shape), "n=16");
  EXPECT_EQ(to_string(make({{"n", "3"}, {"m", "5"}})->shape), "m=5,n=3");
  EXPECT_EQ(to_string(make({{"m", "1"}, {"n", "2"}, {"b", "3"}})->shape), "b=3,m=1,n=2");
}

TEST_F(CaseRequests, SayWhichKeysAreMissing) {
  const std::string legal = "this operator takes one of n | m,n | b,m,n | b,p";
  EXPECT_EQ(error({{"m", "3"}}), "the shape has m but no n: " + legal);
  EXPECT_EQ(error({{"b", "3"}, {"m", "3"}}), "the shape has b,m but no n: " + legal);
  EXPECT_EQ(error({{"b", "3"}}), "the shape has b but no p: " + legal);
}

TEST_F(CaseRequests, SayWhichKeysDoNotBelongTogether) {
  EXPECT_EQ(error({{"m", "3"}, {"p", "3"}}),
            "the shape keys m,p do not belong together: this operator takes one of n | m,n | b,m,n | b,p");
  EXPECT_EQ(error({{"n", "3"}, {"k", "3"}}),
            "unknown shape key 'k': this operator takes one of n | m,n | b,m,n | b,p");
  EXPECT_EQ(error({{"n", "3"}, {"n", "4"}}), "the shape key 'n' is given twice");
}

TEST_F(CaseRequests, SayWhatIsNoCount) {
  EXPECT_NE(error({{"n", "abc"}}).find("shape n=abc: "), std::string::npos);
}

}  // namespace
}  // namespace rooftile::lab
