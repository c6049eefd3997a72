// What the server refuses of the sources of volumes, of classes and Nodes that change, of metadata
// in templates, and of states that others tell; all in its words.
#include <string>

#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

Json source_object(const char* version, const char* kind, const std::string& name,
                   const std::string& rest) {
  Json out = {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}}}};
  out.merge_patch(Json::parse(rest));
  return out;
}

// Without `Kind "name" is invalid: `; "" of what is taken.
std::string refusal(const Answer& answer) {
  const std::string text = message(answer);
  const std::string start = " is invalid: ";
  const std::size_t at = text.find(start);
  return at == std::string::npos ? text : text.substr(at + start.size());
}

std::string told_of_volume(World& w, const std::string& sources) {
  Json volume = source_object("v1", "PersistentVolume", "kw", R"({"spec":{
      "capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"]}})");
  volume["spec"].update(Json::parse(sources));
  return refusal(send(w, "POST", "/api/v1/persistentvolumes?dryRun=All", volume));
}

std::string told_of_pod_volume(World& w, const std::string& source) {
  Json pod = source_object("v1", "Pod", "kw", R"({"spec":{
      "containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v"}]}})");
  pod["spec"]["volumes"][0].update(Json::parse(source));
  return refusal(send(w, "POST", "/api/v1/namespaces/" + w.ns() + "/pods?dryRun=All", pod));
}

struct SourceCase {
  std::string source = "";
  std::string told = "";
};

std::string told_of_patch(World& w, const std::string& path, const std::string& body) {
  return refusal(send_text(w, "PATCH", path + "?dryRun=All", body, kMerge));
}

// Of the whole cluster, and gone with the case.
class LentObject {
 public:
  LentObject(World& w, const std::string& all, const Json& object)
      : w_(w), path_(all + "/" + base::string_at(object, {"metadata", "name"})) {
    made(w, all, object);
  }
  LentObject(const LentObject&) = delete;
  LentObject& operator=(const LentObject&) = delete;
  ~LentObject() { send(w_, "DELETE", path_); }
  std::string told(const std::string& body, const std::string& below = "") const {
    return told_of_patch(w_, path_ + below, body);
  }

 private:
  World& w_;
  std::string path_;
};

constexpr const char* kLabelForm =
    ": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kNameForm =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr const char* kBlob =
    "supported values: \"https://{account-name}.blob.core.windows.net/{container-name}/"
    "{disk-name}.vhd\"";

}  // namespace

