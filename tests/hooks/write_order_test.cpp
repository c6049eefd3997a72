// What a refusal says to be lacking, in the words of kube-apiserver 1.36.
#include "hooks/write_order.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

const core::Gvk kAccount{"", "v1", "ServiceAccount"};
const core::Gvk kPriority{"scheduling.k8s.io", "v1", "PriorityClass"};
const core::Gvk kRuntime{"node.k8s.io", "v1", "RuntimeClass"};
const core::Gvk kWorkload{"scheduling.k8s.io", "v1alpha2", "Workload"};
const core::Gvk kRole{"rbac.authorization.k8s.io", "v1", "Role"};
const core::Gvk kClusterRole{"rbac.authorization.k8s.io", "v1", "ClusterRole"};
const core::Gvk kNamespace{"", "v1", "Namespace"};
const core::Gvk kPolicy{"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy"};

Error refusal(int code, const std::string& message) {
  const ErrorKind kind = code == 403   ? ErrorKind::forbidden
                         : code == 404 ? ErrorKind::not_found
                                       : ErrorKind::invalid;
  return Error(kind, message, {code, "", message, std::nullopt, ""})
      .with_context("dry run of Pod shop/p");
}

bool lacks(int code, const std::string& message, const core::Gvk& gvk, const std::string& name,
           const std::string& place = "") {
  return says_lacking(refusal(code, message), "shop", gvk, {place, name});
}

}  // namespace

TEST_CASE("what the server says to be lacking is known by its kind and name") {
  CHECK(lacks(403,
              "pods \"p\" is forbidden: error looking up service account shop/runner: "
              "serviceaccount \"runner\" not found",
              kAccount, "runner", "shop"));
  CHECK(lacks(403, "pods \"p\" is forbidden: no PriorityClass with name high was found", kPriority,
              "high"));
  CHECK(lacks(403, "pods \"p\" is forbidden: pod rejected: RuntimeClass \"kata\" not found",
              kRuntime, "kata"));
  CHECK(lacks(403,
              "podgroups.scheduling.k8s.io \"g\" is forbidden: PodGroup rejected: Workload \"w\" "
              "not found",
              kWorkload, "w", "shop"));
  CHECK(lacks(404, "namespaces \"shop\" not found", kNamespace, "shop"));
  CHECK(lacks(404, "role.rbac.authorization.k8s.io \"reader\" not found", kRole, "reader", "shop"));
  CHECK(
      lacks(404, "clusterroles.rbac.authorization.k8s.io \"a:b\" not found", kClusterRole, "a:b"));
  CHECK(lacks(403,
              "validatingadmissionpolicybindings.admissionregistration.k8s.io \"b\" is forbidden: "
              "unable to get policy limits to determine minimum required permissions and user u "
              "does not have \"get\" permission for all groups, versions and resources",
              kPolicy, "limits"));
  // Other admission, in words of its own.
  CHECK(lacks(403,
              "admission webhook \"w.dev\" denied the request: service account 'runner' does "
              "not exist, make it first",
              kAccount, "runner", "shop"));
}

TEST_CASE("what is said of another object, or of its content, is no want of it") {
  const std::string account =
      "pods \"runner\" is forbidden: error looking up service account shop/other: serviceaccount "
      "\"other\" not found";
  CHECK_FALSE(lacks(403, account, kAccount, "runner", "shop"));
  CHECK_FALSE(lacks(403, account, kAccount, "oth", "shop"));
  CHECK_FALSE(lacks(403, account, kAccount, "other", "blog"));
  CHECK_FALSE(lacks(422, account, kAccount, "other", "shop"));
  CHECK_FALSE(
      says_lacking(Error(ErrorKind::forbidden, account), "shop", kAccount, {"shop", "other"}));
  CHECK_FALSE(
      lacks(404, "clusterrole.rbac.authorization.k8s.io \"r\" not found", kRole, "r", "shop"));
  CHECK_FALSE(lacks(404, "classes.demo.dev \"high\" not found", kPriority, "high"));
  // It is there, and lacks something itself.
  const std::string group =
      "podgroups.scheduling.k8s.io \"g\" is forbidden: PodGroup rejected: PodGroupTemplate \"w\" "
      "not found in Workload \"w\"";
  CHECK_FALSE(lacks(403, group, kWorkload, "w", "shop"));
  CHECK_FALSE(lacks(403,
                    "pods \"p\" is forbidden: service account runner not found among those "
                    "that may do this",
                    kAccount, "runner", "shop"));
  CHECK_FALSE(lacks(403,
                    "pods \"p\" is forbidden: exceeded quota: runner, requested: pods=1, used: "
                    "pods=1, limited: pods=1",
                    {"", "v1", "ResourceQuota"}, "runner", "shop"));
  CHECK_FALSE(lacks(403, "", kAccount, "runner", "shop"));
  CHECK_FALSE(lacks(403, "found: \"", kAccount, "", "shop"));
}
