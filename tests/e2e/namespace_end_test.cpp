// How a Namespace ends that something holds: what its conditions say. And what a Binding must be.
#include <map>
#include <string>

#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

// STATUS REASON MESSAGE of a condition, "" where there is none.
std::string condition(const Json& object, const std::string& type) {
  const Json* conditions = base::find(object, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return "";
  for (const Json& one : *conditions) {
    if (base::string_at(one, {"type"}) != type) continue;
    return base::string_at(one, {"status"}) + " " + base::string_at(one, {"reason"}) + " " +
           base::string_at(one, {"message"});
  }
  return "";
}

}  // namespace

E2E_CASE("a Namespace that cannot end says what is left and which finalizers hold it") {
  World w;
  const std::string held = "/api/v1/namespaces/" + w.ns2() + "/configmaps/held";
  w.create(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: held, namespace: '@NS2@', finalizers: [e2e.kubewatch.dev/held]}
)");
  const std::string place = "/api/v1/namespaces/" + w.ns2();
  REQUIRE(send(w, "DELETE", place).code == 200);
  const std::map<std::string, std::string> expected = {
      {"NamespaceDeletionDiscoveryFailure",
       "False ResourcesDiscovered All resources successfully discovered"},
      {"NamespaceDeletionGroupVersionParsingFailure",
       "False ParsedGroupVersions All legacy kube types successfully parsed"},
      {"NamespaceDeletionContentFailure",
       "False ContentDeleted All content successfully deleted, may be waiting on finalization"},
      {"NamespaceContentRemaining",
       "True SomeResourcesRemain Some resources are remaining: configmaps. has 1 resource "
       "instances"},
      {"NamespaceFinalizersRemaining",
       "True SomeFinalizersRemain Some content in the namespace has finalizers remaining: "
       "e2e.kubewatch.dev/held in 1 resource instances"}};
  // A cluster's controller comes back to it again and again, and more and more rarely.
  std::map<std::string, std::string> told;
  CHECK(w.eventually(
      [&] {
        const Json now = send(w, "GET", place).body;
        for (const auto& [type, words] : expected) told[type] = condition(now, type);
        return told == expected;
      },
      kCollected));
  CHECK(told == expected);
  send_text(w, "PATCH", held, R"({"metadata":{"finalizers":null}})",
            "application/merge-patch+json");
  CHECK(w.eventually([&] { return send(w, "GET", place).code == 404; }, kCollected));
}

E2E_CASE("a Binding whose annotations are no texts is refused") {
  World w;
  const std::string pods = "/api/v1/namespaces/" + w.ns() + "/pods";
  const Json pod = {{"apiVersion", "v1"},
                    {"kind", "Pod"},
                    {"metadata", {{"name", "p"}}},
                    {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  REQUIRE(send(w, "POST", pods, pod).code == 201);
  const Answer refused = send(w, "POST", pods + "/p/binding",
                              {{"apiVersion", "v1"},
                               {"kind", "Binding"},
                               {"metadata", {{"name", "p"}, {"annotations", {{"a", 5}}}}},
                               {"target", {{"kind", "Node"}, {"name", "n"}}}});
  CHECK(refused.code == 400);
  CHECK(base::string_at(refused.body, {"message"})
            .find("json: cannot unmarshal number into Go struct field "
                  "ObjectMeta.metadata.annotations of type string") != std::string::npos);
  CHECK_FALSE(send(w, "GET", pods + "/p").body["spec"].contains("nodeName"));
}

}  // namespace kubewatch::e2e
