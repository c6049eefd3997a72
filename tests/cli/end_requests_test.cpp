#include "cli/end_requests.hpp"

#include <signal.h>

#include <vector>

#include "support/catch.hpp"

using namespace kubewatch::cli;
using Meaning = EndRequests::Meaning;

namespace {

std::vector<Meaning> meanings(const std::vector<int>& signals) {
  EndRequests requests;
  std::vector<Meaning> out;
  for (const int number : signals) out.push_back(requests.told(number));
  return out;
}

}  // namespace

TEST_CASE("a second SIGINT or SIGTERM ends at once, a hangup never does") {
  const auto first = Meaning::first;
  const auto no_more = Meaning::no_more;
  const auto at_once = Meaning::at_once;
  CHECK(meanings({SIGTERM, SIGTERM}) == std::vector{first, at_once});
  CHECK(meanings({SIGINT, SIGTERM}) == std::vector{first, at_once});
  CHECK(meanings({SIGHUP, SIGHUP, SIGHUP}) == std::vector{first, no_more, no_more});
  CHECK(meanings({SIGTERM, SIGHUP, SIGINT}) == std::vector{first, no_more, at_once});
  // The loop tells of signals that come together by their numbers.
  CHECK(meanings({SIGHUP, SIGTERM, SIGTERM}) == std::vector{first, no_more, at_once});
}

TEST_CASE("signals that were not told of yet ask for as many ends as they will make") {
  UntoldSignals signals;
  CHECK(signals.count() == 0);
  for (const int number : {SIGHUP, SIGHUP}) signals.came(number);
  CHECK(signals.count() == 1);
  signals.came(SIGTERM);
  CHECK(signals.count() == 1);
  signals.came(SIGINT);
  CHECK(signals.count() == 2);
  signals.told(false);
  CHECK(signals.count() == 0);
  signals.came(SIGTERM);
  CHECK(signals.count() == 1);
  // After a hangup the first of the others is no second signal.
  signals.told(true);
  signals.came(SIGTERM);
  CHECK(signals.count() == 0);
  signals.came(SIGTERM);
  CHECK(signals.count() == 1);
}
