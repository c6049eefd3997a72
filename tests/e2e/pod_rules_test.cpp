// Pods and what is made of their templates: what an update may change, the options of Windows,
// fields of features that are off, and the labels that a Job shares with its template.
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

std::string pods_of(const World& w) {
  return "/api/v1/namespaces/" + w.ns() + "/pods";
}

Json pod_with(const std::string& name, const Json& more,
              const Json& in_container = Json::object()) {
  Json container = {{"name", "c"}, {"image", "i"}};
  container.update(in_container);
  Json spec = {{"containers", Json::array({container})}};
  spec.update(more);
  return {{"metadata", {{"name", name}}}, {"spec", std::move(spec)}};
}

Json windows(const Json& options) {
  return {{"windowsOptions", options}};
}

}  // namespace

E2E_CASE("an update of a Pod tells what says nothing from what is not there") {
  World w;
  made(w, pods_of(w), pod_with("plain", Json::object()));
  made(w, pods_of(w), pod_with("gated", {{"schedulingGates", {{{"name", "a.b/c"}}}}}));
  const Json none = Json::object();
  const auto of_container = [](const Json& more) {
    Json container = {{"name", "c"}, {"image", "i"}};
    container.update(more);
    return Json{{"containers", Json::array({container})}};
  };
  struct Case {
    std::string pod;
    Json spec;
    int code = 422;
  };
  const std::vector<Case> cases = {
      {"plain", {{"affinity", none}}},
      {"plain", {{"dnsConfig", none}}},
      {"plain", {{"resources", none}}},
      {"plain", {{"shareProcessNamespace", false}}},
      {"plain", {{"automountServiceAccountToken", false}}},
      {"plain", {{"securityContext", windows(none)}}},
      {"plain", of_container({{"securityContext", none}})},
      {"plain", of_container({{"lifecycle", none}})},
      {"plain", {{"nodeSelector", none}}, 200},
      {"plain", {{"volumes", Json::array()}}, 200},
      {"plain", {{"hostname", ""}}, 200},
      {"plain", {{"securityContext", none}}, 200},
      {"plain", of_container({{"resources", {{"limits", none}}}, {"env", Json::array()}}), 200},
      {"gated", {{"affinity", none}}},
      {"gated", {{"affinity", {{"nodeAffinity", none}, {"podAffinity", none}}}}},
      {"gated", {{"affinity", {{"nodeAffinity", none}}}}, 200},
  };
  for (const Case& c : cases) {
    INFO(c.pod << " " << c.spec.dump());
    const Answer answer = patch(w, pods_of(w) + "/" + c.pod + "?dryRun=All", {{"spec", c.spec}});
    INFO(message(answer));
    CHECK(answer.code == c.code);
    if (c.code == 422) {
      CHECK(tells(told_by_server(answer.body), "spec", "pod updates may not change fields"));
    }
  }
  const std::string claims = "/api/v1/namespaces/" + w.ns() + "/persistentvolumeclaims";
  made(w, claims, Json::parse(R"({"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],
           "resources":{"requests":{"storage":"1Gi"}}}})"));
  const auto claim = [&](const Json& spec) {
    return patch(w, claims + "/c?dryRun=All", {{"spec", spec}}).code;
  };
  CHECK(claim({{"selector", none}}) == 422);
  CHECK(claim({{"resources", {{"limits", none}}}}) == 200);
}

