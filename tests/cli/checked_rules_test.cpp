// Rules against the kinds that are known without a server.
#include "cli/controller/checked_rules.hpp"

#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"

using namespace kubewatch;

namespace {

// `spec`: in flow style, on line 5.
std::string rule(const std::string& spec) {
  return "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: a}\nspec:\n  " + spec +
         "\n  reconcile: {shell: 'true'}\n";
}

// Without the file's name.
std::vector<std::string> problems(const std::string& spec, const std::string& definition = "") {
  test::RuleFolder folder;
  const std::string file = folder.write("rules.yaml", rule(spec));
  if (!definition.empty()) folder.write("crd.yaml", definition);
  std::vector<std::string> out;
  for (const auto& problem :
       cli::load_checked_rules({definition.empty() ? file : folder.file("")}).problems) {
    out.push_back(std::to_string(problem.line) + ":" + std::to_string(problem.column) + ": " +
                  problem.message);
  }
  return out;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a built-in kind that does not exist is a problem where it is written") {
  CHECK(problems("for: {apiVersion: v1, kind: ConfigMap}").empty());
  CHECK(problems("for: {apiVersion: v1, kind: configmap}") ==
        Lines{"5:31: spec.for.kind: v1 has no kind \"configmap\", did you mean \"ConfigMap\"?"});
  CHECK(problems("for: [{apiVersion: v1, kind: Secret}, {apiVersion: apps/v1, kind: Deploymnt}]") ==
        Lines{"5:69: spec.for[1].kind: apps/v1 has no kind \"Deploymnt\", did you mean "
              "\"Deployment\"?"});
  CHECK(problems("owns: [{apiVersion: v1, kind: Deployment}]") ==
        Lines{"5:33: spec.owns[0].kind: v1 has no kind \"Deployment\": it is in apps/v1"});
  // What is like nothing here may be a newer server's.
  CHECK(problems("writes: [{apiVersion: v1, kind: Spaceship}]").empty());
  CHECK(problems("watches: [{name: a, apiVersion: batch/v1, kind: cronJob, map: all}]").size() ==
        1);
  // A newer server may have it; a wrong spelling it has not.
  CHECK(problems("for: {apiVersion: apps/v1, kind: Crew, optional: true}").empty());
  CHECK(problems("for: {apiVersion: apps/v1, kind: deployment, optional: true}").size() == 1);
  // Of versions and groups that are not built in nothing is known.
  CHECK(problems("for: {apiVersion: apps/v7, kind: Deployment}").empty());
  CHECK(problems("for: {apiVersion: demo.dev/v1, kind: website}").empty());
}

TEST_CASE("namespaces for a kind that is in none are a problem at their key") {
  CHECK(problems("for: {apiVersion: v1, kind: Namespace, namespaces: [shop]}") ==
        Lines{"5:42: spec.for.namespaces: v1 Namespace is cluster-scoped, its objects are in no "
              "namespace"});
  CHECK(problems("for: {apiVersion: v1, kind: Node, namespaceSelector: a=b}").size() == 1);
  CHECK(problems("owns: [{apiVersion: v1, kind: PersistentVolume, namespaces: [a]}]").size() == 1);
  CHECK(problems("writes: [{apiVersion: v1, kind: Node, namespaces: [a]}]").size() == 1);
  CHECK(problems("for: {apiVersion: v1, kind: Pod, namespaces: [shop]}").empty());
}

TEST_CASE("definitions in the folder of the rules tell of custom kinds") {
  const std::string definition =
      "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
      "metadata: {name: fleets.demo.dev}\n"
      "spec: {group: demo.dev, scope: Cluster, names: {kind: Fleet, plural: fleets}, versions: "
      "[{name: v1, served: true, storage: true}]}\n";
  CHECK(problems("for: {apiVersion: demo.dev/v1, kind: Fleet}", definition).empty());
  CHECK(problems("for: {apiVersion: demo.dev/v1, kind: Fleet, namespaces: [a]}", definition) ==
        Lines{"5:47: spec.for.namespaces: demo.dev/v1 Fleet is cluster-scoped, its objects are in "
              "no namespace"});
  CHECK(problems("for: {apiVersion: demo.dev/v1, kind: fleet}", definition) ==
        Lines{"5:40: spec.for.kind: demo.dev/v1 has no kind \"fleet\", did you mean \"Fleet\"?"});
  // The folder need not hold all of a group.
  CHECK(problems("for: {apiVersion: demo.dev/v1, kind: Website}", definition).empty());
}
