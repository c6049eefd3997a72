// Kinds that nobody serves: their definition is gone and only a kept discovery knows them, or it
// never becomes established.
#include "client/discovery.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {
namespace {

// The kind Band.@NS@.dev by that plural.
std::string band_definition(const std::string& plural) {
  return "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: " +
         plural +
         ".@NS@.dev}, spec: {group: '@NS@.dev', scope: Namespaced, names: {plural: " + plural +
         ", singular: " + plural +
         "one, kind: Band}, versions: [{name: v1, served: true, storage: true, schema: "
         "{openAPIV3Schema: {type: object}}}]}}\n";
}

Ran wait_for_band(World& w, const std::string& goal, const std::string& timeout) {
  return kubewatch(w,
                   {"wait-condition", "bands." + w.ns() + ".dev/x", "-n", w.ns(), "--for=" + goal,
                    "--timeout=" + timeout, "--cache-dir", w.folder() + "/cache"});
}

bool serves_bands(World& w) {
  std::optional<bool> serves;
  const auto request = client::discover(w.client(), [&](const auto& map) {
    serves = !map.ok() || (*map)->find({w.ns() + ".dev", "v1", "Band"}) != nullptr;
  });
  REQUIRE(w.eventually([&] { return serves.has_value(); }));
  return *serves;
}

}  // namespace

E2E_CASE("a kind that only a kept discovery knows is no deletion, and is told as what it is") {
  World w;
  w.file("objects.yaml", band_definition("bands"));
  REQUIRE(kubewatch(w, {"apply-ssa", "-f", w.folder() + "/objects.yaml"}).code == 0);
  REQUIRE(w.eventually([&] { return serves_bands(w); }, kDiscovery));
  // Known from now on; and of a kind that there is, what is not there is deleted.
  const auto before = wait_for_band(w, "delete", "60s");
  INFO(before.err);
  REQUIRE(before.code == 0);
  w.remove_definition("bands." + w.ns() + ".dev");
  REQUIRE(w.eventually([&] { return !serves_bands(w); }, kDiscovery));
  const std::string why = "the server doesn't have a resource type \"bands." + w.ns() + ".dev\"\n";
  const auto deletion = wait_for_band(w, "delete", "60s");
  INFO(deletion.err);
  CHECK(deletion.code == 5);
  CHECK(deletion.out.empty());
  CHECK(deletion.err.find(why) != std::string::npos);
  const auto creation = wait_for_band(w, "create", "6s");
  INFO(creation.err);
  CHECK(creation.code == 5);
  CHECK(creation.err.find(why) != std::string::npos);
}

E2E_CASE("apply-ssa: a definition whose names another one has has failed, and says why") {
  World w;
  w.file("objects.yaml",
         band_definition("bands") + "---\n" + band_definition("rivals") +
             "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: '@NS@'}}\n");
  // One by one: the first in the file gets the name.
  const auto seen =
      kubewatch(w, {"apply-ssa", "-f", w.folder() + "/objects.yaml", "--concurrency=1"});
  INFO(seen.err);
  CHECK(seen.code == 3);
  CHECK(seen.out.find("bands." + w.ns() + ".dev created") != std::string::npos);
  CHECK(seen.out.find("configmap/a created") != std::string::npos);
  CHECK(seen.err.find("not established within 30s: NamesAccepted is False (reason ") !=
        std::string::npos);
  CHECK(seen.err.find("is already in use") != std::string::npos);
  for (const std::string plural : {"bands.", "rivals."}) {
    w.remove_definition(plural + w.ns() + ".dev");
  }
}

}  // namespace kubewatch::e2e
