#include "apiserver/body_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "apiserver/builtin_kinds.hpp"

namespace kubewatch::apiserver {

namespace {

// Groups whose servers know their own kinds alone, and whose kinds the server of the others does
// not know.
bool stands_alone(const std::string& group) {
  return group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io";
}

// With their lists, and what comes through subresources.
std::set<core::Gvk> known_kinds() {
  std::set<core::Gvk> out = {{"", "v1", "Status"},
                             {"autoscaling", "v1", "Scale"},
                             {"policy", "v1", "Eviction"},
                             {"authentication.k8s.io", "v1", "TokenRequest"}};
  for (const BuiltinKind& one : builtin_kinds()) {
    out.insert(one.gvk);
    out.insert({one.gvk.group, one.gvk.version, one.gvk.kind + "List"});
  }
  return out;
}

bool is_known(const core::Gvk& own, const core::Gvk& given) {
  static const std::set<core::Gvk> known = known_kinds();
  if ((stands_alone(own.group) || stands_alone(given.group)) && own.group != given.group) {
    return false;
  }
  return known.count(given) != 0;
}

// Versions that are not served any more, or not yet, and are read all the same.
bool is_read_version(const core::Gvk& gvk) {
  static const std::set<std::string> versions = {"admissionregistration.k8s.io/v1alpha1",
                                                 "admissionregistration.k8s.io/v1beta1",
                                                 "apps/v1beta1",
                                                 "apps/v1beta2",
                                                 "authentication.k8s.io/v1beta1",
                                                 "authorization.k8s.io/v1beta1",
                                                 "batch/v1beta1",
                                                 "certificates.k8s.io/v1beta1",
                                                 "coordination.k8s.io/v1beta1",
                                                 "discovery.k8s.io/v1beta1",
                                                 "events.k8s.io/v1beta1",
                                                 "flowcontrol.apiserver.k8s.io/v1beta1",
                                                 "flowcontrol.apiserver.k8s.io/v1beta2",
                                                 "flowcontrol.apiserver.k8s.io/v1beta3",
                                                 "networking.k8s.io/v1beta1",
                                                 "node.k8s.io/v1alpha1",
                                                 "node.k8s.io/v1beta1",
                                                 "policy/v1beta1",
                                                 "rbac.authorization.k8s.io/v1alpha1",
                                                 "rbac.authorization.k8s.io/v1beta1",
                                                 "resource.k8s.io/v1beta1",
                                                 "resource.k8s.io/v1beta2",
                                                 "scheduling.k8s.io/v1beta1",
                                                 "storage.k8s.io/v1alpha1",
                                                 "storage.k8s.io/v1beta1"};
  static const std::set<std::string> extensions = {"Deployment", "DaemonSet", "ReplicaSet",
                                                   "Ingress", "NetworkPolicy"};
  if (gvk.api_version() == "extensions/v1beta1") return extensions.count(gvk.kind) != 0;
  return versions.count(gvk.api_version()) != 0;
}

// Another version of the same thing.
bool is_same_kind(const core::Gvk& own, const core::Gvk& given) {
  if (given.kind != own.kind) return false;
  if (given.group == own.group) return is_known(own, given) || is_read_version(given);
  if (given.group == "extensions") return is_read_version(given);
  return given.kind == "Event" && is_known(own, given);
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
  if (is_same_kind(own, given)) {
    return bad_request(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    given.api_version(), own.api_version()));
  }
  const std::string why = is_known(own, given)
                              ? fmt::format("converting ({}.{}) to ({}): unknown conversion",
                                            given.version, given.kind, resource.go_type)
                              : fmt::format(
                                    "no kind \"{}\" is registered for version \"{}\" in scheme "
                                    "\"pkg/runtime/scheme.go:111\"",
                                    given.kind, given.api_version());
  return bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", given.kind,
                                 given.version, own.kind, why));
}

}  // namespace kubewatch::apiserver
