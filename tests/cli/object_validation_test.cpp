// Objects against CRDs without a server: what of their metadata the server would refuse or drop.
#include "cli/object_validation.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

namespace {

ObjectValidation validation() {
  const std::vector<Json> crds(1, Json::parse(R"({
    "metadata": {"name": "sites.demo.example.com"},
    "spec": {"group": "demo.example.com", "scope": "Namespaced",
      "names": {"plural": "sites", "kind": "Site"},
      "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
        {"type": "object", "properties": {"template": {"type": "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true}}}}}]}})"));
  return ObjectValidation(crds);
}

Json site(const char* metadata) {
  return {
      {"apiVersion", "demo.example.com/v1"}, {"kind", "Site"}, {"metadata", Json::parse(metadata)}};
}

bool refused_for(const char* metadata, const std::string& field) {
  const auto problems = validation().check(site(metadata));
  return std::any_of(problems.begin(), problems.end(), [&](const std::string& problem) {
    return problem.find(field) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("objects are refused for the metadata that the server refuses") {
  CHECK(validation().check(site(R"({"name": "a", "labels": {"app": "x"}})")).empty());
  CHECK(validation().check(site(R"({"generateName": "a-"})")).empty());
  CHECK(refused_for("{}", "metadata.name"));
  CHECK(refused_for(R"({"name": "a", "labels": {"app": "not a value"}})", "metadata.labels"));
  CHECK(refused_for(R"({"name": "a", "labels": {"app": 5}})", "labels"));
  CHECK(refused_for(R"({"name": "a", "annotations": {"a b": ""}})", "metadata.annotations"));
  CHECK(refused_for(R"({"name": "a", "finalizers": ["a b/c"]})", "metadata.finalizers[0]"));
  CHECK(refused_for(R"({"name": "a", "ownerReferences": [{"kind": "Site"}]})",
                    "metadata.ownerReferences"));
}

TEST_CASE("unknown fields of metadata are told, of the object and of embedded ones") {
  Json object = site(R"({"name": "a", "lables": {"app": "x"}})");
  object["template"] = {
      {"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "p"}, {"lables", 1}}}};
  object["colour"] = "red";
  const auto unknown = validation().unknown_fields(object);
  for (const char* path : {"metadata.lables", "template.metadata.lables", "colour"}) {
    INFO(path);
    CHECK(std::count(unknown.begin(), unknown.end(), path) == 1);
  }
}

}  // namespace kubewatch::cli
