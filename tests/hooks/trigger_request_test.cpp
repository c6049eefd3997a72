// Lines of triggers: what they name, and what is refused.
#include "hooks/trigger_request.hpp"

#include <string>

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

TEST_CASE("a trigger names one object, a selection or all") {
  const auto one = read_trigger_request(R"({"name":"a","namespace":"shop","reason":"new commit"})");
  REQUIRE(one.ok());
  REQUIRE(one->key);
  CHECK(one->key->str() == "shop/a");
  CHECK(one->reason == "new commit");
  CHECK_FALSE(one->all);

  const auto some = read_trigger_request(R"x({"selector":"tier in (web)"})x");
  REQUIRE(some.ok());
  REQUIRE(some->selector);
  CHECK(some->selector->matches({{"tier", "web"}}));
  CHECK_FALSE(some->selector->matches({{"tier", "db"}}));
  CHECK_FALSE(some->key);

  const auto all = read_trigger_request(R"( {"all":true} )");
  REQUIRE(all.ok());
  CHECK(all->all);
}

TEST_CASE("a trigger that names nothing, or two things, is refused") {
  for (const char* text : {"",
                           "1",
                           "[]",
                           "{}",
                           R"({"all":false})",
                           R"({"all":"true"})",
                           R"({"name":""})",
                           R"({"name":3})",
                           R"({"namespace":"shop"})",
                           R"({"selector":""})",
                           R"({"selector":"a in"})",
                           R"({"name":"a","all":true})",
                           R"({"nmae":"a"})",
                           R"({"all":true,"x":1})",
                           R"({"name":"../secrets"})",
                           R"({"name":"a","namespace":"a/b"})",
                           R"({"name":"a\u001b[2J"})",
                           R"({"all":true,"reason":{}})",
                           R"({"name":"a"} {"name":"b"})",
                           R"({"all":[[[[[[1]]]]]]})"}) {
    INFO(text);
    CHECK_FALSE(read_trigger_request(text).ok());
  }
}

TEST_CASE("a trigger that is too long is refused, a long reason is cut between characters") {
  const std::string long_text(kMaxTriggerBytes, 'x');
  CHECK(read_trigger_request(R"({"all":true,"reason":")" + long_text + "\"}").error().kind() ==
        ErrorKind::too_large);
  std::string reason = "x";
  while (reason.size() < 1000) reason += "é";
  const std::string tidy = tidy_trigger_reason(reason);
  CHECK(tidy.size() == kMaxTriggerReason - 1);
  CHECK(tidy == reason.substr(0, tidy.size()));
}

TEST_CASE("the reason of a trigger carries no control characters") {
  const auto request = read_trigger_request(R"({"all":true,"reason":"a\nb\u001b[2J"})");
  REQUIRE(request.ok());
  CHECK(request->reason == "a b [2J");
}
