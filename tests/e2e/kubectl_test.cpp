// What kubectl does with a server, where how it answers decides what users read.
#include "e2e/kubectl.hpp"

namespace kubewatch::e2e {

E2E_CASE("kubectl names an object whose kind the server does not have, and what is missing") {
  World w;
  Kubectl kubectl(w, w.kubeconfig());
  if (kubectl.missing()) return;
  w.file("gadget.yaml",
         "apiVersion: none.e2e.kubewatch.dev/v1\nkind: Gadget\nmetadata: {name: g1}\n");
  const Ran answer = kubectl.run({"create", "-f", w.folder() + "/gadget.yaml"});
  CAPTURE(answer.err);
  CHECK(answer.code == 1);
  CHECK(
      answer.err.find("no matches for kind \"Gadget\" in version \"none.e2e.kubewatch.dev/v1\"") !=
      std::string::npos);
  CHECK(answer.err.find("g1") != std::string::npos);
}

E2E_CASE("a Service has the name of a DNS label") {
  World w;
  Kubectl kubectl(w, w.kubeconfig());
  if (kubectl.missing()) return;
  const auto create = [&](const std::string& name) {
    return kubectl.run({"create", "service", "clusterip", name, "--tcp=80", "-n", w.ns()});
  };
  CHECK(create("1abc").code == 0);
  for (const char* name : {"a.b", "Ab"}) {
    const Ran answer = create(name);
    CAPTURE(answer.err);
    CHECK(answer.code == 1);
    CHECK(answer.err.find("metadata.name: Invalid value: \"" + std::string(name)) !=
          std::string::npos);
  }
}

E2E_CASE("a definition that its objects hold can still be changed") {
  World w;
  Kubectl kubectl(w, w.kubeconfig());
  if (kubectl.missing()) return;
  std::string crd = R"x(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: holds.dying.e2e.kubewatch.dev}
spec:
  group: dying.e2e.kubewatch.dev
  scope: Namespaced
  names: {plural: holds, singular: hold, kind: Hold}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
)x";
  w.apply(crd);
  w.file("hold.yaml",
         "apiVersion: dying.e2e.kubewatch.dev/v1\nkind: Hold\nmetadata: {name: a, namespace: " +
             w.ns() + ", finalizers: [x.io/hold]}\n");
  REQUIRE(w.eventually([&] {
    return kubectl.run({"create", "-f", w.folder() + "/hold.yaml"}).code == 0;
  }));
  const std::string name = "crd/holds.dying.e2e.kubewatch.dev";
  REQUIRE(kubectl.run({"delete", name, "--wait=false"}).code == 0);
  const Ran changed = kubectl.run({"annotate", name, "a=b"});
  CAPTURE(changed.err);
  CHECK(changed.code == 0);
  const Ran freed = kubectl.run({"patch", "holds.dying.e2e.kubewatch.dev", "a", "-n", w.ns(),
                                 "--type=merge", "-p", R"({"metadata":{"finalizers":null}})"});
  CAPTURE(freed.err);
  CHECK(freed.code == 0);
  CHECK(kubectl.run({"wait", "--for=delete", name, "--timeout=60s"}).code == 0);
}

}  // namespace kubewatch::e2e
