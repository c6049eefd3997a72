// The defaults of built-in kinds as clients meet them: in answers, after a field was taken away,
// and in managedFields. Each kind's own defaults are in tests/apiserver.
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

std::string core(World& w, const std::string& plural) {
  return "/api/v1/namespaces/" + w.ns() + "/" + plural;
}
std::string grouped(World& w, const std::string& version, const std::string& plural) {
  return "/apis/" + version + "/namespaces/" + w.ns() + "/" + plural;
}

Json object(const std::string& version, const std::string& kind, const std::string& name,
            const std::string& rest) {
  Json out = Json::parse(rest);
  out["apiVersion"] = version;
  out["kind"] = kind;
  out["metadata"]["name"] = name;
  return out;
}

const std::string kTemplate = R"({"metadata":{"labels":{"a":"b"}},
                                  "spec":{"containers":[{"name":"c","image":"i"}]}})";
const std::string kSelected = R"("selector":{"matchLabels":{"a":"b"}},"template":)" + kTemplate;

Json replica_set(const std::string& name, const std::string& more = "") {
  return object("apps/v1", "ReplicaSet", name, R"({"spec":{)" + more + kSelected + "}}");
}

// The entry of a manager; null: it owns nothing.
Json entry_of(const Answer& answer, const std::string& manager,
              const std::string& subresource = "") {
  const Json* entries = base::find(answer.body, {"metadata", "managedFields"});
  if (entries == nullptr) return nullptr;
  for (const Json& entry : *entries) {
    if (base::string_at(entry, {"manager"}) != manager) continue;
    if (entry.value("subresource", "") == subresource) return entry;
  }
  return nullptr;
}

// What a manager owns; null: nothing.
Json owned(const Answer& answer, const std::string& manager) {
  const Json entry = entry_of(answer, manager);
  return entry.is_null() ? entry : entry["fieldsV1"];
}

// What a Pod's spec owns that was written as a whole.
const char* const kOwnedSpec = R"("f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},
  "f:imagePullPolicy":{},"f:name":{},"f:resources":{},"f:terminationMessagePath":{},
  "f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},
  "f:securityContext":{},"f:terminationGracePeriodSeconds":{})";

struct Defaulted {
  std::string path;
  Json sent;
  std::string values;  // pointer -> value
};

