// What an update of a Pod may change, and how the server shows what else it would.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/keep_member.hpp"
#include "base/strings.hpp"
#include "builtin/app_armor.hpp"
#include "builtin/go_values.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

// False: there is no more to compare.
bool check_container_updates(const Field& now, const Field& before) {
  if (now.size() != before.size()) {
    now.forbidden("pod updates may not add or remove containers");
    return false;
  }
  for (const auto& container : now.items()) {
    const Field image = container["image"];
    if (image.empty()) image.required();
    const std::string text = image.text();
    if (base::trim(text).size() != text.size()) {
      image.invalid("must not have leading or trailing whitespace");
    }
  }
  return true;
}

bool check_deadline(const Field& now, const Field& before) {
  if (!now.present()) {
    if (before.present()) now.invalid("must not update from a positive integer to nil value");
    return true;
  }
  const std::int64_t value = now.number_or(0);
  if (value < 0 || value > kMostInt32) {
    now.invalid(range_sentence(0, kMostInt32));
    return false;
  }
  if (value <= before.number_or(value)) return true;
  now.invalid("must be less than or equal to previous value");
  return false;
}

// Tolerations stay, but for how long they hold.
void check_kept_tolerations(const Field& now, const Field& before) {
  const auto without_time = [](const Field& toleration) {
    Json copy = *toleration.json();
    if (copy.is_object()) copy.erase("tolerationSeconds");
    return go_value("Toleration", copy);
  };
  std::set<std::string> kept;
  for (const auto& one : now.items()) {
    if (one.present()) kept.insert(without_time(one));
  }
  for (const auto& old : before.items()) {
    if (old.present() && kept.count(without_time(old)) != 0) continue;
    return now.forbidden("existing toleration can not be modified except its tolerationSeconds");
  }
  check_tolerations(now);
}

void check_kept_gates(const Field& now, const Field& before) {
  std::set<std::string> told;
  for (const auto& gate : before.items()) told.insert(gate["name"].text());
  const auto gates = now.items();
  std::vector<const Field*> added;
  // Of several with one name the last is told.
  for (auto gate = gates.rbegin(); gate != gates.rend(); ++gate) {
    if (told.insert((*gate)["name"].text()).second) added.push_back(&*gate);
  }
  for (auto gate = added.rbegin(); gate != added.rend(); ++gate) {
    const Field name = (**gate)["name"];
    name.forbidden(
        fmt::format("only deletion is allowed, but found new scheduling gate '{}'", name.text()));
  }
}

// What may change is as it was.
Json without_changes(const Json& now, const Json& before) {
  Json out = now;
  for (const char* key : {"activeDeadlineSeconds", "schedulingGates", "tolerations"}) {
    base::keep_member(before, out, key);
  }
  for (const char* key : {"containers", "initContainers"}) {
    Json* containers = base::find(out, {key});
    const Json* old = base::find(before, {key});
    if (containers == nullptr || old == nullptr) continue;
    if (!containers->is_array() || !old->is_array()) continue;
    for (std::size_t i = 0; i < containers->size() && i < old->size(); ++i) {
      if ((*containers)[i].is_object()) {
        (*containers)[i]["image"] = base::string_at((*old)[i], {"image"});
      }
    }
  }
  const auto was = base::int_at(before, {"terminationGracePeriodSeconds"}).value_or(0);
  if (was < 0 && base::int_at(out, {"terminationGracePeriodSeconds"}) == 1) {
    out["terminationGracePeriodSeconds"] = was;
  }
  return out;
}

bool begins_with(const Field& now, const Field& before) {
  const auto old = before.items();
  const auto all = now.items();
  return all.size() >= old.size() && std::equal(old.begin(), old.end(), all.begin(), same_field);
}

// A term with nothing in it matches no node.
bool has_only_additions(const Field& now, const Field& before) {
  bool nothing = true;
  for (const char* key : {"matchExpressions", "matchFields"}) {
    if (!begins_with(now[key], before[key])) return false;
    nothing = nothing && before[key].empty();
  }
  return !nothing || (now["matchExpressions"].empty() && now["matchFields"].empty());
}

void check_node_affinity_update(const Field& now, const Field& before) {
  const Field terms = now["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  const auto shown = [](const Field& term) {
    return go_value("NodeSelectorTerm", term.present() ? *term.json() : Json::object());
  };
  const auto all = terms.items();
  const auto old =
      before["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"].items();
  if (!old.empty() && old.size() != all.size()) {
    Values each;
    for (const auto& term : all) each.push_back(shown(term));
    return terms.invalid_as(terms.present() ? "[" + base::join(each, ",") + "]" : "null",
                            "no additions/deletions to non-empty NodeSelectorTerms list are "
                            "allowed");
  }
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (has_only_additions(all[i], old[i])) continue;
    all[i].invalid_as(shown(all[i]), "only additions are allowed (no mutations or deletions)");
  }
}

// A Pod that waits at a gate may be sent to fewer nodes than before.
void allow_for_gates(Json& now, const Field& spec, const Field& before) {
  if (before["schedulingGates"].empty()) return;
  const Field selector = spec["nodeSelector"];
  for (const auto& [key, value] : before["nodeSelector"].entries()) {
    if (selector[key].is(value.text())) continue;
    selector.invalid("only additions to spec.nodeSelector are allowed (no mutations or deletions)");
    break;
  }
  base::keep_member(*before.json(), now, "nodeSelector");
  const Field affinity = spec["affinity"]["nodeAffinity"];
  const Field old = before["affinity"]["nodeAffinity"];
  if (affinity.present() == old.present() && same_field(affinity, old)) return;
  check_node_affinity_update(affinity, old);
  const bool had = before["affinity"].is_map();
  Json& all = now["affinity"];
  if (!all.is_object()) all = Json::object();
  base::keep_member(had ? *before["affinity"].json() : Json::object(), all, "nodeAffinity");
  if (!had && all.empty()) all = nullptr;
}

}  // namespace

void check_pod_update(const Field& pod, const Field& live) {
  const Field annotations = pod["metadata"]["annotations"];
  check_kept_app_armor(annotations, live["metadata"]["annotations"]);
  check_pod_annotations(annotations, pod["spec"]);  // once more, as the server does
  const Field spec = pod["spec"];
  const Field before = live["spec"];
  if (!spec.is_map() || !before.is_map()) return;
  for (const char* key : {"containers", "initContainers"}) {
    if (!check_container_updates(spec[key], before[key])) return;
  }
  const char* deadline = "activeDeadlineSeconds";
  if (!check_deadline(spec[deadline], before[deadline])) return;
  check_kept_tolerations(spec["tolerations"], before["tolerations"]);
  check_kept_gates(spec["schedulingGates"], before["schedulingGates"]);
  Json rest = without_changes(*spec.json(), *before.json());
  allow_for_gates(rest, spec, before);
  if (same_go_value("PodSpec", rest, *before.json())) return;
  spec.forbidden(
      "pod updates may not change fields other than `spec.containers[*].image`,"
      "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
      "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
      "set to 1 if it was previously negative)\n" +
      go_difference("PodSpec", *before.json(), rest));
}

}  // namespace kubewatch::builtin
