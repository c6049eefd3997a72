#include "apiserver/pod_security.hpp"

#include <string>
#include <vector>

#include "base/strings.hpp"
#include "builtin/pod_security.hpp"
#include "builtin/pod_templates.hpp"

namespace kubewatch::apiserver {

namespace {

Result<void> check_namespace(const Storage& storage, const WriteContext& context, const Json* live,
                             const Json& ns) {
  const std::string name = base::string_at(ns, {"metadata", "name"});
  FieldErrors errors;
  const auto wanted = builtin::security_policy(ns, errors);
  FieldErrors known;
  const auto before = builtin::security_policy(live == nullptr ? Json() : *live, known);
  if (!errors.empty() && schema::sentences(errors) != schema::sentences(known)) {
    return invalid(context.resource->kind_subject(name), errors);
  }
  if (live == nullptr || !builtin::asks_for_more(before.enforce, wanted.enforce)) return {};
  std::vector<ObjectPtr> pods;
  storage.each("pods", key_prefix(name), "", [&](const ObjectPtr& pod) {
    pods.push_back(pod);
    return true;
  });
  std::vector<const Json*> judged;
  for (const auto& pod : pods) judged.push_back(&pod->json());
  for (auto& warning : builtin::warnings_of_pods(name, wanted.enforce, judged)) {
    context.warnings->push_back(std::move(warning));
  }
  return {};
}

void warn_of_violation(const WriteContext& context, const builtin::SecurityPolicy& policy,
                       const Json& pod) {
  const std::string violated = builtin::security_violation(policy.warn, pod);
  if (!violated.empty()) context.warnings->push_back("would violate " + violated);
}

Result<void> check_pod(const WriteContext& context, const builtin::SecurityPolicy& policy,
                       const Json* live, const Json& pod) {
  if (live != nullptr && !builtin::is_security_update(*live, pod)) return {};
  const std::string violated = builtin::security_violation(policy.enforce, pod);
  if (violated.empty()) {
    warn_of_violation(context, policy, pod);
    return {};
  }
  const std::string name = base::string_at(pod, {"metadata", "name"});
  return forbidden(context.resource->subject(name), "violates " + violated);
}

}  // namespace

Result<void> check_pod_security(const Storage& storage, const WriteContext& context,
                                const Json* live, const Json& object) {
  // What a cluster had was admitted there, perhaps before its namespace asked for more.
  if (context.saved) return {};
  const Resource& resource = *context.resource;
  const bool whole = context.subresource.empty();
  if (resource.storage_id == "namespaces") {
    return whole ? check_namespace(storage, context, live, object) : Result<void>();
  }
  const bool is_pod = resource.storage_id == "pods" && context.subresource != "status";
  const Json* made = whole ? builtin::pod_template(resource.storage_id, object) : nullptr;
  if (!is_pod && made == nullptr) return {};
  const ObjectPtr ns = storage.get("namespaces", object_key("", context.namespace_));
  if (!ns) return {};
  FieldErrors unread;
  const auto policy = builtin::security_policy(ns->json(), unread);
  constexpr auto kAnything = builtin::SecurityLevel::privileged;
  if (policy.enforce.level == kAnything && policy.warn.level == kAnything) return {};
  if (is_pod) return check_pod(context, policy, live, object);
  warn_of_violation(context, policy, *made);
  return {};
}

}  // namespace kubewatch::apiserver
