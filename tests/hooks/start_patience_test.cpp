// How long a start waits for a server: until its limit, and not at all for one that lets nobody in.
#include "hooks/start_patience.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using hooks::StartPatience;

namespace {

const Error kNobody(ErrorKind::unreachable, "refused");

TimePoint at(int seconds) {
  return TimePoint{} + Duration{seconds * 1000LL};
}

}  // namespace

TEST_CASE("a start without a limit waits for its server for ever") {
  StartPatience patience{std::nullopt};
  CHECK_FALSE(patience.is_over(kNobody, at(0)));
  CHECK_FALSE(patience.is_over(Error(ErrorKind::unauthorized, "401"), at(100000)));
}

TEST_CASE("a start with a limit waits so long from the first failure on") {
  StartPatience patience{Duration{10000}};
  CHECK_FALSE(patience.is_over(kNobody, at(50)));
  CHECK_FALSE(patience.is_over(kNobody, at(59)));
  CHECK(patience.is_over(kNobody, at(60)));
  CHECK(StartPatience{Duration{0}}.is_over(kNobody, at(50)));
}

TEST_CASE("who is not let in does not wait where there is a limit") {
  for (const ErrorKind kind : {ErrorKind::unauthorized, ErrorKind::forbidden}) {
    StartPatience patience{Duration{10000}};
    CHECK(patience.is_over(Error(kind, "no"), at(0)));
  }
}