E2E_CASE("sources of PersistentVolumes are judged kind by kind, in the server's words") {
  World w;
  const std::string good = R"("targetPortal":"a","iqn":"iqn.2015-02.example.com:test","lun":1)";
  const SourceCase cases[] = {
      {R"({"gcePersistentDisk":{"partition":300}})",
       "[spec.persistentDisk.pdName: Required value, spec.persistentDisk.partition: Invalid value: "
       "300: must be between 1 and 255, inclusive]"},
      {R"({"awsElasticBlockStore":{"volumeID":"a","partition":-1}})",
       "spec.awsElasticBlockStore.partition: Invalid value: -1: must be between 1 and 255, "
       "inclusive"},
      {R"({"glusterfs":{"endpoints":"a","path":"b","endpointsNamespace":"A_b"}})",
       std::string("spec.glusterfs.endpointsNamespace: Invalid value: \"A_b\"") + kLabelForm},
      {R"({"flocker":{"datasetName":"a/b","datasetUUID":"c"}})",
       "[spec.flocker: Invalid value: \"resource\": datasetName and datasetUUID can not be "
       "specified simultaneously, spec.flocker.datasetName: Invalid value: \"a/b\": must not "
       "contain '/']"},
      {R"({"quobyte":{"registry":"[::1]:2,a:1:2","volume":"v"}})",
       "spec.quobyte.registry: Invalid value: \"[::1]:2,a:1:2\": must be a host:port pair or "
       "multiple pairs separated by commas"},
      {R"({"quobyte":{"registry":"[::1]:2,:","volume":"v"}})", ""},
      {R"({"cephfs":{"monitors":["a"]},"hostPath":{"path":"/a"}})",
       "spec.cephFS: Forbidden: may not specify more than 1 volume type"},
      {R"({"flexVolume":{"driver":"a/b"},"hostPath":{"path":"/a"}})", ""},
      {R"({"flexVolume":{"driver":"a/b"},"azureFile":{"secretName":"a","shareName":"b"}})",
       "spec.azureFile: Forbidden: may not specify more than 1 volume type"},
      {R"({"flexVolume":{"driver":"","options":{"x.K8S.io/a":"b","xk8s.io/a":"b"}}})",
       "[spec.flexVolume.driver: Required value, spec.flexVolume.options[x.K8S.io/a]: Invalid "
       "value: \"x.K8S.io/a\": kubernetes.io and k8s.io namespaces are reserved]"},
      {R"({"iscsi":{"targetPortal":"","iqn":"iqn.x","lun":300,"chapAuthSession":true}})",
       "[spec.iscsi.targetPortal: Required value, spec.iscsi.iqn: Invalid value: \"iqn.x\": must "
       "be valid format, spec.iscsi.lun: Invalid value: 300: must be between 0 and 255, inclusive, "
       "spec.iscsi.secretRef: Required value]"},
      {"{\"iscsi\":{" + good + R"(,"secretRef":{"namespace":"x"},"initiatorName":"eui.x"}})",
       "[spec.iscsi.secretRef.name: Required value, spec.iscsi.initiatorname: Invalid value: "
       "\"eui.x\": must be valid format]"},
      {"{\"iscsi\":{" + good + R"(,"initiatorName":"eui.0123456789abcdef"}})", ""},
      {R"({"cinder":{"volumeID":"a","secretRef":{"name":"x"}}})",
       "spec.cinder.secretRef.namespace: Required value"},
      {R"({"fc":{"targetWWNs":["a"],"wwids":["b"],"lun":-1}})",
       "[spec.fc.targetWWNs: Invalid value: [\"a\"]: targetWWNs and wwids can not be specified "
       "simultaneously, spec.fc.lun: Invalid value: -1: must be between 0 and 255, inclusive]"},
      {R"({"azureFile":{"secretName":"a","shareName":"b","secretNamespace":""}})",
       "spec.azureFile.secretNamespace: Required value"},
      {R"({"azureDisk":{"diskName":"a","diskURI":"x","cachingMode":"y","kind":"z"}})",
       std::string("[spec.azureDisk.cachingMode: Unsupported value: \"y\": supported values: "
                   "\"None\", \"ReadOnly\", \"ReadWrite\", spec.azureDisk.kind: Unsupported "
                   "value: \"z\": supported values: \"Dedicated\", \"Managed\", \"Shared\", "
                   "spec.azureDisk.diskURI: Unsupported value: \"x\": ") +
           kBlob + "]"},
      {R"({"storageos":{"volumeName":"A_b","secretRef":{"name":"x"}}})",
       std::string("[spec.storageos.volumeName: Invalid value: \"A_b\"") + kLabelForm +
           ", spec.storageos.secretRef.namespace: Required value]"},
  };
  for (const SourceCase& one : cases) {
    CAPTURE(one.source);
    CHECK(told_of_volume(w, one.source) == one.told);
  }
}

