// Requests for many objects that come in one piece: when each is carried out.
#include "hooks/trigger_backlog.hpp"

#include <string>

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

TriggerRequest request(const std::string& line) {
  auto read = read_trigger_request(line);
  REQUIRE(read.ok());
  return *std::move(read);
}

TriggerRequest selecting(int value) {
  return request(R"({"selector":"part=)" + std::to_string(value) + "\"}");
}

}  // namespace

TEST_CASE(
    "of many requests for many objects ten are carried out at once, then one each half second") {
  TriggerBacklog backlog;
  TimePoint now{Duration{1000000}};
  int at_once = 0;
  for (int i = 0; i < 50; ++i) at_once += backlog.take(now, selecting(i)) ? 1 : 0;
  CHECK(at_once == 10);
  CHECK_FALSE(backlog.next(now));
  for (int i = 10; i < 50; ++i) {
    REQUIRE(backlog.wait(now) == Duration{500});
    now += Duration{499};
    CHECK_FALSE(backlog.next(now));
    now += Duration{1};
    const auto next = backlog.next(now);
    REQUIRE(next);
    CHECK(next->selector->str() == "part=" + std::to_string(i));
  }
  CHECK_FALSE(backlog.wait(now));
}

TEST_CASE("a request that waits stands for those that ask for the same") {
  TriggerBacklog backlog;
  const TimePoint now{Duration{1000000}};
  for (int i = 0; i < 10; ++i) REQUIRE(backlog.take(now, request(R"({"all":true})")));
  for (int i = 0; i < 10; ++i) {
    CHECK_FALSE(backlog.take(now, request(R"({"all":true})")));
    CHECK_FALSE(backlog.take(now, selecting(1)));
  }
  const TimePoint later = now + Duration{60000};
  CHECK(backlog.next(later)->all);
  CHECK(backlog.next(later)->selector);
  CHECK_FALSE(backlog.next(later));
}

TEST_CASE("a request that names an object waits for none that looks at many") {
  TriggerBacklog backlog;
  const TimePoint now{Duration{1000000}};
  for (int i = 0; i < 20; ++i) backlog.take(now, selecting(i));
  CHECK(backlog.take(now, request(R"({"namespace":"shop","name":"a"})")));
}