E2E_CASE("the options of Windows are judged, and what each system may not say") {
  World w;
  const Json spoken = {{"windowsOptions", Json::object()}};
  struct Case {
    Json spec;
    Json container;
    Told told;
  };
  const std::string name = "runAsUserName";
  const std::string user = "spec.securityContext.windowsOptions.runAsUserName: Invalid value: ";
  const auto as_user = [&](const std::string& text) {
    return Json{{"securityContext", windows({{name, text}})}};
  };
  const std::string for_windows = ": Forbidden: cannot be set for a windows pod";
  const std::string for_linux = ": Forbidden: windows options cannot be set for a linux pod";
  const std::vector<Case> cases = {
      {{{"securityContext", windows({{"hostProcess", true}})}},
       Json::object(),
       {"spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any "
        "hostProcess containers"}},
      {{{"hostNetwork", true}, {"initContainers", {{{"name", "a"}, {"image", "i"}}}}},
       {{"securityContext", windows({{"hostProcess", true}})}},
       {"spec: Invalid value: \"\": If pod contains any hostProcess containers then all containers "
        "must be HostProcess containers"}},
      {{{"hostNetwork", true}, {"securityContext", windows({{"hostProcess", true}})}},
       {{"securityContext", windows({{"hostProcess", false}})}},
       {"spec.containers[0].securityContext.windowsOptions.hostProcess: Invalid value: false: pod "
        "hostProcess value must be identical if both are specified, was true"}},
      {{{"hostNetwork", true}, {"securityContext", windows({{"hostProcess", true}})}},
       Json::object(),
       {}},
      {{{"securityContext", windows({{"gmsaCredentialSpec", ""}, {name, ""}})}},
       Json::object(),
       {"spec.securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: \"\": "
        "gmsaCredentialSpec cannot be an empty string",
        user + "\"\": runAsUserName cannot be an empty string"}},
      {as_user("a\tb"),
       Json::object(),
       {user + R"("a\tb": runAsUserName cannot contain control characters)"}},
      {as_user("a\\b\\c"),
       Json::object(),
       {user + R"("a\\b\\c": runAsUserName cannot contain more than one backslash)"}},
      {as_user(".d\\.."),
       Json::object(),
       {user + R"(".d\\..": runAsUserName's Domain doesn't match the NetBios nor the DNS format)",
        user + R"(".d\\..": runAsUserName's User cannot contain only periods or spaces)"}},
      {as_user("d\\"), Json::object(), {user + R"("d\\": runAsUserName's User cannot be empty)"}},
      {as_user("a:b"),
       Json::object(),
       {user + R"("a:b": runAsUserName's User cannot contain the following characters: )" +
        R"("/\:;|=,+*?<>@[])"}},
      {as_user("d d\\u"), Json::object(), {}},
      {as_user("long-domain.example\\u"), Json::object(), {}},
      {{{"os", {{"name", "linux"}}}, {"securityContext", spoken}},
       {{"securityContext", spoken}},
       {"spec.securityContext.windowsOptions" + for_linux,
        "spec.containers[0].securityContext.windowsOptions" + for_linux}},
      {{{"os", {{"name", "windows"}}},
        {"hostPID", false},
        {"hostIPC", true},
        {"shareProcessNamespace", false},
        {"resources", Json::object()},
        {"securityContext", {{"runAsUser", 1}, {"sysctls", Json::array()}, {"fsGroup", 1}}}},
       {{"securityContext", {{"privileged", false}, {"runAsNonRoot", true}}}},
       {"spec.hostIPC" + for_windows, "spec.shareProcessNamespace" + for_windows,
        "spec.resources: Forbidden: may not be set for a windows pod",
        "spec.securityContext.runAsUser" + for_windows,
        "spec.securityContext.fsGroup" + for_windows,
        "spec.containers[0].securityContext.privileged" + for_windows}},
  };
  for (const Case& c : cases) {
    INFO(c.spec.dump());
    const Answer answer =
        send(w, "POST", pods_of(w) + "?dryRun=All", pod_with("p", c.spec, c.container));
    INFO(message(answer));
    // A kube-apiserver without --allow-privileged has none of these Pods.
    Told told = told_by_server(answer.body);
    const bool by_policy =
        told.erase("spec: Forbidden: hostProcess containers are disallowed by cluster policy") != 0;
    CHECK(answer.code == (c.told.empty() && !by_policy ? 201 : 422));
    CHECK(joined(told) == joined(c.told));
  }
}

E2E_CASE("fields of features that are off are not kept, though owned") {
  World w;
  const std::string core = "/api/v1/namespaces/" + w.ns() + "/";
  const Json volume = Json::parse(R"({"name":"v","projected":{"sources":[
      {"clusterTrustBundle":{"name":"x","path":"p"},"secret":{"name":"s"}}]}})");
  const Json claim = Json::parse(R"({"accessModes":["ReadWriteOnce"],
      "resources":{"requests":{"storage":"1Gi"}},
      "dataSourceRef":{"kind":"PersistentVolumeClaim","name":"x","namespace":"o"}})");
  Json both = claim;
  both["dataSource"] = {{"kind", "PersistentVolumeClaim"}, {"name", "x"}};
  const Json signal = {{"stopSignal", "zz"}};
  const Json sleep = Json::parse(R"({"preStop":{"sleep":{"seconds":1}}})");
  Json more = sleep;
  more.update(signal);
  const auto named = [](const Json& spec) {
    return Json{{"metadata", {{"name", "n"}}}, {"spec", spec}};
  };
  struct Case {
    std::string collection;
    Json object;
    std::string place;  // and what is there, null for nothing
    Json left;
  };
  const std::string rest = "/apis/";
  const std::vector<Case> cases = {
      {core + "pods", pod_with("p", Json::object(), {{"lifecycle", signal}}),
       "/spec/containers/0/lifecycle", nullptr},
      {core + "pods", pod_with("p", Json::object(), {{"lifecycle", more}}),
       "/spec/containers/0/lifecycle", sleep},
      {core + "pods", pod_with("p", Json::object(), {{"lifecycle", Json::object()}}),
       "/spec/containers/0/lifecycle", Json::object()},
      {core + "pods", pod_with("p", {{"schedulingGroup", {{"podGroupName", "x"}}}}),
       "/spec/schedulingGroup", nullptr},
      {core + "pods",
       pod_with("p", {{"volumes", {volume}}}),
       "/spec/volumes/0/projected/sources/0",
       {{"secret", {{"name", "s"}}}}},
      {core + "podtemplates",
       {{"metadata", {{"name", "n"}}},
        {"template", pod_with("p", Json::object(), {{"lifecycle", signal}})}},
       "/template/spec/containers/0/lifecycle",
       nullptr},
      {core + "persistentvolumeclaims", named(claim), "/spec/dataSourceRef", nullptr},
      {core + "persistentvolumeclaims",
       named(both),
       "/spec/dataSourceRef",
       {{"apiGroup", nullptr}, {"kind", "PersistentVolumeClaim"}, {"name", "x"}}},
      {core + "serviceaccounts",
       {{"metadata", {{"name", "n"}}},
        {"secrets", {{{"name", "s"}, {"namespace", "n"}, {"uid", "u"}}}}},
       "/secrets",
       Json::parse(R"([{"name":"s"}])")},
      {"/api/v1/nodes",
       {{"metadata", {{"name", w.ns()}}},
        {"spec", {{"configSource", {{"configMap", {{"name", "x"}}}}}}}},
       "/spec/configSource",
       nullptr},
      {rest + "coordination.k8s.io/v1/namespaces/" + w.ns() + "/leases",
       named({{"strategy", "OldestEmulationVersion"}, {"preferredHolder", "x"}}), "/spec",
       Json::object()},
      {rest + "storage.k8s.io/v1/csidrivers", named({{"preventPodSchedulingIfMissing", true}}),
       "/spec/preventPodSchedulingIfMissing", nullptr},
      {rest + "discovery.k8s.io/v1/namespaces/" + w.ns() + "/endpointslices",
       Json::parse(R"({"metadata":{"name":"n"},"addressType":"IPv4","endpoints":[
           {"addresses":["1.2.3.4"],"deprecatedTopology":{"a":"b"}}]})"),
       "/endpoints/0/deprecatedTopology", nullptr},
      {rest + "resource.k8s.io/v1/resourceslices",
       named(Json::parse(R"({"driver":"a.b","nodeName":"n",
           "pool":{"name":"p","generation":1,"resourceSliceCount":1},
           "devices":[{"name":"d","nodeAllocatableResourceMappings":{"cpu":{}}}]})")),
       "/spec/devices/0",
       {{"name", "d"}}},
  };
  for (const Case& c : cases) {
    INFO(c.collection << " " << c.object.dump());
    const Answer answer = send(w, "POST", c.collection + "?dryRun=All", c.object);
    INFO(message(answer));
    REQUIRE(answer.code == 201);
    const Json::json_pointer place(c.place);
    CHECK((answer.body.contains(place) ? answer.body.at(place) : Json()) == c.left);
  }
  // Nor by updates, of the status as well.
  made(w, core + "pods", pod_with("live", Json::object()));
  const Answer status = patch(
      w, core + "pods/live/status",
      Json::parse(R"({"status":{"nodeAllocatableResourceClaimStatuses":[{"resourceClaimName":"x"}],
          "containerStatuses":[{"name":"c","image":"i","imageID":"z","volumeMounts":[
              {"name":"v","mountPath":"/p","volumeStatus":{"image":{"imageRef":"x"}}}]}]}})"));
  REQUIRE(status.code == 200);
  CHECK_FALSE(status.body["status"].contains("nodeAllocatableResourceClaimStatuses"));
  CHECK(status.body["status"]["containerStatuses"][0]["volumeMounts"] ==
        Json::parse(R"([{"name":"v","mountPath":"/p"}])"));
  CHECK(patch(w, core + "pods/live", {{"spec", {{"schedulingGroup", {{"podGroupName", "x"}}}}}})
            .code == 200);
}