E2E_CASE("sources of Pods' volumes, and the metadata of what is made of them, are judged") {
  World w;
  const std::string at = "spec.volumes[0].";
  const SourceCase cases[] = {
      {R"({"awsElasticBlockStore":{"volumeID":"a","partition":300}})",
       at + "awsElasticBlockStore.partition: Invalid value: 300: must be between 1 and 255, "
            "inclusive"},
      {R"({"flocker":{"datasetName":"a/b"}})",
       at + "flocker.datasetName: Invalid value: \"a/b\": must not contain '/'"},
      {R"({"iscsi":{"targetPortal":"a","iqn":"naa.x","lun":1,"initiatorName":"x"}})",
       "[" + at + "iscsi.iqn: Invalid value: \"naa.x\": must be valid format, " + at +
           "iscsi.initiatorname: Invalid value: \"x\": must be valid format starting with iqn, "
           "eui, or naa]"},
      {R"({"ephemeral":{"volumeClaimTemplate":{"metadata":{"uid":"x","generation":1,"selfLink":"y",
          "creationTimestamp":"2020-01-01T00:00:00Z","deletionGracePeriodSeconds":5},
          "spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}}}})",
       "[" + at + "ephemeral.volumeClaimTemplate.metadata.selfLink: Forbidden: cannot be set, " +
           at + "ephemeral.volumeClaimTemplate.metadata.uID: Forbidden: cannot be set, " + at +
           "ephemeral.volumeClaimTemplate.metadata.generation: Forbidden: cannot be set, " + at +
           "ephemeral.volumeClaimTemplate.metadata.creationTimestamp: Forbidden: cannot be set, " +
           at +
           "ephemeral.volumeClaimTemplate.metadata.deletionGracePeriodSeconds: Forbidden: cannot "
           "be set]"},
  };
  for (const SourceCase& one : cases) {
    CAPTURE(one.source);
    CHECK(told_of_pod_volume(w, one.source) == one.told);
  }
  CHECK(refusal(send(
            w, "POST",
            "/apis/resource.k8s.io/v1/namespaces/" + w.ns() + "/resourceclaimtemplates?dryRun=All",
            source_object("resource.k8s.io/v1", "ResourceClaimTemplate", "kw",
                          R"({"spec":{"metadata":{"name":"a","namespace":"c"},
                                       "spec":{"devices":{}}}})"))) ==
        "[spec.metadata.name: Forbidden: cannot be set, spec.metadata.namespace: Forbidden: cannot "
        "be set]");
}

E2E_CASE("RuntimeClasses and StorageClasses are judged as a whole when they change") {
  World w;
  const LentObject runtime(
      w, "/apis/node.k8s.io/v1/runtimeclasses",
      source_object("node.k8s.io/v1", "RuntimeClass", w.ns(), R"({"handler":"a"})"));
  CHECK(runtime.told(R"({"overhead":{"podFixed":{"k":"1"}}})") ==
        "[overhead.limits[k]: Invalid value: \"k\": must be a standard resource type or fully "
        "qualified, overhead.limits[k]: Invalid value: \"k\": must be a standard resource for "
        "containers]");
  CHECK(runtime.told(R"({"overhead":{"podFixed":{"hugepages-2Mi":"1Mi"}}})") ==
        "[overhead.limits[hugepages-2Mi]: Invalid value: \"1Mi\": 1Mi is not positive integer "
        "multiple of hugepages-2Mi, overhead: Forbidden: HugePages require cpu or memory]");
  CHECK(runtime.told(R"({"scheduling":{"nodeSelector":{"a b":"c"}}})") ==
        std::string("scheduling.nodeSelector: Invalid value: \"a b\": ") + kNameForm);
  CHECK(runtime.told(R"({"scheduling":{"tolerations":[{"key":"a","operator":"Exists"},
                        {"key":"a","operator":"Exists"}]}})") ==
        "scheduling.tolerations[1]: Duplicate value: "
        "{\"Key\":\"a\",\"Operator\":\"Exists\",\"Value\":\"\",\"Effect\":\"\","
        "\"TolerationSeconds\":null}");
  CHECK(runtime.told(R"({"handler":""})") ==
        "[handler: Required value, handler: Invalid value: \"\": field is immutable]");
  const LentObject storage(
      w, "/apis/storage.k8s.io/v1/storageclasses",
      source_object("storage.k8s.io/v1", "StorageClass", w.ns(), R"({"provisioner":"a"})"));
  CHECK(storage.told(R"({"reclaimPolicy":"x"})") ==
        "[reclaimPolicy: Unsupported value: \"x\": supported values: \"Delete\", \"Retain\", "
        "reclaimPolicy: Invalid value: \"x\": field is immutable]");
  CHECK(storage.told(R"({"allowedTopologies":[{}]})") ==
        "allowedTopologies[0].matchLabelExpressions: Duplicate value: \"\"");
  CHECK(storage.told(R"({"allowedTopologies":[
            {"matchLabelExpressions":[{"key":"a","values":["b","c"]}]},
            {"matchLabelExpressions":[{"key":"a","values":["c","b"]}]}]})") ==
        "allowedTopologies[1].matchLabelExpressions: Duplicate value: \"\"");
}