std::vector<Defaulted> defaulted_objects(World& w) {
  const std::string scaler = R"({"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1",
                                "kind":"Deployment","name":"d"}})";
  return {
      {core(w, "pods"),
       object("v1", "Pod", "p", R"({"spec":{"containers":[{"name":"c","image":"i:v",
         "resources":{"limits":{"cpu":"1","memory":"1Gi"}},
         "livenessProbe":{"httpGet":{"port":80}}}],
         "volumes":[{"name":"a"},{"name":"b","configMap":{"name":"m"}}]}})"),
       R"({"/spec/containers/0/imagePullPolicy":"IfNotPresent",
           "/spec/containers/0/resources/requests":{"cpu":"1","memory":"1Gi"},
           "/spec/containers/0/livenessProbe/periodSeconds":10,
           "/spec/containers/0/livenessProbe/httpGet/path":"/",
           "/spec/volumes/0/emptyDir":{},"/spec/volumes/1/configMap/defaultMode":420,
           "/spec/enableServiceLinks":true,"/spec/priority":0,
           "/spec/tolerations/1/key":"node.kubernetes.io/unreachable",
           "/status":{"phase":"Pending","qosClass":"Guaranteed"}})"},
      {grouped(w, "apps/v1", "deployments"),
       object("apps/v1", "Deployment", "d", R"({"spec":{)" + kSelected + "}}"),
       R"({"/spec/replicas":1,"/spec/revisionHistoryLimit":10,"/spec/progressDeadlineSeconds":600,
           "/spec/strategy":{"type":"RollingUpdate",
                             "rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}},
           "/spec/template/spec/restartPolicy":"Always","/status":{}})"},
      {grouped(w, "apps/v1", "daemonsets"),
       object("apps/v1", "DaemonSet", "d", R"({"spec":{)" + kSelected + "}}"),
       R"({"/spec/updateStrategy/rollingUpdate":{"maxSurge":0,"maxUnavailable":1},
           "/metadata/annotations":{"deprecated.daemonset.template.generation":"1"},
           "/status/numberReady":0})"},
      {grouped(w, "apps/v1", "statefulsets"),
       object("apps/v1", "StatefulSet", "s", R"({"spec":{)" + kSelected + "}}"),
       R"({"/spec/podManagementPolicy":"OrderedReady","/spec/serviceName":"",
           "/spec/updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0}}})"},
      {grouped(w, "batch/v1", "cronjobs"),
       object("batch/v1", "CronJob", "c", R"({"spec":{"schedule":"0 0 1 1 *","jobTemplate":{"spec":
         {"template":{"spec":{"restartPolicy":"Never",
         "containers":[{"name":"c","image":"i"}]}}}}}})"),
       R"({"/spec/concurrencyPolicy":"Allow","/spec/successfulJobsHistoryLimit":3,
           "/spec/jobTemplate/metadata":{},"/spec/suspend":false})"},
      {grouped(w, "autoscaling/v2", "horizontalpodautoscalers"),
       object("autoscaling/v2", "HorizontalPodAutoscaler", "h", R"({"spec":)" + scaler + "}"),
       R"({"/spec/minReplicas":1,"/spec/metrics/0/resource/target/averageUtilization":80,
           "/status":{"desiredReplicas":0,"currentMetrics":null}})"},
      {grouped(w, "networking.k8s.io/v1", "networkpolicies"),
       object("networking.k8s.io/v1", "NetworkPolicy", "n",
              R"({"spec":{"podSelector":{},"egress":[{"ports":[{"port":80}]}]}})"),
       R"({"/spec/policyTypes":["Ingress","Egress"],"/spec/egress/0/ports/0/protocol":"TCP"})"},
      {core(w, "persistentvolumeclaims"),
       object("v1", "PersistentVolumeClaim", "c",
              R"({"spec":{"accessModes":["ReadWriteOnce"],
                          "resources":{"requests":{"storage":"1Gi"}}}})"),
       R"({"/spec/volumeMode":"Filesystem","/status/phase":"Pending"})"},
      {core(w, "limitranges"),
       object("v1", "LimitRange", "l",
              R"({"spec":{"limits":[{"type":"Container","max":{"cpu":"2"},
         "min":{"memory":"1Mi"}}]}})"),
       R"({"/spec/limits/0/default":{"cpu":"2"},
           "/spec/limits/0/defaultRequest":{"cpu":"2","memory":"1Mi"}})"},
      {grouped(w, "rbac.authorization.k8s.io/v1", "rolebindings"),
       object("rbac.authorization.k8s.io/v1", "RoleBinding", "r",
              R"({"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"}]})"),
       R"({"/roleRef/apiGroup":"rbac.authorization.k8s.io",
           "/subjects/0/apiGroup":"rbac.authorization.k8s.io"})"},
      {grouped(w, "discovery.k8s.io/v1", "endpointslices"),
       object("discovery.k8s.io/v1", "EndpointSlice", "e",
              R"({"addressType":"IPv4","endpoints":[{"addresses":["1.2.3.4"]}]})"),
       R"({"/endpoints/0/conditions":{},"/ports":null})"},
      {grouped(w, "rbac.authorization.k8s.io/v1", "roles"),
       object("rbac.authorization.k8s.io/v1", "Role", "r", "{}"), R"({"/rules":null})"},
      {core(w, "services"),
       object("v1", "Service", "s", R"({"spec":{"selector":{"a":"b"},"ports":[{"port":80}]}})"),
       R"({"/spec/type":"ClusterIP","/spec/sessionAffinity":"None",
           "/spec/ports/0":{"port":80,"protocol":"TCP","targetPort":80},
           "/spec/internalTrafficPolicy":"Cluster","/spec/ipFamilies":["IPv4"],
           "/spec/ipFamilyPolicy":"SingleStack","/status":{"loadBalancer":{}}})"},
  };
}

}  // namespace

E2E_CASE("built-in kinds have their defaults from their creation on") {
  World w;
  for (const Defaulted& one : defaulted_objects(w)) {
    const Answer made = send(w, "POST", one.path + "?dryRun=All", one.sent);
    CAPTURE(one.path, base::dump_json(made.body));
    REQUIRE(made.code == 201);
    const Json values = Json::parse(one.values);
    for (const auto& [path, value] : values.items()) {
      CAPTURE(path);
      const Json::json_pointer at(path);
      REQUIRE(made.body.contains(at));
      CHECK(made.body[at] == value);
    }
  }
}

