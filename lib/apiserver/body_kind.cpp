#include "apiserver/body_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "apiserver/builtin_kinds.hpp"
#include "base/strings.hpp"
#include "builtin/misread.hpp"

namespace kubewatch::apiserver {

namespace {

// Groups whose servers know their own kinds alone, and whose kinds the server of the others does
// not know.
bool stands_alone(const std::string& group) {
  return group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io";
}

struct KindsOfVersion {
  const char* version;
  const char* kinds;
  bool listed = true;
};

// What comes through subresources, is sent by clients alone or was served once.
constexpr KindsOfVersion kUnservedKinds[] = {
    {"v1",
     "Binding List NodeProxyOptions PodAttachOptions PodExecOptions PodLogOptions "
     "PodPortForwardOptions PodProxyOptions PodStatusResult RangeAllocation SerializedReference "
     "ServiceProxyOptions",
     false},
    {"admission.k8s.io/v1", "AdmissionReview", false},
    {"admission.k8s.io/v1beta1", "AdmissionReview", false},
    {"admissionregistration.k8s.io/v1alpha1",
     "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy "
     "ValidatingAdmissionPolicyBinding"},
    {"admissionregistration.k8s.io/v1beta1",
     "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration "
     "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration"},
    {"apiextensions.k8s.io/v1", "ConversionReview", false},
    {"apiextensions.k8s.io/v1beta1", "ConversionReview", false},
    {"apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"},
    {"apiregistration.k8s.io/v1beta1", "APIService"},
    {"apps/v1beta1", "DeploymentRollback Scale", false},
    {"apps/v1beta1", "ControllerRevision Deployment StatefulSet"},
    {"apps/v1beta2", "Scale", false},
    {"apps/v1beta2", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet"},
    {"authentication.k8s.io/v1", "SelfSubjectReview TokenRequest TokenReview", false},
    {"authentication.k8s.io/v1alpha1", "SelfSubjectReview", false},
    {"authentication.k8s.io/v1beta1", "SelfSubjectReview TokenReview", false},
    {"authorization.k8s.io/v1",
     "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
     false},
    {"authorization.k8s.io/v1beta1",
     "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
     false},
    {"autoscaling/v1", "Scale", false},
    {"batch/v1beta1", "CronJob"},
    {"certificates.k8s.io/v1alpha1", "ClusterTrustBundle"},
    {"certificates.k8s.io/v1beta1",
     "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest"},
    {"coordination.k8s.io/v1alpha2", "LeaseCandidate"},
    {"coordination.k8s.io/v1beta1", "Lease LeaseCandidate"},
    {"discovery.k8s.io/v1beta1", "EndpointSlice"},
    {"events.k8s.io/v1beta1", "Event"},
    {"extensions/v1beta1", "DeploymentRollback Scale", false},
    {"extensions/v1beta1", "DaemonSet Deployment Ingress NetworkPolicy ReplicaSet"},
    {"flowcontrol.apiserver.k8s.io/v1beta1", "FlowSchema PriorityLevelConfiguration"},
    {"flowcontrol.apiserver.k8s.io/v1beta2", "FlowSchema PriorityLevelConfiguration"},
    {"flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema PriorityLevelConfiguration"},
    {"imagepolicy.k8s.io/v1alpha1", "ImageReview", false},
    {"internal.apiserver.k8s.io/v1alpha1", "StorageVersion"},
    {"networking.k8s.io/v1beta1", "IPAddress Ingress IngressClass ServiceCIDR"},
    {"node.k8s.io/v1alpha1", "RuntimeClass"},
    {"node.k8s.io/v1beta1", "RuntimeClass"},
    {"policy/v1", "Eviction", false},
    {"policy/v1beta1", "Eviction", false},
    {"policy/v1beta1", "PodDisruptionBudget"},
    {"rbac.authorization.k8s.io/v1alpha1", "ClusterRole ClusterRoleBinding Role RoleBinding"},
    {"rbac.authorization.k8s.io/v1beta1", "ClusterRole ClusterRoleBinding Role RoleBinding"},
    {"resource.k8s.io/v1alpha3", "DeviceTaintRule ResourcePoolStatusRequest"},
    {"resource.k8s.io/v1beta1", "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice"},
    {"resource.k8s.io/v1beta2",
     "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice"},
    {"scheduling.k8s.io/v1alpha2", "PodGroup Workload"},
    {"scheduling.k8s.io/v1beta1", "PriorityClass"},
    {"storage.k8s.io/v1alpha1", "CSIStorageCapacity VolumeAttachment VolumeAttributesClass"},
    {"storage.k8s.io/v1beta1",
     "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass"},
    {"storagemigration.k8s.io/v1beta1", "StorageVersionMigration"}};

struct KnownKinds {
  std::set<std::pair<std::string, std::string>> kinds;  // by apiVersion
  std::set<std::string> versions;
};

const KnownKinds& known_kinds() {
  static const KnownKinds all = [] {
    KnownKinds out;
    const auto add = [&](const std::string& version, const std::string& kind, bool listed) {
      out.versions.insert(version);
      out.kinds.emplace(version, kind);
      if (listed) out.kinds.emplace(version, kind + "List");
    };
    for (const KindsOfVersion& of : kUnservedKinds) {
      for (const std::string& kind : base::split(of.kinds, ' ')) add(of.version, kind, of.listed);
    }
    for (const BuiltinKind& one : builtin_kinds()) {
      const std::string version = one.gvk.api_version();
      add(version, one.gvk.kind, out.kinds.count({version, one.gvk.kind}) == 0);
    }
    return out;
  }();
  return all;
}

// Kinds of the machinery, which are of the same type in all versions.
bool is_common(const core::Gvk& own, const core::Gvk& given) {
  static const std::set<std::string> of_none = {"APIGroup", "APIGroupList", "APIResourceList",
                                                "APIVersions", "Status"};
  static const std::set<std::string> of_all = {"CreateOptions", "DeleteOptions", "GetOptions",
                                               "ListOptions",   "PatchOptions",  "UpdateOptions",
                                               "WatchEvent"};
  if (of_none.count(given.kind) != 0) return true;
  if (of_all.count(given.kind) == 0) return false;
  if (given.api_version() == "v1") return true;
  if ((stands_alone(own.group) || stands_alone(given.group)) && own.group != given.group) {
    return false;
  }
  return known_kinds().versions.count(given.api_version()) != 0;
}

bool is_known(const core::Gvk& own, const core::Gvk& given) {
  if ((stands_alone(own.group) || stands_alone(given.group)) && own.group != given.group) {
    return false;
  }
  return known_kinds().kinds.count({given.api_version(), given.kind}) != 0;
}

// Another version of the same thing.
bool is_same_kind(const core::Gvk& own, const core::Gvk& given) {
  if (given.kind != own.kind || !is_known(own, given)) return false;
  return given.group == own.group || given.group == "extensions" || given.kind == "Event" ||
         given.kind == "Scale";
}

// What is wrong with the body as the kind that it says it is, which is read before it is known to
// be the wrong one; not of kinds that are not served.
std::optional<std::string> why_unread(const core::Gvk& given, const Json& body) {
  const builtin::WireType* type = builtin::wire_type_of(given.api_version(), given.kind);
  return type == nullptr ? std::nullopt : builtin::why_undecoded(*type, body);
}

Error unhandled(const core::Gvk& own, const core::Gvk& given, const std::string& why) {
  return bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", given.kind,
                                 given.version, own.kind, why));
}

}  // namespace