E2E_CASE("the ranges of a Node are judged when it changes, and its old identity stays") {
  World w;
  const LentObject node(w, "/api/v1/nodes", source_object("v1", "Node", w.ns(), "{}"));
  CHECK(node.told(R"({"spec":{"podCIDRs":["a"]}})") ==
        "spec.podCIDRs[0]: Invalid value: \"a\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or "
        "2001:db8::/64)");
  CHECK(node.told(R"({"spec":{"podCIDRs":["10.0.0.0/8","a"]}})") ==
        "[spec.podCIDRs[1]: Invalid value: \"a\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or "
        "2001:db8::/64), spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with "
        "dual stack with error:invalid CIDR[1]: <nil> (invalid CIDR address: a), spec.podCIDRs: "
        "Invalid value: [\"10.0.0.0/8\",\"a\"]: may specify no more than one CIDR for each IP "
        "family]");
  CHECK(node.told(R"({"spec":{"podCIDRs":["10.0.0.0/8","fd00::/64"]}})").empty());
  CHECK(node.told(R"({"spec":{"podCIDRs":["10.0.0.0/8","11.0.0.0/8"]}})") ==
        "spec.podCIDRs: Invalid value: [\"10.0.0.0/8\",\"11.0.0.0/8\"]: may specify no more than "
        "one CIDR for each IP family");
  CHECK(node.told(R"({"spec":{"externalID":"x"}})") ==
        "spec.externalID: Forbidden: may not be updated");
}

E2E_CASE("quotas by scope, tokens of drivers and states of quotas and scalers are judged") {
  World w;
  const std::string core = "/api/v1/namespaces/" + w.ns() + "/resourcequotas";
  CHECK(refusal(send(w, "POST", core + "?dryRun=All",
                     source_object("v1", "ResourceQuota", "kw", R"({"spec":{"hard":{"pods":"1"},
                         "scopeSelector":{"matchExpressions":[
                         {"scopeName":"VolumeAttributesClass","operator":"Exists"}]}}})"))) ==
        "spec.scopeSelector.matchExpressions: Invalid value: "
        "{\"MatchExpressions\":[{\"ScopeName\":\"VolumeAttributesClass\",\"Operator\":\"Exists\","
        "\"Values\":null}]}: unsupported scope applied to resource");
  made(w, core, source_object("v1", "ResourceQuota", "q", R"({"spec":{"hard":{"pods":"1"}}})"));
  CHECK(told_of_patch(w, core + "/q/status", R"({"status":{"hard":{"k":"1"}}})") ==
        "[status.hard[k]: Invalid value: \"k\": must be a standard resource type or fully "
        "qualified, status.hard[k]: Invalid value: \"k\": must be a standard resource for quota]");
  CHECK(refusal(send(w, "POST", "/apis/storage.k8s.io/v1/csidrivers?dryRun=All",
                     source_object("storage.k8s.io/v1", "CSIDriver", "kw", R"({"spec":{
                         "tokenRequests":[{"audience":"a","expirationSeconds":4294967297}]}})"))) ==
        "spec.tokenRequests[0].expirationSeconds: Invalid value: 4294967297: may not specify a "
        "duration larger than 2^32 seconds");
  const std::string scalers =
      "/apis/autoscaling/v2/namespaces/" + w.ns() + "/horizontalpodautoscalers";
  made(w, scalers,
       source_object("autoscaling/v2", "HorizontalPodAutoscaler", "h", R"({"spec":{"maxReplicas":3,
           "scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"}}})"));
  CHECK(told_of_patch(w, scalers + "/h/status",
                      R"({"status":{"currentReplicas":-1,"desiredReplicas":-2}})") ==
        "[status.currentReplicas: Invalid value: -1: must be greater than or equal to 0, "
        "status.desiredReplicas: Invalid value: -2: must be greater than or equal to 0]");
}

