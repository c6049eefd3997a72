// Pods and the templates of Pods.
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/json.hpp"
#include "builtin/default_rules.hpp"
#include "builtin/defaults_kinds.hpp"
#include "builtin/image_name.hpp"
#include "builtin/pod_resources.hpp"

namespace kubewatch::builtin {

namespace {

void default_pull_policy(Json& object, const char* policy, const char* image) {
  if (!is_unset(object, policy)) return;
  const bool latest = is_latest_image(base::string_at(object, {image}));
  object[policy] = latest ? "Always" : "IfNotPresent";
}

void default_probe(Json& probe) {
  static const DefaultRules rules = {
      {"timeoutSeconds", "1", kUnset},
      {"periodSeconds", "10", kUnset},
      {"successThreshold", "1", kUnset},
      {"failureThreshold", "3", kUnset},
      {"grpc.service", R"("")"},
      {"httpGet.path", R"("/")", kUnset},
      {"httpGet.scheme", R"("HTTP")", kUnset},
  };
  rules.apply(probe);
}

void default_container(Json& container) {
  if (!container.is_object()) return;
  static const DefaultRules rules = {
      {"terminationMessagePath", R"("/dev/termination-log")", kUnset},
      {"terminationMessagePolicy", R"("File")", kUnset},
      {"ports[].protocol", R"("TCP")", kUnset},
      {"env[].valueFrom.fieldRef.apiVersion", R"("v1")", kUnset},
      {"env[].valueFrom.fileKeyRef.optional", "false"},
      {"lifecycle.postStart.httpGet.path", R"("/")", kUnset},
      {"lifecycle.postStart.httpGet.scheme", R"("HTTP")", kUnset},
      {"lifecycle.preStop.httpGet.path", R"("/")", kUnset},
      {"lifecycle.preStop.httpGet.scheme", R"("HTTP")", kUnset},
  };
  rules.apply(container);
  default_pull_policy(container, "imagePullPolicy", "image");
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    for_each_at(container, probe, default_probe);
  }
}

void default_volume(Json& volume) {
  if (!volume.is_object()) return;
  bool sourced = false;
  for (const auto& [key, value] : volume.items()) sourced |= key != "name" && !value.is_null();
  if (!sourced) volume["emptyDir"] = Json::object();
  static const DefaultRules rules = {
      {"configMap.defaultMode", "420"},
      {"secret.defaultMode", "420"},
      {"downwardAPI.defaultMode", "420"},
      {"downwardAPI.items[].fieldRef.apiVersion", R"("v1")", kUnset},
      {"projected.defaultMode", "420"},
      {"projected.sources[].serviceAccountToken.expirationSeconds", "3600"},
      {"projected.sources[].downwardAPI.items[].fieldRef.apiVersion", R"("v1")", kUnset},
  };
  rules.apply(volume);
  default_volume_source(volume);
  for_each_at(volume, "ephemeral.volumeClaimTemplate.spec", default_claim_spec);
  for_each_at(volume, "image", [](Json& image) {
    if (image.is_object()) default_pull_policy(image, "pullPolicy", "reference");
  });
}

// The older of the two names of the account is kept beside the newer one.
void mirror_service_account(Json& spec) {
  if (is_unset(spec, "serviceAccountName") && !is_unset(spec, "serviceAccount")) {
    spec["serviceAccountName"] = spec["serviceAccount"];
  }
  if (!is_unset(spec, "serviceAccountName")) spec["serviceAccount"] = spec["serviceAccountName"];
}

void default_pod_spec(Json& spec) {
  if (!spec.is_object()) return;
  static const DefaultRules rules = {
      {"dnsPolicy", R"("ClusterFirst")", kUnset},
      {"restartPolicy", R"("Always")", kUnset},
      {"securityContext", "{}"},
      {"terminationGracePeriodSeconds", "30"},
      {"schedulerName", R"("default-scheduler")", kUnset},
  };
  rules.apply(spec);
  for_each_at(spec, "volumes[]", default_volume);
  for (const char* list : {"containers[]", "initContainers[]", "ephemeralContainers[]"}) {
    for_each_at(spec, list, default_container);
  }
  mirror_service_account(spec);
}

// The ports of the host's network are the host's.
void default_host_ports(Json& spec) {
  if (spec.value("hostNetwork", Json()) != true) return;
  for (const char* ports : {"containers[].ports[]", "initContainers[].ports[]"}) {
    for_each_at(spec, ports, [](Json& port) {
      if (!port.is_object() || !is_unset(port, "hostPort")) return;
      if (!is_unset(port, "containerPort")) port["hostPort"] = port["containerPort"];
    });
  }
}

// The addresses of a status: the first of the list has a field of its own.
void mirror_pod_ip(Json& status) {
  if (!status.is_object()) return;
  const Json* listed = base::find(status, {"podIPs"});
  const bool any = listed != nullptr && listed->is_array() && !listed->empty();
  const std::string ip = base::string_at(status, {"podIP"});
  if (!ip.empty() && (!any || base::string_at(listed->front(), {"ip"}) != ip)) {
    status["podIPs"] = Json::array({{{"ip", ip}}});
  } else if (ip.empty() && any) {
    status["podIP"] = base::string_at(listed->front(), {"ip"});
  }
}

}  // namespace

void default_volume_source(Json& source) {
  static const DefaultRules rules = {
      {"hostPath.type", R"("")"},
      {"iscsi.iscsiInterface", R"("default")", kUnset},
      {"rbd.pool", R"("rbd")", kUnset},
      {"rbd.user", R"("admin")", kUnset},
      {"rbd.keyring", R"("/etc/ceph/keyring")", kUnset},
      {"azureDisk.cachingMode", R"("ReadWrite")"},
      {"azureDisk.kind", R"("Shared")"},
      {"azureDisk.fsType", R"("ext4")"},
      {"azureDisk.readOnly", "false"},
      {"scaleIO.storageMode", R"("ThinProvisioned")", kUnset},
      {"scaleIO.fsType", R"("xfs")", kUnset},
  };
  rules.apply(source);
}

void default_claim_spec(Json& spec) {
  static const DefaultRules rules = {{"volumeMode", R"("Filesystem")"}};
  rules.apply(spec);
}

void default_pod_template(Json& pod_template) {
  for_each_at(pod_template, "spec", default_pod_spec);
}

void default_pod(Json& pod) {
  static const DefaultRules rules = {{"spec.enableServiceLinks", "true"}};
  rules.apply(pod);
  for_each_at(pod, "spec", [](Json& spec) {
    if (!spec.is_object()) return;
    default_pod_spec(spec);
    default_pod_resources(spec);
    default_host_ports(spec);
    if (base::int_at(spec, {"terminationGracePeriodSeconds"}).value_or(0) < 0) {
      spec["terminationGracePeriodSeconds"] = 1;
    }
  });
  for_each_at(pod, "status", mirror_pod_ip);
}

}  // namespace kubewatch::builtin
