#include "builtin/warnings.hpp"

#include "support/catch.hpp"

namespace kubewatch::builtin {

namespace {

using Warnings = std::vector<std::string>;

Json pod_with(Json spec) {
  if (!spec.contains("containers")) spec["containers"] = {{{"name", "c"}, {"image", "i"}}};
  return {{"metadata", {{"name", "p"}}}, {"spec", std::move(spec)}};
}

Warnings of_pod(Json spec) {
  return warnings_of("pods", nullptr, pod_with(std::move(spec)));
}

Json container(const char* name, Json rest) {
  rest["name"] = name;
  rest["image"] = "i";
  return rest;
}

Json deployment(std::int64_t generation, const std::string& name = "d") {
  return {{"metadata", {{"name", name}, {"generation", generation}}},
          {"spec", {{"template", pod_with({{"terminationGracePeriodSeconds", -1}})}}}};
}

Warnings of_service(Json spec) {
  return warnings_of("services", nullptr, {{"metadata", {{"name", "s"}}}, {"spec", spec}});
}

}  // namespace

TEST_CASE("names that make poor hostnames are warned of when the object is made") {
  const Json dotted = {{"metadata", {{"name", "a.b"}}}};
  const std::string end =
      ", which can result in surprising behavior; a DNS label is recommended: [must not contain "
      "dots]";
  CHECK(warnings_of("pods", nullptr, dotted) ==
        Warnings{"metadata.name: this is used in the Pod's hostname" + end});
  for (const char* kind : {"replicationcontrollers", "replicasets.apps", "deployments.apps",
                           "jobs.batch", "cronjobs.batch"}) {
    CAPTURE(kind);
    CHECK(warnings_of(kind, nullptr, dotted) ==
          Warnings{"metadata.name: this is used in Pod names and hostnames" + end});
    CHECK(warnings_of(kind, &dotted, dotted).empty());
  }
  CHECK(warnings_of("configmaps", nullptr, dotted).empty());
  const Json longer = {{"metadata", {{"name", std::string(64, 'a') + ".b"}}}};
  CHECK(warnings_of("pods", nullptr, longer)[0].ends_with(
      "[must be no more than 63 characters must not contain dots]"));
}

TEST_CASE("what a Pod says twice is warned of") {
  const Json variables = {{{"name", "A"}, {"value", "1"}},
                          {{"name", "A"}, {"value", "2"}},
                          {{"name", "A"}, {"value", "$(A)3"}}};
  CHECK(of_pod({{"containers", {container("c", {{"env", variables}})}}}) ==
        Warnings{"spec.containers[0].env[1]: hides previous definition of \"A\", which may be "
                 "dropped when using apply"});
  const Json ports = {{{"containerPort", 80}},
                      {{"containerPort", 80}},
                      {{"containerPort", 80}, {"hostPort", 80}},
                      {{"containerPort", 80}, {"protocol", "UDP"}}};
  CHECK(of_pod({{"containers", {container("c", {{"ports", ports}})}}}) ==
        Warnings{"spec.containers[0].ports[1]: duplicate port definition with "
                 "spec.containers[0].ports[0]",
                 "spec.containers[0].ports[2]: overlapping port definition with "
                 "spec.containers[0].ports[0]",
                 "spec.containers[0].ports[2]: overlapping port definition with "
                 "spec.containers[0].ports[1]"});
  const Json named = {{{"containerPort", 1}, {"name", "x"}}, {{"containerPort", 2}}};
  const std::string first =
      " with spec.containers[0].ports[0], services and probes that select ports "
      "by name will use spec.containers[0].ports[0]";
  CHECK(of_pod({{"containers",
                 {container("c", {{"ports", named}}),
                  container("d", {{"ports", {{{"containerPort", 3}, {"name", "x"}}}}})}}}) ==
        Warnings{"spec.containers[1].ports[0]: duplicate port name \"x\"" + first});
  CHECK(of_pod({{"imagePullSecrets", {{{"name", "a"}}, {{"name", "a"}}, Json::object()}}}) ==
        Warnings{"spec.imagePullSecrets[1].name: duplicate name \"a\"",
                 "spec.imagePullSecrets[2].name: invalid empty name \"\""});
  CHECK(of_pod({{"hostAliases", {{{"ip", "1.2.3.4"}}, {{"ip", "1.2.3.4"}}}}}) ==
        Warnings{"spec.hostAliases[1].ip: duplicate ip \"1.2.3.4\""});
}

// Where they clash: same place on the node, no place of their own, or an open address.
TEST_CASE("ports of one number clash by their places on the node") {
  const auto port = [](int host_port, const char* host_ip) {
    return Json{{"containerPort", 80}, {"hostPort", host_port}, {"hostIP", host_ip}};
  };
  const Json ports = {port(1, "10.0.0.1"), port(2, "10.0.0.1"), port(1, "10.0.0.2"),
                      port(1, ""),         port(0, ""),         port(1, "10.0.0.2")};
  const auto told = [](int of, const char* how, int with) {
    return "spec.containers[0].ports[" + std::to_string(of) + "]: " + how +
           " port definition with spec.containers[0].ports[" + std::to_string(with) + "]";
  };
  const char* open = "dangerously ambiguous";
  CHECK(of_pod({{"containers", {container("c", {{"ports", ports}})}}}) ==
        Warnings{told(3, open, 0), told(3, open, 2), told(4, "overlapping", 0),
                 told(4, "overlapping", 1), told(4, "overlapping", 2), told(4, "overlapping", 3),
                 told(5, "duplicate", 2), told(5, open, 3), told(5, "overlapping", 4)});
}

TEST_CASE("what is deprecated in a Pod is warned of") {
  CHECK(of_pod({{"nodeSelector", {{"beta.kubernetes.io/os", "linux"}}}}) ==
        Warnings{"spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "
                 "\"kubernetes.io/os\" instead"});
  CHECK(
      of_pod({{"volumes", {{{"name", "v"}, {"gitRepo", {{"repository", "r"}}}}}}}) ==
      Warnings{"spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"});
  Json pod = pod_with(Json::object());
  pod["metadata"]["annotations"] = {{"container.seccomp.security.alpha.kubernetes.io/c", ""}};
  CHECK(warnings_of("pods", nullptr, pod) ==
        Warnings{"metadata.annotations[container.seccomp.security.alpha.kubernetes.io/c]: "
                 "non-functional in v1.27+; use the \"seccompProfile\" field instead"});
  pod["spec"]["containers"][0]["securityContext"] = {{"seccompProfile", {{"type", "Unconfined"}}}};
  CHECK(warnings_of("pods", nullptr, pod).empty());
}

TEST_CASE("terms of a Pod that match nothing, and fractions of bytes, are warned of") {
  const Json spread = {{{"topologyKey", "k"}}};
  CHECK(of_pod({{"topologySpreadConstraints", spread}}) ==
        Warnings{"spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in "
                 "matching no pod"});
  const Json affinity = {{"podAntiAffinity",
                          {{"preferredDuringSchedulingIgnoredDuringExecution",
                            {{{"podAffinityTerm", {{"topologyKey", "k"}}}}}}}}};
  CHECK(of_pod({{"affinity", affinity}}) ==
        Warnings{"spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
                 "podAffinityTerm.labelSelector: a null labelSelector results in matching no pod"});
  const Json resources = {{"limits", {{"memory", "100m"}, {"cpu", "100m"}}}};
  CHECK(of_pod({{"containers", {container("c", {{"resources", resources}})}}}) ==
        Warnings{"spec.containers[0].resources.limits[memory]: fractional byte value \"100m\" is "
                 "invalid, must be an integer"});
}

TEST_CASE("a template is looked at again when what is wanted changes") {
  const Warnings told = {
      "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid "
      "and will be treated as 1"};
  const Json before = deployment(1);
  CHECK(warnings_of("deployments.apps", nullptr, before) == told);
  CHECK(warnings_of("deployments.apps", &before, before).empty());
  CHECK(warnings_of("deployments.apps", &before, deployment(2)) == told);
  CHECK(warnings_of("daemonsets.apps", &before, deployment(2)).empty());
  const Json pod = pod_with({{"imagePullSecrets", {Json::object()}}});
  CHECK(warnings_of("pods", &pod, pod).empty());
  const Json cron = {
      {"metadata", {{"name", "c"}}},
      {"spec", {{"jobTemplate", {{"spec", {{"template", before["spec"]["template"]}}}}}}}};
  CHECK(warnings_of("cronjobs.batch", nullptr, cron)[0].starts_with(
      "spec.jobTemplate.spec.template.spec.terminationGracePeriodSeconds: "));
}

TEST_CASE("a CSIDriver that asks for tokens should say where it wants them") {
  const auto driver = [](const char* spec) { return Json{{"spec", Json::parse(spec)}}; };
  const auto warned = [](const Json* live, const Json& object) {
    return warnings_of("csidrivers.storage.k8s.io", live, object);
  };
  const Json asks = driver(R"({"tokenRequests":[{"audience":"a"}]})");
  CHECK(warned(nullptr, asks) ==
        Warnings{"spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set "
                 "to true to prevent possible logging of tokens in volume attributes"});
  CHECK(warned(nullptr, driver(R"({"tokenRequests":[]})")).empty());
  const Json said =
      driver(R"({"tokenRequests":[{"audience":"a"}],"serviceAccountTokenInSecrets":false})");
  CHECK(warned(nullptr, said).empty());
  CHECK(warned(&asks, asks).empty());
  CHECK(warned(&said, asks).empty());
  CHECK(warned(&asks, driver(R"({"tokenRequests":[{"audience":"b"}]})")).size() == 1);
}

TEST_CASE("fields of a Service that do nothing are warned of") {
  CHECK(
      of_service({{"externalIPs", {"1.2.3.4"}}}) ==
      Warnings{"spec.externalIPs is deprecated and may no longer be implemented in some clusters"});
  CHECK(of_service(
            {{"type", "ExternalName"}, {"externalName", "a.b"}, {"externalIPs", {"1.2.3.4"}}}) ==
        Warnings{"spec.externalIPs is ignored when spec.type is \"ExternalName\""});
  CHECK(of_service({{"externalName", "a.b"}}) ==
        Warnings{"spec.externalName is ignored when spec.type is not \"ExternalName\""});
  CHECK(of_service({{"clusterIP", "None"}, {"sessionAffinity", "ClientIP"}}) ==
        Warnings{"spec.SessionAffinity is ignored for headless services"});
  CHECK(of_service({{"trafficDistribution", "PreferClose"}}) ==
        Warnings{"spec.trafficDistribution: \"PreferClose\" is deprecated; use "
                 "\"PreferSameZone\""});
}

}  // namespace kubewatch::builtin