E2E_CASE("volumes of plugins that are gone, and old fields of Nodes and classes, are warned of") {
  World w;
  const auto warned = [&w](const std::string& all, const Json& object) {
    http::Request request;
    request.method = "POST";
    request.url = all + "?dryRun=All";
    request.headers.set("Content-Type", "application/json");
    request.body = base::dump_json(object);
    const http::Response answer = fetch(w, w.server().config(), std::move(request));
    CAPTURE(answer.body);
    CHECK(answer.status == 201);
    std::string out;
    for (const auto& [name, value] : answer.headers.all()) {
      if (value.starts_with("299 - ")) out += value.substr(6) + "\n";
    }
    return out;
  };
  CHECK(warned("/api/v1/persistentvolumes", source_object("v1", "PersistentVolume", "kw", R"({
      "metadata":{"annotations":{"volume.beta.kubernetes.io/mount-options":"a"}},
      "spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],
      "glusterfs":{"endpoints":"a","path":"b"},"nodeAffinity":{"required":{"nodeSelectorTerms":[
      {"matchExpressions":[{"key":"beta.kubernetes.io/os","operator":"Exists"}]}]}}}})")) ==
        "\"metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; "
        "use \\\"mountOptions\\\" attribute instead\"\n"
        "\"spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: "
        "beta.kubernetes.io/os is deprecated since v1.14; use \\\"kubernetes.io/os\\\" instead\"\n"
        "\"spec.glusterfs: deprecated in v1.25, non-functional in v1.26+\"\n");
  CHECK(warned("/api/v1/nodes",
               source_object("v1", "Node", "kw", R"({"spec":{"externalID":"x"}})")) ==
        "\"spec.externalID: this field is deprecated, and is unused by Kubernetes\"\n");
  CHECK(warned("/apis/node.k8s.io/v1/runtimeclasses",
               source_object("node.k8s.io/v1", "RuntimeClass", "kw", R"({"handler":"a",
                   "scheduling":{"nodeSelector":{"beta.kubernetes.io/arch":"c"}}})")) ==
        "\"scheduling.nodeSelector: deprecated since v1.14; use \\\"kubernetes.io/arch\\\" "
        "instead\"\n");
}

E2E_CASE("bytes that are no base64, and members of what has none, are refused; a name is made") {
  World w;
  const auto no_bytes = [&w](const std::string& api, const std::string& plural, const char* kind,
                             const std::string& rest) {
    const Answer answer = send(w, "POST", "/apis/" + api + "/" + plural + "?dryRun=All",
                               source_object(api.c_str(), kind, "kw", rest));
    CHECK(answer.code == 400);
    CHECK(message(answer) == std::string(kind) + " in version \"v1\" cannot be handled as a " +
                                 kind + ": illegal base64 data at input byte 3");
  };
  const std::string hooks = R"({"webhooks":[{"name":"a.b.c","sideEffects":"None",
      "clientConfig":{"url":"https://a","caBundle":"bad!"},"admissionReviewVersions":["v1"]}]})";
  const std::string admission = "admissionregistration.k8s.io/v1";
  no_bytes(admission, "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", hooks);
  no_bytes(admission, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", hooks);
  no_bytes("certificates.k8s.io/v1", "certificatesigningrequests", "CertificateSigningRequest",
           R"({"spec":{"request":"bad!","signerName":"a.b/c","usages":["any"]}})");
  const std::string definitions = "apiextensions.k8s.io/v1";
  const std::string plural = "customresourcedefinitions";
  const auto version = [](const char* status) {
    return std::string(R"("group":"b.io","scope":"Cluster","names":{"plural":"kws","kind":"Kw"},
        "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":)") +
           status + R"(},"schema":{"openAPIV3Schema":{"type":"object"}}}])";
  };
  no_bytes(definitions, plural, "CustomResourceDefinition", "{\"spec\":{" + version("{}") + R"(,
      "conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],
      "clientConfig":{"url":"https://a","caBundle":"bad!"}}}}})");
  CHECK(message(send(w, "POST",
                     "/apis/" + definitions + "/" + plural + "?dryRun=All&fieldValidation=Strict",
                     source_object(definitions.c_str(), "CustomResourceDefinition", "kws.b.io",
                                   "{\"spec\":{" + version(R"({"a":1})") + "}}"))) ==
        "CustomResourceDefinition in version \"v1\" cannot be handled as a "
        "CustomResourceDefinition: strict decoding error: unknown field "
        "\"spec.versions[0].subresources.status.a\"");
  const Json range = {
      {"apiVersion", "v1"}, {"kind", "LimitRange"}, {"spec", {{"limits", Json::array()}}}};
  const Json made_up = made(w, "/api/v1/namespaces/" + w.ns() + "/limitranges?dryRun=All", range);
  CHECK(base::string_at(made_up, {"metadata", "name"}).size() ==
        std::string("00000000-0000-0000-0000-000000000000").size());
}

}  // namespace kubewatch::e2e
