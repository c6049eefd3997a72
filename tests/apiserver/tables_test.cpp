// The tables of tests/e2e/schema through the whole API: codes, causes and what is answered. The
// same tables are asked of a real kube-apiserver by tests/e2e/schema_test.cpp.
#include <algorithm>

#include "apiserver/support.hpp"
#include "e2e/schema/table.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::kCrdPath;
using test::Server;

namespace {

std::string table_file(const char* name) {
  return std::string(SCHEMA_TABLES) + "/" + name;
}

bool names(const Json& status, const std::string& field, const std::string& message) {
  const Json* causes = base::find(status, {"details", "causes"});
  if (causes == nullptr || !causes->is_array()) return false;
  return std::any_of(causes->begin(), causes->end(), [&](const Json& cause) {
    return base::string_at(cause, {"field"}) == field &&
           base::string_at(cause, {"message"}).find(message) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("definitions of the table get the codes and causes of kube-apiserver") {
  Server server;
  const Json table = tables::read(table_file("crds.yaml"));
  for (const char* kind : {"valid", "invalid"}) {
    for (const auto& one : table.at(kind)) {
      const auto answer =
          server.post(kCrdPath + "?dryRun=All", tables::crd_of(table.at("base"), one));
      CAPTURE(kind, one.at("name").get<std::string>(), answer.message());
      if (!one.contains("field")) {
        CHECK(answer.code == 201);
        continue;
      }
      CHECK(answer.code == 422);
      const std::string message = one.at("message").get<std::string>();
      CHECK(names(answer.json, tables::crd_field(one), message));
    }
  }
}

TEST_CASE("objects of the table get the codes and causes of kube-apiserver") {
  Server server;
  const Json table = tables::read(table_file("objects.yaml"));
  REQUIRE(server.post(kCrdPath, tables::subject_crd(table)).code == 201);
  const std::string path =
      "/apis/schema.e2e.kubewatch.dev/v1/namespaces/default/subjects?dryRun=All&fieldValidation=";
  for (const auto& one : table.at("cases")) {
    const auto answer = server.post(path + (one.value("strict", false) ? "Strict" : "Ignore"),
                                    tables::object_of(table, one));
    CAPTURE(one.at("name").get<std::string>(), answer.message());
    if (one.contains("malformed")) {
      CHECK(answer.code == 400);
      const std::string part = one.at("malformed").get<std::string>();
      CHECK(answer.message().find(part) != std::string::npos);
      continue;
    }
    if (one.contains("refused")) {
      CHECK(answer.code == 422);
      const std::string message = one.at("refused").get<std::string>();
      CHECK(names(answer.json, tables::object_field(one), message));
      continue;
    }
    CHECK(answer.code == 201);
    if (!one.contains("keeps") || answer.code != 201) continue;
    CHECK(answer.json.at("spec").value(one.at("field").get<std::string>(), Json()) ==
          one.at("keeps"));
  }
}

TEST_CASE("a custom object that was wrong before its schema grew strict may stay so") {
  Server server;
  const Json table = tables::read(table_file("objects.yaml"));
  Json crd = tables::subject_crd(table);
  server.post(kCrdPath, crd);
  const std::string path = "/apis/schema.e2e.kubewatch.dev/v1/namespaces/default/subjects";
  Json object = tables::object_of(table, Json::object());
  object["spec"] = {{"text", "too long"}, {"count", 1}};
  REQUIRE(server.post(path, object).code == 201);
  const std::string definition = kCrdPath + "/subjects.schema.e2e.kubewatch.dev";
  const Json tight = {
      {"op", "add"},
      {"path", "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/text/maxLength"},
      {"value", 3}};
  REQUIRE(server.json_patch(definition, Json::array({tight})).code == 200);
  CHECK(server.merge(path + "/subject", {{"spec", {{"count", 2}}}}).code == 200);
  CHECK(server.merge(path + "/subject", {{"spec", {{"text", "another"}}}}).code == 422);
}

TEST_CASE("what an update of a definition may not change") {
  Server server;
  const Json table = tables::read(table_file("crds.yaml"));
  server.post(kCrdPath, table.at("base"));
  const std::string path = kCrdPath + "/tables.schema.e2e.kubewatch.dev";
  const auto refused = [&](const Json& spec, const std::string& field) {
    const auto answer = server.merge(path, {{"spec", spec}});
    CAPTURE(answer.message());
    CHECK(answer.code == 422);
    CHECK(names(answer.json, field, "field is immutable"));
  };
  refused({{"scope", "Cluster"}}, "spec.scope");
  refused({{"names", {{"kind", "Other"}}}}, "spec.names.kind");
  refused({{"group", "other.example.com"}}, "spec.group");
  refused({{"names", {{"plural", "others"}}}}, "spec.names.plural");
  const Json renamed = {{"op", "replace"}, {"path", "/spec/versions/0/name"}, {"value", "v2"}};
  const auto answer = server.json_patch(path, Json::array({renamed}));
  CHECK(answer.code == 422);
  CHECK(names(answer.json, "status.storedVersions[0]", "missing from spec.versions"));
}

}  // namespace kubewatch::apiserver
