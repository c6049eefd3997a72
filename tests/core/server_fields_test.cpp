// Metadata that is taken out, and metadata that is none.
#include "core/server_fields.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;

TEST_CASE("named members of the metadata go, and nothing else") {
  Json object = {{"uid", "kept"}, {"metadata", {{"name", "a"}, {"uid", "u"}, {"generation", 1}}}};
  core::drop_metadata(object, {"uid", "generation", "managedFields"});
  CHECK(object == Json{{"uid", "kept"}, {"metadata", {{"name", "a"}}}});
}

TEST_CASE("what has no map of metadata stays as it is") {
  for (const char* text : {R"({"metadata":null})", R"({"metadata":"x"})", R"({"metadata":["uid"]})",
                           R"({"kind":"X"})", R"(["uid"])", "null", "7"}) {
    INFO(text);
    const Json before = *base::parse_json(text);
    Json object = before;
    core::drop_metadata(object, {"uid"});
    CHECK(object == before);
  }
}
