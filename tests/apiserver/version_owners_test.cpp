// Objects of custom kinds whose owners wrote them in several versions: what one of them writes has
// to fit the schemas of all. Autoscalers are autoscaling_test.cpp's.
#include "apiserver/support.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

using test::kCrdPath;
using test::Server;

namespace {

// v1 is stored and closed, v1beta1 takes anything, and v1alpha1 knows only a color.
Json definition() {
  return base::parse_json(R"({
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "foos.example.com"},
    "spec": {"group": "example.com", "scope": "Namespaced",
      "names": {"plural": "foos", "kind": "Foo"},
      "versions": [
        {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
          {"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "color": {"type": "string"},
            "replicas": {"type": "integer"},
            "keys": {"type": "array", "x-kubernetes-list-type": "map",
                     "x-kubernetes-list-map-keys": ["name"],
                     "items": {"type": "object", "required": ["name"], "properties": {
                       "name": {"type": "string"}, "num": {"type": "integer"}}}},
            "set": {"type": "array", "x-kubernetes-list-type": "set",
                    "items": {"type": "string"}}}}}}}},
        {"name": "v1beta1", "served": true, "storage": false, "schema": {"openAPIV3Schema":
          {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}},
        {"name": "v1alpha1", "served": true, "storage": false, "schema": {"openAPIV3Schema":
          {"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "color": {"type": "string"}}}}}}}]}})")
      .value();
}

std::string path(const std::string& version) {
  return "/apis/example.com/" + version + "/namespaces/default/foos";
}

Json foo(const std::string& version, Json spec) {
  return {{"apiVersion", "example.com/" + version},
          {"kind", "Foo"},
          {"metadata", {{"name", "a"}}},
          {"spec", std::move(spec)}};
}

struct Versions : Server {
  Versions() { REQUIRE(post(kCrdPath, definition()).code == 201); }

  test::Answer owned(const std::string& version, const std::string& manager, const Json& spec,
                     bool force = false) {
    return apply(path(version) + "/a?fieldManager=" + manager + (force ? "&force=true" : ""),
                 foo(version, spec));
  }
  Json spec() { return get(path("v1") + "/a").json["spec"]; }
  // "m1 example.com/v1,..."
  std::string owners() {
    std::vector<std::string> out;
    const Json object = get(path("v1") + "/a").json;
    for (const Json& entry : object["metadata"].value("managedFields", Json::array())) {
      out.push_back(base::string_at(entry, {"manager"}) + " " +
                    base::string_at(entry, {"apiVersion"}).substr(12));
    }
    return base::join(out, ",");
  }
  // Of the versions, as the definition has them.
  void change(const std::function<void(Json& versions)>& how) {
    Json crd = get(kCrdPath + "/foos.example.com").json;
    how(crd["spec"]["versions"]);
    REQUIRE(put(kCrdPath + "/foos.example.com", crd).code == 200);
  }
};

}  // namespace

TEST_CASE("an apply has to fit the versions of the other owners") {
  Versions server;
  REQUIRE(server.owned("v1", "m1", {{"color", "red"}}).code == 201);
  const std::string before = server.get(path("v1") + "/a").text;
  struct Case {
    Json spec;
    std::string why;
  };
  const Case cases[] = {
      {{{"free", {{"a", 1}}}}, ".spec.free: field not declared in schema"},
      {{{"replicas", "many"}}, ".spec.replicas: expected numeric (int or float), got string"},
      {{{"set", Json::array({"a", "a"})}}, ".spec.set: duplicate entries for key [=\"a\"]"}};
  for (const Case& one : cases) {
    for (const bool force : {false, true}) {
      CAPTURE(one.spec, force);
      const auto answer = server.owned("v1beta1", "m2", one.spec, force);
      CHECK(answer.code == 500);
      CHECK(answer.message() == "failed to convert new object: " + one.why);
    }
  }
  CHECK(server.get(path("v1") + "/a").text == before);
  CHECK(server.owned("v1beta1", "m2", {{"replicas", 3}}).code == 200);
  CHECK(server.owners() == "m1 v1,m2 v1beta1");
  CHECK(server.owned("v1beta1", "m2", {{"color", "blue"}}).message() ==
        "Apply failed with 1 conflict: conflict with \"m1\": .spec.color");
  // Nobody else is there whose version it would have to fit.
  CHECK(server.owned("v1beta1", "m2", {{"color", "blue"}}, true).code == 200);
  CHECK(server.owners() == "m2 v1beta1");
  CHECK(server.owned("v1beta1", "m2", {{"free", {{"a", 1}}}}).code == 200);
}

TEST_CASE("an apply in another version has to fit the one of the apply before") {
  Versions server;
  server.owned("v1", "m1", {{"color", "red"}, {"replicas", 1}});
  const auto answer = server.owned("v1beta1", "m1", {{"free", {{"a", 1}}}});
  CHECK(answer.code == 500);
  CHECK(answer.message() ==
        "failed to prune fields: failed to convert merged object to last applied version: "
        ".spec.free: field not declared in schema");
  CHECK(server.owned("v1beta1", "m1", {{"replicas", 3}}).code == 200);
  CHECK(server.spec() == Json{{"replicas", 3}});
  CHECK(server.owners() == "m1 v1beta1");
}

TEST_CASE("changes are those that each owner's version sees") {
  Versions server;
  server.owned("v1", "m1", {{"keys", Json::array({{{"name", "a"}, {"num", 1}}})}});
  // One list there, and items here.
  const Json keys = Json::array({{{"name", "b"}}});
  CHECK(server.owned("v1beta1", "m2", {{"keys", keys}}).code == 200);
  CHECK(server.spec()["keys"] == keys);
  CHECK(server.owners() == "m2 v1beta1");
}

TEST_CASE("an update that does not fit the version of an owner leaves no owners") {
  Versions server;
  server.owned("v1", "m1", {{"color", "red"}});
  const std::string beta = path("v1beta1") + "/a?fieldManager=u";
  CHECK(server.merge(beta, {{"metadata", {{"labels", {{"a", "b"}}}}}}).code == 200);
  CHECK(server.owners() == "m1 v1,u v1beta1");
  CHECK(server.merge(beta, {{"spec", {{"free", 1}}}}).code == 200);
  CHECK(server.owners().empty());
  CHECK(server.spec() == Json{{"color", "red"}});
}

TEST_CASE("owners of a version that is not served count, and one that is gone ends applies") {
  Versions server;
  server.owned("v1alpha1", "m1", {{"color", "red"}});
  server.change([](Json& versions) { versions[2]["served"] = false; });
  CHECK(server.owned("v1", "m2", {{"replicas", 1}}).message() ==
        "failed to convert new object: .spec.replicas: field not declared in schema");
  CHECK(server.owned("v1", "m2", {{"color", "blue"}}).code == 409);
  CHECK(server.merge(path("v1") + "/a?fieldManager=u", {{"metadata", {{"labels", {{"a", "b"}}}}}})
            .code == 200);
  CHECK(server.owners() == "m1 v1alpha1,u v1");
  server.change([](Json& versions) { versions.erase(2); });
  const auto answer = server.owned("v1", "m2", {{"color", "red"}});
  CHECK(answer.code == 500);
  CHECK(answer.message() ==
        "request to convert CR to an invalid group/version: example.com/v1alpha1");
  CHECK(server.merge(path("v1") + "/a?fieldManager=u", {{"metadata", {{"labels", {{"a", "c"}}}}}})
            .code == 200);
  CHECK(server.owners().empty());
}

}  // namespace kubewatch::apiserver
