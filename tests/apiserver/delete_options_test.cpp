#include "apiserver/delete_options.hpp"

#include <utility>
#include <vector>

#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

using test::config_map;
using test::kConfigMaps;
using test::Server;

DeleteOptions options(const char* json) {
  return delete_options_of(base::parse_json(json).value()).value();
}

std::string refusal(const char* json) {
  const auto read = delete_options_of(base::parse_json(json).value());
  return read.ok() ? "" : read.error().message();
}

}  // namespace

TEST_CASE("options of a delete are read from a body of any version") {
  CHECK(options("null").propagation.empty());
  CHECK(
      options(R"({"kind": "DeleteOptions", "apiVersion": "apps/v1", "x": 1})").propagation.empty());
  CHECK(options(R"({"orphanDependents": true})").propagation == "Orphan");
  CHECK(options(R"({"orphanDependents": false})").propagation == "Background");
  CHECK(options(R"({"dryRun": ["All"]})").dry_run);
  CHECK(options(R"({"gracePeriodSeconds": -5})").uid == std::nullopt);
  const DeleteOptions empty = options(R"({"preconditions": {"uid": "", "resourceVersion": ""}})");
  CHECK(empty.uid == "");
  CHECK(empty.resource_version == "");
}

TEST_CASE("options of a delete that make no sense are refused") {
  const std::vector<std::pair<const char*, std::string>> cases = {
      {R"({"kind": "Foo"})",
       "no kind \"Foo\" is registered for version \"meta.k8s.io/v1\" in scheme "
       "\"pkg/runtime/scheme.go:111\""},
      {R"({"gracePeriodSeconds": "x"})",
       "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of "
       "type int64"},
      {R"({"preconditions": {"uid": 1}})",
       "json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type "
       "types.UID"},
      {R"({"propagationPolicy": ""})",
       "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"\": "
       "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""},
      {R"({"propagationPolicy": "Foo", "dryRun": ["x"]})",
       "DeleteOptions.meta.k8s.io \"\" is invalid: [propagationPolicy: Unsupported value: \"Foo\": "
       "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\", dryRun: Unsupported "
       "value: [\"x\"]: supported values: \"All\"]"},
  };
  for (const auto& [json, words] : cases) {
    CAPTURE(json);
    CHECK(refusal(json) == words);
  }
}

TEST_CASE("a body's options count alone, and are read by its media type") {
  Server server;
  const std::string one = kConfigMaps + "/a";
  server.post(kConfigMaps, config_map("a"));
  CHECK(server.call("DELETE", one, "{}", "text/plain").code == 415);
  CHECK(server.call("DELETE", one, "propagationPolicy: Foo").code == 400);
  CHECK(server.call("DELETE", one, "propagationPolicy: Foo", "application/yaml").code == 422);
  CHECK(server.call("DELETE", one, "[]").message().find("cannot unmarshal array") !=
        std::string::npos);
  CHECK(server.remove(one, {{"preconditions", {{"uid", ""}}}}).code == 409);
  CHECK(server.call("DELETE", one + "?dryRun=All&propagationPolicy=Foo", "null").code == 200);
  CHECK(server.get(one).code == 404);
}

TEST_CASE("a page of a collection is deleted, and the token for the next is told") {
  Server server;
  for (const char* name : {"a", "b", "c"}) server.post(kConfigMaps, config_map(name));
  const auto gone = server.remove(kConfigMaps + "?limit=1");
  CHECK(gone.json["items"].size() == 1);
  CHECK_FALSE(gone.at({"metadata", "continue"}).empty());
  CHECK(server.get(kConfigMaps).json["items"].size() == 2);
}

}  // namespace kubewatch::apiserver
