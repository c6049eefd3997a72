// The least rights that rules need, and the RBAC documents that grant them: each right is one verb
// on one resource, with the place in the rule that needs it. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "core/resource.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

struct Right {
  std::string verb;
  std::string group;
  std::string resource;     // "deployments", "websites/status"
  std::string namespace_;   // "" = all, or cluster-scoped
  std::string name;         // only this object; "" = any
  std::string rule;         // the controller that needs it; "" = the process itself
  std::string pointer;      // JSON pointer of what needs it: "/spec/owns/0"
  std::string str() const;  // "patch deployments.apps in namespace shop"
};

struct ElectionRights {
  std::string namespace_ = "default";
  bool shards = false;
};

// A subresource that a hook's Result patches: rules do not declare those, recorded outputs show
// them.
struct PatchedSubresource {
  core::Gvk gvk;
  std::string subresource;  // "scale"
};

struct RightsInput {
  const std::vector<Rule>& rules;
  // What the server has; absent: unknown.
  std::function<std::optional<core::ResourceType>(const core::Gvk&)> type_of;
  std::optional<ElectionRights> election;
  std::string own_namespace = "default";  // of `credentials: {serviceAccount}`
  // What `for: {group, kinds: "*"}` means now; absent, or an absent answer: unknown.
  std::function<std::optional<std::vector<core::Gvk>>(const StreamRule&)> kinds_of_group = {};
  std::vector<PatchedSubresource> patched = {};
  // Whether nobody can say that a kind is not there, only that it is not known; absent: never.
  std::function<bool(const core::Gvk&)> is_doubtful = {};
};

// Errors: not_found, naming all kinds whose resource is not known. Rules for every kind of a group
// that is not known are left out, and so are optional kinds: left_out() names them.
Result<std::vector<Right>> rights_of(const RightsInput& input);

// "controller site: every kind of group demo.io", and "controller site: the optional kind
// demo.io/v1 Page": what of the rules' rights depends on it is left out.
std::vector<std::string> left_out(const RightsInput& input);

// The subresources that the Results of a hook's output patch; what else is in the documents is
// passed over. Takes what a hook prints, and answers of workers. Errors: invalid.
Result<std::vector<PatchedSubresource>> patched_subresources(const std::vector<Json>& documents);

struct RbacOptions {
  std::string name = "kubewatch";      // of the ServiceAccount, roles and bindings
  std::string namespace_ = "default";  // of the ServiceAccount
};

// ServiceAccount, ClusterRole and ClusterRoleBinding (where something is needed in all namespaces),
// a Role and RoleBinding for each namespace that is named.
std::vector<Json> rbac_documents(const std::vector<Right>& rights, const RbacOptions& options);

// The CustomResourceDefinitions of the rules' kinds have to be there before: who registers them
// needs these rights, the controllers do not.
std::vector<Json> registration_documents(const std::vector<Rule>& rules, const RightsInput& input,
                                         const RbacOptions& options);

}  // namespace kubewatch::hooks
