// The Result document, key by key.
#include "hooks/result_document.hpp"

#include "hooks/secret_mask.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

Result<HookResult> parse(Json extra) {
  Json document = {{"apiVersion", "kubewatch.dev/v1"}, {"kind", "Result"}};
  document.update(extra);
  return parse_result_document(document);
}

}  // namespace

TEST_CASE("all supported keys of a Result are read") {
  const auto result = parse({{"message", " two\nlines "},
                             {"requeueAfter", "30s"},
                             {"status", {{"ready", true}, {"old", nullptr}}},
                             {"conditions", {{{"type", "Ready"}, {"status", "True"}}}},
                             {"children", "none"},
                             {"create", {{{"kind", "Secret"}}}},
                             {"delete", {{{"kind", "ConfigMap"}, {"name", "x"}}}}});
  REQUIRE(result.ok());
  CHECK(message_line(result->message) == "two lines");
  CHECK(result->requeue_after == Duration{30000});
  CHECK(*result->status == Json{{"ready", true}, {"old", nullptr}});
  CHECK(result->conditions.at(0)["reason"] == "Reported");
  CHECK(result->children_none);
  CHECK(result->create.size() == 1);
  CHECK(result->remove.size() == 1);
}

TEST_CASE("a message that is too long is cut between two characters, once it was masked") {
  const std::string fits(1023, 'x');
  CHECK(message_line(fits + "\u00e9 and more") == fits);
  const auto result = parse_result_document({{"apiVersion", "kubewatch.dev/v1"},
                                             {"kind", "Result"},
                                             {"message", std::string(1020, 'x') + "hunter22"}});
  REQUIRE(result.ok());
  SecretMask mask;
  mask.add_value("hunter22");
  CHECK(message_line(mask.mask(result->message)) == std::string(1020, 'x') + "***");
}

TEST_CASE("a wrong Result is refused with the key that is wrong") {
  struct Case {
    Json extra;
    const char* says;
  };
  const std::vector<Case> cases = {
      {{{"mesage", "x"}}, "did you mean message?"},
      {{{"message", 5}}, "message must be a string"},
      {{{"requeueAfter", "soon"}}, "requeueAfter"},
      {{{"requeueAfter", "0s"}}, "longer than 0s"},
      {{{"status", "ready"}}, "status must be an object"},
      {{{"status", {{"conditions", Json::array()}}}}, "the Result's `conditions`"},
      {{{"conditions", {{{"type", "Ready"}, {"status", true}}}}}, "quote it"},
      {{{"conditions", {{{"type", "Ready"}, {"status", "yes"}}}}}, "\"True\", \"False\""},
      {{{"conditions", {{{"type", "Ready"}, {"status", "yes"}}}}}, "null to remove"},
      {{{"conditions", {{{"type", "A"}, {"status", nullptr}, {"reason", "R"}}}}},
       "leave out reason"},
      {{{"conditions", {{{"status", nullptr}}}}}, "names no type"},
      {{{"conditions", {{{"type", 5}, {"status", nullptr}}}}}, "names no type"},
      {{{"conditions",
         {{{"type", "A"}, {"status", nullptr}}, {{"type", "A"}, {"status", "False"}}}}},
       "there twice"},
      {{{"conditions", nullptr}}, "{type: TYPE, status: null}"},
      {{{"status", nullptr}}, "{FIELD: null}"},
      {{{"conditions", {{{"status", "True"}}}}}, "names no type"},
      {{{"conditions",
         {{{"type", "A"}, {"status", "True"}}, {{"type", "A"}, {"status", "False"}}}}},
       "there twice"},
      {{{"conditions", {{{"type", "A"}, {"status", "True"}, {"observedGeneration", 1}}}}},
       "unknown key"},
      {{{"children", Json::array()}}, "children may only be"},
      {{{"create", "x"}}, "create must be a list"},
      {{{"delete", {{{"kin", "x"}}}}}, "unknown key \"kin\""},
      {{{"events", "x"}}, "events must be a list"},
      {{{"patches", {"x"}}}, "patches[0] must be an object"},
      {{{"metrics", {{{"name", "a-b"}}}}}, "metrics[0].name"},
      {{{"apiVersion", "kubewatch.dev/v2"}}, "must be kubewatch.dev/v1"},
  };
  for (const Case& c : cases) {
    INFO(c.extra.dump());
    const auto result = parse(c.extra);
    REQUIRE_FALSE(result.ok());
    INFO(result.error().render());
    CHECK(result.error().render().find(c.says) != std::string::npos);
  }
}

TEST_CASE("a key that is null counts as not given, where null could not mean to remove") {
  const auto result = parse({{"message", nullptr}, {"requeueAfter", nullptr}});
  REQUIRE(result.ok());
  CHECK_FALSE(result->requeue_after.has_value());
}

TEST_CASE("a condition whose status is null is one to remove") {
  const auto result = parse({{"conditions", {{{"type", "Old"}, {"status", nullptr}}}}});
  REQUIRE(result.ok());
  REQUIRE(result->conditions.size() == 1);
  CHECK(is_removal(result->conditions[0]));
  CHECK(result->conditions[0]["type"] == "Old");
}