E2E_CASE("a field that is taken away gets its default again") {
  World w;
  const std::string sets = grouped(w, "apps/v1", "replicasets");
  REQUIRE(send(w, "POST", sets, replica_set("r", R"("replicas":0,)")).code == 201);
  const Answer put = send(w, "PUT", sets + "/r?fieldManager=n", replica_set("r"));
  REQUIRE(put.code == 200);
  CHECK(put.body["spec"]["replicas"] == 1);
  CHECK(owned(put, "n") == Json::parse(R"({"f:spec":{"f:replicas":{}}})"));
  REQUIRE(patch(w, sets + "/r", {{"spec", {{"replicas", 0}}}}).code == 200);
  const Answer patched = patch(w, sets + "/r?fieldManager=k", {{"spec", {{"replicas", nullptr}}}});
  CHECK(patched.body["spec"]["replicas"] == 1);
  CHECK(owned(patched, "k") == Json::parse(R"({"f:spec":{"f:replicas":{}}})"));
  const std::string services = core(w, "services");
  REQUIRE(
      send(w, "POST", services, object("v1", "Service", "s", R"({"spec":{"ports":[{"port":80}]}})"))
          .code == 201);
  const Answer affinity = patch(w, services + "/s", {{"spec", {{"sessionAffinity", nullptr}}}});
  CHECK(affinity.body["spec"]["sessionAffinity"] == "None");
}

E2E_CASE("who sends an object owns its defaults, who applies it does not") {
  World w;
  const std::string pods = core(w, "pods");
  const auto pod = [](const std::string& name) {
    return object("v1", "Pod", name, R"({"spec":{"containers":[{"name":"c","image":"i"}]}})");
  };
  const Answer posted = send(w, "POST", pods + "?fieldManager=m", pod("a"));
  // Neither the priority nor the tolerations, which admission adds.
  CHECK(owned(posted, "m") ==
        Json::parse(R"({"f:spec":{"f:enableServiceLinks":{},)" + std::string(kOwnedSpec) + "}}"));
  const Answer applied = patch(w, pods + "/b?fieldManager=m", pod("b"), kApply);
  REQUIRE(applied.code == 201);
  CHECK(owned(applied, "m") == Json::parse(R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":
                                 {".":{},"f:image":{},"f:name":{}}}}})"));
  CHECK(applied.body["spec"]["containers"][0]["imagePullPolicy"] == "Always");
  const Answer again = patch(w, pods + "/b?fieldManager=m", pod("b"), kApply);
  CHECK(again.body["metadata"]["resourceVersion"] == applied.body["metadata"]["resourceVersion"]);
}

E2E_CASE("what objects show anyway is owned by nobody") {
  World w;
  const Answer role =
      send(w, "POST", grouped(w, "rbac.authorization.k8s.io/v1", "roles") + "?fieldManager=m",
           object("rbac.authorization.k8s.io/v1", "Role", "r", "{}"));
  CHECK(role.code == 201);
  CHECK(owned(role, "m") == nullptr);
  const Answer service = send(w, "POST", core(w, "services") + "?fieldManager=m",
                              object("v1", "Service", "s", R"({"spec":{"ports":[{"port":80}]}})"));
  CHECK(owned(service, "m") ==
        Json::parse(R"({"f:spec":{"f:internalTrafficPolicy":{},"f:ports":{".":{},
          "k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:protocol":{},
          "f:targetPort":{}}},"f:sessionAffinity":{},"f:type":{}}})"));
}

E2E_CASE("an empty list is owned by who sends it where the server always shows one") {
  World w;
  const auto owned_of = [&](const std::string& path, const Json& sent) {
    const Answer made = send(w, "POST", path + "?fieldManager=m&dryRun=All", sent);
    CAPTURE(path, base::dump_json(made.body));
    REQUIRE(made.code == 201);
    return std::pair{owned(made, "m"), made.body};
  };
  const std::string rbac = "rbac.authorization.k8s.io/v1";
  for (const char* kind : {"Role", "ClusterRole"}) {
    const bool cluster = std::string(kind) == "ClusterRole";
    const std::string path =
        cluster ? "/apis/" + rbac + "/clusterroles" : grouped(w, rbac, "roles");
    const auto [fields, shown] = owned_of(path, object(rbac, kind, w.ns(), R"({"rules":[]})"));
    CHECK(fields == Json::parse(R"({"f:rules":{}})"));
    CHECK(shown["rules"].is_null());
  }
  const auto [fields, shown] =
      owned_of(grouped(w, "discovery.k8s.io/v1", "endpointslices"),
               object("discovery.k8s.io/v1", "EndpointSlice", "e",
                      R"({"addressType":"IPv4","endpoints":[],"ports":[]})"));
  CHECK(fields == Json::parse(R"({"f:addressType":{},"f:endpoints":{},"f:ports":{}})"));
  CHECK(shown["endpoints"].is_null());
  const std::string roles = grouped(w, rbac, "roles");
  const Json role = object(rbac, "Role", "r", R"({"rules":[]})");
  const Answer made = send(w, "POST", roles + "?fieldManager=m", role);
  const Answer again = send(w, "PUT", roles + "/r?fieldManager=m", role);
  CHECK(again.code == 200);
  CHECK(owned(again, "m") == owned(made, "m"));
}

