// Discovery that an earlier command kept: what has changed since is found, and what the same call
// changes is not looked up in it.
#include "client/discovery.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/requests.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {
namespace {

// Gang.@NS@.dev, in a group of its own; `more` of its version.
std::string definition(const std::string& scope, const std::string& more = "") {
  return R"({apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
  metadata: {name: gangs.@NS@.dev}, spec: {group: '@NS@.dev', scope: )" +
         scope +
         R"(, names: {plural: gangs, singular: gang, kind: Gang}, versions: [{name: v1,
  served: true, storage: true, )" +
         more +
         R"(schema: {openAPIV3Schema: {type: object, properties: {
  spec: {type: object, properties: {replicas: {type: integer}}},
  status: {type: object, properties: {replicas: {type: integer}}}}}}}]}}
---
)";
}

std::string gang(const std::string& place, const std::string& replicas) {
  return "{apiVersion: '@NS@.dev/v1', kind: Gang, metadata: {name: g" + place +
         "}, spec: {replicas: " + replicas + "}}\n";
}

const char* const kHere = ", namespace: '@NS@'";

// All with one cache folder, unless another is named.
Ran apply_ssa(World& w, const std::string& yaml, const std::vector<std::string>& more = {},
              const std::string& cache = "cache") {
  w.file("objects.yaml", yaml);
  std::vector<std::string> words = {"apply-ssa", "-f", w.folder() + "/objects.yaml", "--cache-dir",
                                    w.folder() + "/" + cache};
  words.insert(words.end(), more.begin(), more.end());
  return kubewatch(w, words);
}

// Whether the server says that it has gangs; forgetting takes a busy one its time.
bool is_listed(World& w) {
  std::optional<bool> listed;
  const auto request = client::discover(w.client(), [&](const auto& map) {
    listed = !map.ok() || (*map)->find({w.ns() + ".dev", "v1", "Gang"}) != nullptr;
  });
  REQUIRE(w.eventually([&] { return listed.has_value(); }));
  return *listed;
}

}  // namespace

E2E_CASE("a scale that a kind has got is found, whatever is kept of the kind from before") {
  World w;
  const std::string name = "gangs." + w.ns() + ".dev";
  const auto made =
      apply_ssa(w, definition("Namespaced") + gang(kHere, "1"), {"--field-manager=a"});
  INFO(made.err);
  REQUIRE(made.code == 0);
  const std::string scale =
      "subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: "
      ".status.replicas}}, ";
  REQUIRE(apply_ssa(w, definition("Namespaced", scale), {"--field-manager=a"}).code == 0);
  // Whose conflict only the scale can tell. A server takes a moment to serve it.
  Ran seen;
  const auto tells = [&] {
    seen = apply_ssa(w, gang(kHere, "2"), {"--subresource=scale", "--field-manager=s"});
    return seen.code == 6;
  };
  const bool found = w.eventually(tells, kDiscovery);
  INFO(seen.err);
  CHECK(found);
  CHECK(seen.err.find("conflict with \"a\"") != std::string::npos);
  w.remove_definition(name);
}

E2E_CASE("a kind whose definition is made anew with another scope is applied where it is now") {
  World w;
  const std::string name = "gangs." + w.ns() + ".dev";
  const std::string before = definition("Namespaced") + gang(kHere, "1");
  REQUIRE(apply_ssa(w, before).code == 0);
  // What a dry run finds is kept as well: it has a folder of its own.
  REQUIRE(apply_ssa(w, gang(kHere, "1"), {}, "rehearsed").code == 0);
  const auto first_seen = [&] {
    return kubewatch(w, {"watch", "gangs." + w.ns() + ".dev", "-n", w.ns(), "--max-events=1",
                         "--duration=50s", "-o", "name", "--cache-dir", w.folder() + "/watcher"});
  };
  const std::string gang_name = "gang." + w.ns() + ".dev/g";
  REQUIRE(first_seen().out == gang_name + "\n");
  w.remove_definition(name);
  REQUIRE(w.eventually([&] { return !is_listed(w); }, kDiscovery));
  // The ConfigMap is of the same version, and of another kind.
  const std::string all = definition("Cluster") + gang("", "1") +
                          "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: beside, "
                          "namespace: '@NS@'}}\n";
  // What the same call would make cannot be refused for not being there.
  const auto shown = apply_ssa(w, all, {"--dry-run=server"}, "rehearsed");
  INFO(shown.err);
  CHECK(shown.code == 0);
  const auto seen = apply_ssa(w, all);
  INFO(seen.err);
  CHECK(seen.code == 0);
  CHECK(seen.out == "customresourcedefinition.apiextensions.k8s.io/" + name + " created\n" +
                        gang_name + " created\nconfigmap/beside created\n");
  CHECK(w.get("ConfigMap", "beside"));
  CHECK(send(w, "GET", "/apis/" + w.ns() + ".dev/v1/gangs/g").code == 200);
  const auto watched = first_seen();
  INFO(watched.err);
  CHECK(watched.out == gang_name + "\n");
  CHECK(watched.err.find("is another kind now") != std::string::npos);
  w.remove_definition(name);
}

}  // namespace kubewatch::e2e
