// How many requests over HTTP are let in, by a clock that the test turns.
#include "hooks/trigger_answers.hpp"

#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

struct Door {
  test::RuleFolder folder;
  TriggerAnswers answers{{{"/kick", folder.write("token", "s3cret\n"), "a"}},
                         [](const std::string&, const TriggerRequest&) { return 1; }};
  TimePoint now{Duration{5000}};

  int status(const std::string& body, const std::string& token, const std::string& path = "/kick") {
    http::ServerRequest request;
    request.method = "POST";
    request.path = path;
    request.body = body;
    request.headers.add("Authorization", "Bearer " + token);
    return answers.answer(request, now).status;
  }
  // How many of these are answered with another status before one is "too many".
  int until_too_many(const std::string& body, const std::string& token) {
    for (int i = 0; i < 5000; ++i) {
      if (status(body, token) == 429) return i;
    }
    return -1;
  }
};

constexpr const char* kOne = R"({"name":"x"})";
constexpr const char* kAll = R"({"all":true})";

}  // namespace

TEST_CASE("requests without a right do not use up the share of those with one") {
  Door door;
  CHECK(door.until_too_many(kOne, "wrong") == 1000);
  CHECK(door.status(kOne, "s3cret") == 202);
}

TEST_CASE("who floods one path keeps nobody from another") {
  Door door;
  door.answers.set_routes({{"/kick", door.folder.file("token"), "a"}, {"/other", "", "b"}});
  CHECK(door.until_too_many(kOne, "s3cret") == 1000);
  CHECK(door.status(kOne, "", "/other") == 202);
  CHECK(door.status(kAll, "", "/other") == 202);
}

TEST_CASE("requests over HTTP are let in again as time goes by") {
  Door door;
  CHECK(door.until_too_many(kOne, "s3cret") == 1000);
  CHECK(door.until_too_many(kOne, "wrong") == 1000);
  door.now += Duration{1000};
  CHECK(door.until_too_many(kOne, "s3cret") == 200);
  CHECK(door.until_too_many(kOne, "wrong") == 200);
}

TEST_CASE("requests over HTTP that look at all objects have a share of their own") {
  Door door;
  CHECK(door.until_too_many(kAll, "s3cret") == 20);
  CHECK(door.status(kOne, "s3cret") == 202);
  door.now += Duration{1000};
  CHECK(door.until_too_many(kAll, "s3cret") == 2);
}
