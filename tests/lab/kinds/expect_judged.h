// Every rung of every kind on one device: the right ones pass all cases, each of the others fails one at least, and says
// what is wrong.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "rooftile/lab/check/verify.h"
#include "tests/lab/kinds/kinds.h"

namespace rooftile::lab::test {

inline void expect_judged(const Kind& kind, Device device) {
  Registry registry;
  registry.add(*kind.op);
  registry.add(kind.cases);
  VerifyOptions options;
  options.devices = {device};
  std::map<std::string, std::string> failures;  // rung -> all that was found
  std::map<std::string, int> checks;
  options.on_check = [&](const CheckResult& check, int) {
    const std::size_t slash = check.id.find('/');
    const std::string rung = check.id.substr(slash + 1, check.id.find('[') - slash - 1);
    ++checks[rung];
    EXPECT_NE(check.status, CheckStatus::skipped) << check.id << ": " << check.reason;
    if (check.status == CheckStatus::failed) failures[rung] += check.reason + "\n";
  };
  const Result<VerifyReport> report = verify(registry, options);
  ASSERT_TRUE(report.ok()) << report.status();
  const std::string suffix = device.kind == DeviceKind::cpu ? "_cpu" : "_gpu";
  EXPECT_GT(checks["right" + suffix], 0);
  EXPECT_EQ(failures["right" + suffix], "");
  for (const auto& [rung, finding] : kind.findings) {
    EXPECT_NE(failures[rung + suffix].find(finding), std::string::npos)
        << rung << suffix << " was found to be: " << failures[rung + suffix];
  }
}

}  // namespace rooftile::lab::test