E2E_CASE("lists that are null within others are owned, be they sent or not") {
  World w;
  const std::string group = "resource.k8s.io/v1";
  const Json claim = object(group, "ResourceClaim", "c", R"({"spec":{"devices":{"requests":[]}}})");
  const Answer claimed =
      send(w, "POST", grouped(w, group, "resourceclaims") + "?fieldManager=m&dryRun=All", claim);
  REQUIRE(claimed.code == 201);
  CHECK(owned(claimed, "m") == Json::parse(R"({"f:spec":{"f:devices":{"f:requests":{}}}})"));
  const Json node = object("storage.k8s.io/v1", "CSINode", w.ns(),
                           R"({"spec":{"drivers":[{"name":"d.io","nodeID":"x"}]}})");
  const Answer made =
      send(w, "POST", "/apis/storage.k8s.io/v1/csinodes?fieldManager=m&dryRun=All", node);
  REQUIRE(made.code == 201);
  CHECK(owned(made, "m")["f:spec"]["f:drivers"][R"(k:{"name":"d.io"})"] ==
        Json::parse(R"({".":{},"f:name":{},"f:nodeID":{},"f:topologyKeys":{}})"));
}

E2E_CASE("annotations of an autoscaler are read whole, with the types of what they tell, or not") {
  World w;
  const std::string scalers = grouped(w, "autoscaling/v1", "horizontalpodautoscalers");
  const auto answer = [&](const char* key, const std::string& text) {
    Json scaler = object("autoscaling/v1", "HorizontalPodAutoscaler", "s", R"({"spec":{
        "maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment",
        "name":"d"}}})");
    scaler["metadata"]["annotations"] = {
        {std::string("autoscaling.alpha.kubernetes.io/") + key, text}};
    return send(w, "POST", scalers + "?dryRun=All", scaler);
  };
  const auto share_with = [&](const std::string& selector) {
    const std::string metric = R"([{"type":"Pods","pods":{"metricName":"m",)"
                               R"("targetAverageValue":"1","selector":)" +
                               selector + "}}]";
    return answer("metrics", metric).body["spec"].value("targetCPUUtilizationPercentage", 0);
  };
  for (const char* unread :
       {R"({"matchLabels":{"a":5}})", R"({"matchLabels":"x"})", R"({"matchExpressions":[5]})",
        R"({"matchExpressions":"abc"})", R"({"matchExpressions":{"a":1}})"}) {
    CAPTURE(unread);
    CHECK(share_with(unread) == 80);
  }
  CHECK(share_with(R"({"matchLabels":{"a":null}})") == 0);
  const Answer large = answer("metrics", R"([{"type":"Resource","resource":{"name":"cpu",
      "targetAverageUtilization":18446744073709551615}}])");
  CHECK(large.code == 201);
  CHECK(tells(told_by_server(answer("metrics", "[null]").body), "spec.metrics[0].type",
              "must specify a metric source type"));
  CHECK(tells(told_by_server(answer("behavior", R"({"ScaleUp":{"Policies":[null]}})").body),
              "spec.behavior.scaleUp.policies[0].value", "must be greater than zero"));
}

E2E_CASE("an APIService shows no certificates where it has none") {
  World w;
  const Json service = object("apiregistration.k8s.io/v1", "APIService", "v1.kw.io", R"({"spec":{
      "group":"kw.io","version":"v1","groupPriorityMinimum":100,"versionPriority":10,
      "caBundle":""}})");
  const Answer made = send(
      w, "POST", "/apis/apiregistration.k8s.io/v1/apiservices?fieldManager=m&dryRun=All", service);
  REQUIRE(made.code == 201);
  CHECK_FALSE(made.body["spec"].contains("caBundle"));
  CHECK_FALSE(owned(made, "m")["f:spec"].contains("f:caBundle"));
}

E2E_CASE("a volume's claim is owned by its fields, and a binding's actions with their set") {
  World w;
  const std::string volumes = "/api/v1/persistentvolumes";
  const Json volume = object("v1", "PersistentVolume", w.ns(), R"({"spec":{
      "capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/a"},
      "claimRef":{"namespace":"n","name":"c"}}})");
  const Answer made = send(w, "POST", volumes + "?fieldManager=m&dryRun=All", volume);
  REQUIRE(made.code == 201);
  CHECK(owned(made, "m")["f:spec"]["f:claimRef"] ==
        Json::parse(R"({".":{},"f:name":{},"f:namespace":{}})"));
  const std::string bindings =
      "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
  const Json binding =
      object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", w.ns(),
             R"({"spec":{"policyName":"p","validationActions":["Audit"]}})");
  const Answer bound = send(w, "POST", bindings + "?fieldManager=m&dryRun=All", binding);
  REQUIRE(bound.code == 201);
  CHECK(owned(bound, "m")["f:spec"]["f:validationActions"] ==
        Json::parse(R"({".":{},"v:\"Audit\"":{}})"));
}