Result<void> check_body_kind(const Resource& resource, const Json& body) {
  const core::Gvk& own = resource.type.gvk;
  const std::string version = base::string_at(body, {"apiVersion"});
  const std::string kind = base::string_at(body, {"kind"});
  if (std::count(version.begin(), version.end(), '/') > 1) {
    return bad_request(
        fmt::format("the object provided is unrecognized (must be of type {}): "
                    "unexpected GroupVersion string: {}",
                    own.kind, version));
  }
  core::Gvk given = own;
  if (!kind.empty()) given.kind = kind;
  if (!version.empty() && version != "/") {
    const std::size_t slash = version.find('/');
    given.group = slash == std::string::npos ? "" : version.substr(0, slash);
    given.version = slash == std::string::npos ? version : version.substr(slash + 1);
  }
  if (given == own) return {};
  if (is_known(own, given)) {
    if (const auto why = why_unread(given, body)) return unhandled(own, given, *why);
  }
  if (is_same_kind(own, given)) {
    return bad_request(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    given.api_version(), own.api_version()));
  }
  const bool common = is_common(own, given);
  const std::string why =
      common || is_known(own, given)
          ? fmt::format("converting ({}.{}) to ({}): unknown conversion",
                        common ? "v1" : given.version, given.kind, resource.go_type)
          : fmt::format(
                "no kind \"{}\" is registered for version \"{}\" in scheme "
                "\"pkg/runtime/scheme.go:111\"",
                given.kind, given.api_version());
  return unhandled(own, given, why);
}

}  // namespace kubewatch::apiserver