E2E_CASE("labels that a Job takes from its template are one map with them") {
  World w;
  const std::string jobs = "/apis/batch/v1/namespaces/" + w.ns() + "/jobs";
  const auto job = [](const Json& labels, const Json& of_template) {
    return Json{
        {"apiVersion", "batch/v1"},
        {"kind", "Job"},
        {"metadata", {{"name", "j"}, {"labels", labels}}},
        {"spec",
         {{"template",
           {{"metadata", {{"labels", of_template}}},
            {"spec",
             {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", "i"}}}}}}}}}}};
  };
  const Json own = {{"k", "v"}};
  struct Case {
    Json labels;
    Json of_template;
    bool shared;
  };
  for (const Case& c : {Case{Json::object(), own, true}, Case{nullptr, own, true},
                        Case{nullptr, {{"k", nullptr}}, true}, Case{nullptr, nullptr, true},
                        Case{{{"k", "v"}}, own, false}, Case{{{"own", "1"}}, own, false}}) {
    const Json sent = job(c.labels, c.of_template);
    INFO(sent.dump());
    const Answer posted = send(w, "POST", jobs + "?dryRun=All", sent);
    REQUIRE(posted.code == 201);
    const Json& labels = posted.body["metadata"]["labels"];
    const Json& template_labels = posted.body["spec"]["template"]["metadata"]["labels"];
    CHECK(template_labels.contains("batch.kubernetes.io/job-name"));
    CHECK(labels == (c.shared ? template_labels : c.labels));
  }
  for (const bool shared : {true, false}) {
    const Json sent = job(shared ? Json::object() : own, own);
    const Answer applied = patch(w, jobs + "/j?dryRun=All&fieldManager=m", sent, kApply);
    REQUIRE(applied.code == 201);
    CHECK(applied.body["metadata"]["labels"] ==
          (shared ? applied.body["spec"]["template"]["metadata"]["labels"] : own));
  }
}

E2E_CASE("a field of a Pod is named by a path that is known, the host among them") {
  World w;
  const auto told = [&](const std::string& path) {
    const Answer answer =
        send(w, "POST", "/api/v1/namespaces/" + w.ns() + "/pods?dryRun=All",
             {{"metadata", {{"name", "p"}}},
              {"spec",
               {{"containers",
                 {{{"name", "c"},
                   {"image", "i"},
                   {"env",
                    {{{"name", "E"}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}}}}}}}}}});
    return answer.code == 201 ? "" : message(answer);
  };
  const std::string start =
      "Pod \"p\" is invalid: spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid "
      "value: ";
  const std::string why = ": error converting fieldPath: field label ";
  CHECK(told("spec.host").empty());
  CHECK(told("metadata.labels['a']").empty());
  CHECK(told("metadata.labels[']") ==
        start + "\"metadata.labels[']\"" + why + "not supported: metadata.labels[']");
  CHECK(told("a['b']") == start + "\"a['b']\"" + why + "does not support subscript: a['b']");
}

}  // namespace kubewatch::e2e