E2E_CASE("who writes a scale owns the replicas, at no time") {
  World w;
  const std::string sets = grouped(w, "apps/v1", "replicasets");
  REQUIRE(send(w, "POST", sets + "?fieldManager=m", replica_set("r", R"("replicas":0,)")).code ==
          201);
  const auto scaled = [&](const char* manager, const Json& body, const char* type) {
    const std::string url = sets + "/r/scale?force=true&fieldManager=" + manager;
    CHECK(patch(w, type == kApply ? url : sets + "/r/scale?fieldManager=" + manager, body, type)
              .code == 200);
    return entry_of(send(w, "GET", sets + "/r", Json()), manager, "scale");
  };
  const Json merged = scaled("k", {{"spec", {{"replicas", 1}}}}, kMerge);
  CHECK(merged["fieldsV1"] == Json::parse(R"({"f:spec":{"f:replicas":{}}})"));
  CHECK_FALSE(merged.contains("time"));
  const Json scale = object("autoscaling/v1", "Scale", "r", R"({"spec":{"replicas":0}})");
  const Json applied = scaled("a", scale, kApply);
  CHECK(applied["operation"] == "Apply");
  CHECK_FALSE(applied.contains("time"));
}

E2E_CASE("a field that is no longer applied gets its default again, and the status has its own") {
  World w;
  const std::string sets = grouped(w, "apps/v1", "replicasets");
  const std::string one = sets + "/r?fieldManager=m";
  REQUIRE(patch(w, one, replica_set("r", R"("replicas":0,)"), kApply).code == 201);
  const Answer without = patch(w, one, replica_set("r"), kApply);
  CHECK(without.body["spec"]["replicas"] == 1);
  CHECK_FALSE(owned(without, "m")["f:spec"].contains("f:replicas"));
  // The controller may have written a status meanwhile, in which no count may exceed replicas.
  const Answer status = patch(w, sets + "/r/status",
                              {{"status",
                                {{"replicas", nullptr},
                                 {"fullyLabeledReplicas", nullptr},
                                 {"readyReplicas", nullptr},
                                 {"availableReplicas", nullptr}}}});
  CHECK(status.code == 200);
  CHECK(status.body["status"]["replicas"] == 0);
}

E2E_CASE("a Service keeps its address until its type has none") {
  World w;
  const std::string services = core(w, "services");
  const std::string one = services + "/s";
  const Json sent =
      object("v1", "Service", "s", R"({"spec":{"selector":{"a":"b"},"ports":[{"port":80}]}})");
  const Answer made = send(w, "POST", services, sent);
  REQUIRE(made.code == 201);
  const Json ip = made.body["spec"]["clusterIP"];
  CHECK(made.body["spec"]["clusterIPs"] == Json::array({ip}));
  CHECK(send(w, "PUT", one, sent).body["spec"]["clusterIP"] == ip);
  Json other = sent;
  other["metadata"]["name"] = "t";
  other["spec"]["clusterIP"] = ip;
  const Answer taken = send(w, "POST", services, other);
  CHECK(taken.code == 422);
  CHECK(tells(
      told_by_server(taken.body), "spec.clusterIPs",
      "failed to allocate IP " + ip.get<std::string>() + ": provided IP is already allocated"));
  const Answer node_port = patch(w, one, {{"spec", {{"type", "NodePort"}}}});
  CHECK(node_port.body["spec"]["ports"][0].value("nodePort", 0) >= 30000);
  const Answer named =
      patch(w, one, {{"spec", {{"type", "ExternalName"}, {"externalName", "a.b"}}}});
  CHECK(named.code == 200);
  CHECK_FALSE(named.body["spec"].contains("clusterIP"));
  CHECK_FALSE(named.body["spec"]["ports"][0].contains("nodePort"));
  other["spec"]["clusterIP"] = "192.0.2.1";
  CHECK(tells(told_by_server(send(w, "POST", services, other).body), "spec.clusterIPs",
              "failed to allocate IP 192.0.2.1: the provided network does not match the current "
              "range"));
}

}  // namespace kubewatch::e2e
