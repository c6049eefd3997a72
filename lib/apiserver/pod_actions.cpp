#include "apiserver/pod_actions.hpp"

#include <fmt/format.h>

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "apiserver/body_kind.hpp"
#include "apiserver/crd.hpp"
#include "apiserver/deleter.hpp"
#include "apiserver/metadata.hpp"
#include "base/time.hpp"
#include "builtin/misread.hpp"
#include "core/selector.hpp"

namespace kubewatch::apiserver {
namespace {

using base::string_at;

constexpr const char kAllowed[] = "DisruptionAllowed";
constexpr const char kBudgets[] = "poddisruptionbudgets.policy";
constexpr std::size_t kMostDisruptedPods = 2000;
constexpr int kRetrySeconds = 10;

Result<ObjectPtr> find_pod(const Storage& storage, const WriteContext& context) {
  ObjectPtr pod = storage.get("pods", object_key(context.namespace_, context.name));
  if (pod) return pod;
  return not_found(context.resource->subject(context.name));
}

// Its kind is right, its fields are those of its type, and it means a place that there is. Its
// metadata is what metadata may be: some of it goes into the Pod.
Result<Json> read_action(const Storage& storage, const WriteContext& context, Json body,
                         const core::Gvk& gvk, const char* older = "") {
  auto as_sent = std::make_shared<Resource>(*context.resource);
  as_sent->type.gvk = gvk;
  as_sent->go_type = fmt::format("{}.{}", gvk.group.empty() ? "core" : gvk.group, gvk.kind);
  if (string_at(body, {"apiVersion"}) == older) body.erase("apiVersion");
  KW_TRY(check_body_kind(*as_sent, body));
  const builtin::WireType& type = *builtin::wire_type_of(gvk.api_version(), gvk.kind);
  WriteContext as_action = context;
  as_action.resource = as_sent;
  std::vector<std::string> unknown;
  KW_TRY(normalise_metadata(*as_sent, body, unknown));
  if (const auto why = builtin::why_undecoded(type, body)) return undecodable(gvk, *why);
  builtin::drop_unknown(type, body, unknown);
  KW_ASSIGN(const auto warnings, field_warnings(as_action, unknown));
  context.warnings->insert(context.warnings->end(), warnings.begin(), warnings.end());
  const std::string ns = string_at(body, {"metadata", "namespace"});
  if (!ns.empty() && ns != context.namespace_) return wrong_namespace();
  if (storage.get("namespaces", context.namespace_)) return body;
  return not_found({"", "namespaces", context.namespace_});
}

Result<void> check_name(const Json& body, const WriteContext& context, const char* kind) {
  if (string_at(body, {"metadata", "name"}) == context.name) return {};
  return bad_request(fmt::format("name in URL does not match name in {} object", kind));
}

// What is over, or has not begun, disrupts nobody.
bool needs_no_budget(const Json& pod) {
  static const std::set<std::string> phases = {"Succeeded", "Failed", "Pending"};
  return phases.count(string_at(pod, {"status", "phase"})) != 0 || is_dying(pod);
}

// Of a Json or a const one; null when it has none of that type.
template <class AnyJson>
AnyJson* condition_of(AnyJson& object, const std::string& type) {
  AnyJson* conditions = base::find(object, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return nullptr;
  for (AnyJson& one : *conditions) {
    if (string_at(one, {"type"}) == type) return &one;
  }
  return nullptr;
}

bool is_ready(const Json& pod) {
  const Json* ready = condition_of(pod, "Ready");
  return ready != nullptr && string_at(*ready, {"status"}) == "True";
}

// A Pod's conditions are not those of other kinds: they have a time of their last probe, and no
// empty reasons.
void set_pod_condition(Json& pod, const std::string& type, const std::string& reason,
                       const std::string& message, WallTime now) {
  set_condition(pod["status"], type, "True", reason, message, now);
  Json& set = *condition_of(pod, type);
  set["lastProbeTime"] = nullptr;
  if (reason.empty()) set.erase("reason");
  if (message.empty()) set.erase("message");
}

// Over those that are there.
void copy_members(const Json& from, const char* name, Json& to) {
  const Json* members = base::find(from, {"metadata", name});
  if (members == nullptr || !members->is_object()) return;
  for (const auto& [key, value] : members->items()) to["metadata"][name][key] = value;
}

std::vector<ObjectPtr> budgets_of(const Storage& storage, const Object& pod) {
  std::vector<ObjectPtr> out;
  storage.each(kBudgets, pod.namespace_() + "/", "", [&](const ObjectPtr& budget) {
    const Json* selector = base::find(budget->json(), {"spec", "selector"});
    if (selector == nullptr || selector->is_null()) return true;  // selects nothing
    const auto parsed = core::LabelSelector::from_json(*selector);
    if (parsed.ok() && parsed->matches(pod.labels())) out.push_back(budget);
    return true;
  });
  return out;
}

Error too_many(const std::string& why, int retry_seconds) {
  Json details = {{"causes", Json::array({{{"reason", "DisruptionBudget"}, {"message", why}}})}};
  if (retry_seconds > 0) details["retryAfterSeconds"] = retry_seconds;
  return api_error(429, "TooManyRequests",
                   "Cannot evict pod as it would violate the pod's disruption budget.", details);
}

// Why a budget has no disruption left.
std::string why_none(const Json& budget) {
  const Json* allowed = condition_of(budget, kAllowed);
  if (allowed != nullptr && string_at(*allowed, {"reason"}) == "SyncFailed") {
    return "does not allow evicting pods currently because it failed sync: " +
           string_at(*allowed, {"message"});
  }
  const auto wanted = base::int_at(budget, {"status", "desiredHealthy"}).value_or(0);
  const auto healthy = base::int_at(budget, {"status", "currentHealthy"}).value_or(0);
  if (healthy > wanted) return "does not allow evicting pods currently";
  return fmt::format("needs {} healthy pods and has {} currently", wanted, healthy);
}

// Whether the budget has a disruption left.
Result<void> check_budget(const Object& budget) {
  const auto count = [&](const char* name) {
    return base::int_at(budget.json(), {"status", name}).value_or(0);
  };
  const Subject subject{"policy", "poddisruptionbudget", budget.name()};
  if (count("observedGeneration") <
      base::int_at(budget.json(), {"metadata", "generation"}).value_or(0)) {
    return too_many(fmt::format("The disruption budget {} is still being processed by the server.",
                                budget.name()),
                    kRetrySeconds);
  }
  if (count("disruptionsAllowed") < 0) {
    return forbidden(subject, "pdb disruptions allowed is negative");
  }
  const Json* disrupted = base::find(budget.json(), {"status", "disruptedPods"});
  if (disrupted != nullptr && disrupted->size() > kMostDisruptedPods) {
    return forbidden(subject,
                     "DisruptedPods map too big - too many evictions not confirmed by PDB "
                     "controller");
  }
  if (count("disruptionsAllowed") > 0) return {};
  return too_many(
      fmt::format("The disruption budget {} {}", budget.name(), why_none(budget.json())), 0);
}

// One disruption of it is used by the Pod. As there, the server does so in its own name.
Result<void> use_budget(Writer& writer, const WriteContext& pod, const Object& budget,
                        ResourcePtr budgets) {
  WriteContext context = pod;
  context.resource = std::move(budgets);
  context.name = budget.name();
  context.subresource = "status";
  context.manager = kApiServer;
  return writer.change(context, [&](Json& object) {
    Json& status = object["status"];
    const std::int64_t left = base::int_at(status, {"disruptionsAllowed"}).value_or(0) - 1;
    status["disruptionsAllowed"] = left;
    status["disruptedPods"][pod.name] = base::format_rfc3339(pod.now);
    if (left == 0) {
      set_condition(status, kAllowed, "False", "InsufficientPods", "", pod.now);
      (*condition_of(object, kAllowed))["observedGeneration"] =
          base::int_at(status, {"observedGeneration"}).value_or(0);
    }
    return true;
  });
}

// An unhealthy Pod is none of those that the budget counts on.
bool is_guarded(const Json& pod, const Json& budget) {
  if (is_ready(pod)) return true;
  if (string_at(budget, {"spec", "unhealthyPodEvictionPolicy"}) == "AlwaysAllow") return false;
  const auto wanted = base::int_at(budget, {"status", "desiredHealthy"}).value_or(0);
  const auto healthy = base::int_at(budget, {"status", "currentHealthy"}).value_or(0);
  return wanted <= 0 || healthy < wanted;
}

Result<void> pass_budgets(Storage& storage, Writer& writer, const WriteContext& context,
                          const Object& pod, const ResourcePtr& budgets) {
  const std::vector<ObjectPtr> found = budgets_of(storage, pod);
  if (found.size() > 1) {
    return internal_error(
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
        "support.");
  }
  if (found.empty() || !is_guarded(pod.json(), found[0]->json())) return {};
  KW_TRY(check_budget(*found[0]));
  return use_budget(writer, context, *found[0], budgets);
}

}  // namespace

Result<void> evict_pod(Storage& storage, Writer& writer, const WriteContext& context,
                       const ResourcePtr& budgets, const Json& body) {
  KW_ASSIGN(const Json eviction, read_action(storage, context, body, kEviction, "policy/v1beta1"));
  KW_TRY(check_name(eviction, context, "Eviction"));
  const Json* given = base::find(eviction, {"deleteOptions"});
  KW_ASSIGN(DeleteOptions options, delete_options_of(given == nullptr ? Json() : *given));
  WriteContext how = context;
  how.subresource = "";
  how.dry_run = context.dry_run || options.dry_run;
  options.dry_run = how.dry_run;
  KW_ASSIGN(const ObjectPtr pod, find_pod(storage, how));
  if (!needs_no_budget(pod->json())) {
    KW_TRY(pass_budgets(storage, writer, how, *pod, budgets));
  }
  WriteContext asked = how;
  asked.dry_run = true;
  KW_TRY(delete_object(storage, asked, options));
  if (how.dry_run) return {};
  Json marked = pod->json();
  set_pod_condition(marked, "DisruptionTarget", "EvictionByEvictionAPI", "Eviction API: evicting",
                    how.now);
  storage.put("pods", std::move(marked));
  options.resource_version.reset();  // it was the right one
  KW_TRY(delete_object(storage, how, options));
  return {};
}

Result<void> bind_pod(Storage& storage, const WriteContext& asked, const Json& body) {
  KW_ASSIGN(const Json binding, read_action(storage, asked, body, kBinding));
  WriteContext context = asked;
  if (context.name.empty()) context.name = string_at(binding, {"metadata", "name"});
  KW_TRY(check_name(binding, context, "Binding"));
  const std::string kind = string_at(binding, {"target", "kind"});
  const std::string node = string_at(binding, {"target", "name"});
  FieldErrors errors;
  if (!kind.empty() && kind != "Node") {
    errors.push_back(field_not_supported("target.kind", '"' + kind + '"', {"Node", "<empty>"}));
  }
  if (node.empty()) errors.push_back(field_required("target.name"));
  // As there: not a 422.
  if (!errors.empty()) return api_error(500, "", schema::sentences(errors), std::nullopt);
  if (context.name.empty()) return bad_request("Name parameter required.");
  KW_ASSIGN(const ObjectPtr pod, find_pod(storage, context));
  const auto refuse = [&](const std::string& why) {
    return conflict({"", "pods/binding", context.name}, why);
  };
  const auto is_other = [&](const char* name, const std::string& live) {
    const std::string wanted = string_at(binding, {"metadata", name});
    return !wanted.empty() && wanted != live;
  };
  if (is_other("uid", pod->uid())) {
    return refuse(
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                    string_at(binding, {"metadata", "uid"}), pod->uid()));
  }
  if (is_other("resourceVersion", std::to_string(pod->version()))) {
    return refuse(fmt::format(
        "Precondition failed: ResourceVersion in precondition: {}, ResourceVersion in object meta: "
        "{}",
        string_at(binding, {"metadata", "resourceVersion"}), pod->version()));
  }
  Json object = pod->json();
  if (is_dying(object)) {
    return refuse(
        fmt::format("pod {} is being deleted, cannot be assigned to a host", pod->name()));
  }
  if (const std::string has = string_at(object, {"spec", "nodeName"}); !has.empty()) {
    return refuse(fmt::format("pod {} is already assigned to node \"{}\"", pod->name(), has));
  }
  if (const Json* gates = base::find(object, {"spec", "schedulingGates"});
      gates != nullptr && !gates->empty()) {
    return refuse(fmt::format("pod {} has non-empty .spec.schedulingGates", pod->name()));
  }
  object["spec"]["nodeName"] = node;
  copy_members(binding, "annotations", object);
  copy_members(binding, "labels", object);
  object["status"].erase("nominatedNodeName");
  set_pod_condition(object, "PodScheduled", "", "", context.now);
  if (!context.dry_run) storage.put("pods", std::move(object));
  return {};
}

}  // namespace kubewatch::apiserver
