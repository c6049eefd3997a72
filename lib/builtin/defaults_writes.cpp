// The half of defaults.hpp that creates and updates do: what kinds and admission fill in.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "base/json.hpp"
#include "builtin/app_armor.hpp"
#include "builtin/default_rules.hpp"
#include "builtin/defaults.hpp"
#include "builtin/defaults_kinds.hpp"
#include "builtin/device_writes.hpp"
#include "builtin/disabled_fields.hpp"
#include "builtin/go_values.hpp"
#include "builtin/pod_resources.hpp"

namespace kubewatch::builtin {

namespace {

constexpr int kTolerationSeconds = 300;

bool tolerates(const Json& spec, const char* taint) {
  const Json* list = base::find(spec, {"tolerations"});
  if (list == nullptr || !list->is_array()) return false;
  for (const Json& one : *list) {
    if (!one.is_object()) continue;
    const bool key = is_unset(one, "key") || has_text(one, "key", taint);
    const bool effect = is_unset(one, "effect") || has_text(one, "effect", "NoExecute");
    if (key && effect) return true;
  }
  return false;
}

void fill_tolerations(Json& spec) {
  if (!is_absent(spec, "tolerations") && !spec["tolerations"].is_array()) return;
  for (const char* taint : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (tolerates(spec, taint)) continue;
    spec["tolerations"].push_back({{"key", taint},
                                   {"operator", "Exists"},
                                   {"effect", "NoExecute"},
                                   {"tolerationSeconds", kTolerationSeconds}});
  }
}

// Keys of labels stand for the values that the Pod has.
void select_labels(Json& term, const char* keys, const char* how, const Json& labels) {
  const auto selector = term.find("labelSelector");
  const auto named = term.find(keys);
  if (selector == term.end() || !selector->is_object()) return;
  if (named == term.end() || !named->is_array()) return;
  for (const Json& key : *named) {
    if (!key.is_string() || !labels.contains(key.get<std::string>())) continue;
    Json& list = (*selector)["matchExpressions"];
    if (!list.is_null() && !list.is_array()) return;
    list.push_back({{"key", key},
                    {"operator", how},
                    {"values", Json::array({labels.at(key.get<std::string>())})}});
  }
}

void fill_selectors(Json& pod) {
  const Json* found = base::find(pod, {"metadata", "labels"});
  if (found == nullptr || !found->is_object()) return;
  const Json labels = *found;
  const auto match = [&labels](Json& term) {
    if (!term.is_object()) return;
    select_labels(term, "matchLabelKeys", "In", labels);
    select_labels(term, "mismatchLabelKeys", "NotIn", labels);
  };
  for (const std::string which : {"podAffinity", "podAntiAffinity"}) {
    const std::string at = "spec.affinity." + which + ".";
    for_each_at(pod, at + "requiredDuringSchedulingIgnoredDuringExecution[]", match);
    for_each_at(pod, at + "preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm",
                match);
  }
  for_each_at(pod, "spec.topologySpreadConstraints[]", match);
}

Json first_status(const Json& pod) {
  const Json spec = pod.value("spec", Json::object());
  Json status = {{"phase", "Pending"}, {"qosClass", qos_class(spec)}};
  if (is_unset(spec, "schedulingGates")) return status;
  status["conditions"] = {
      {{"type", "PodScheduled"},
       {"status", "False"},
       {"lastProbeTime", nullptr},
       {"lastTransitionTime", base::string_at(pod, {"metadata", "creationTimestamp"})},
       {"reason", "SchedulingGated"},
       {"message", "Scheduling is blocked due to non-empty scheduling gates"}}};
  return status;
}

void new_pod(Json& pod) {
  for_each_at(pod, "spec", [](Json& spec) {
    if (spec.is_object()) fill_tolerations(spec);
  });
  fill_selectors(pod);
  pod["status"] = first_status(pod);
}

// A selector of its own, and the labels that it selects.
void new_job(Json& job) {
  Json* spec = base::find(job, {"spec"});
  if (spec == nullptr || !spec->is_object()) return;
  if (spec->value("manualSelector", Json()) == true) return;
  static const DefaultRules rules = {
      {"template.metadata.labels", "{}"}, {"selector", "{}"}, {"selector.matchLabels", "{}"}};
  rules.apply(*spec);
  const std::string name = base::string_at(job, {"metadata", "name"});
  const std::string uid = base::string_at(job, {"metadata", "uid"});
  const std::string prefix = "batch.kubernetes.io/";
  for_each_at(*spec, "template.metadata.labels", [&](Json& labels) {
    if (!labels.is_object()) return;
    for (const std::string& start : {std::string(), prefix}) {
      if (!labels.contains(start + "job-name")) labels[start + "job-name"] = name;
      if (!labels.contains(start + "controller-uid")) labels[start + "controller-uid"] = uid;
    }
  });
  for_each_at(*spec, "selector.matchLabels", [&](Json& labels) {
    if (!labels.is_object()) return;
    if (!labels.contains(prefix + "controller-uid")) labels[prefix + "controller-uid"] = uid;
  });
}

std::int64_t template_generation(const Json& object) {
  const std::string text =
      base::string_at(object, {"metadata", "annotations", kTemplateGeneration});
  const auto digits = [](char c) { return c >= '0' && c <= '9'; };
  const bool number = !text.empty() && text.size() <= std::numeric_limits<std::int64_t>::digits10 &&
                      std::all_of(text.begin(), text.end(), digits);
  return number ? std::stoll(text) : 0;
}

void set_template_generation(Json& object, std::int64_t generation) {
  for_each_at(object, "metadata.annotations", [generation](Json& annotations) {
    if (annotations.is_object()) annotations[kTemplateGeneration] = std::to_string(generation);
  });
}

void new_daemon_set(Json& object) {
  if (template_generation(object) < 1) set_template_generation(object, 1);
}

bool is_old_source(const Json& source) {
  const std::string kind = base::string_at(source, {"kind"});
  const std::string group = base::string_at(source, {"apiGroup"});
  return (kind == "PersistentVolumeClaim" && group.empty()) ||
         (kind == "VolumeSnapshot" && group == "snapshot.storage.k8s.io");
}

Json reference(const Json& source) {
  return {{"apiGroup", source.value("apiGroup", Json())},
          {"kind", source.value("kind", Json())},
          {"name", source.value("name", Json())}};
}

// The older of the two fields takes two kinds, drops others silently, and is kept beside the newer.
void mirror_data_source(Json& claim) {
  for_each_at(claim, "spec", [](Json& spec) {
    if (!spec.is_object()) return;
    const Json older = spec.value("dataSource", Json());
    const Json newer = spec.value("dataSourceRef", Json());
    if (older.is_object() && newer.is_null()) {
      if (is_old_source(older)) {
        spec["dataSourceRef"] = reference(older);
      } else {
        spec.erase("dataSource");
      }
    } else if (newer.is_object() && older.is_null() && is_unset(newer, "namespace")) {
      spec["dataSource"] = reference(newer);
    }
  });
}

void new_volume(Json& volume) {
  volume["status"] = {
      {"phase", "Pending"},
      {"lastPhaseTransitionTime", base::string_at(volume, {"metadata", "creationTimestamp"})}};
}

void new_slice(Json& slice) {
  fill_taint_times(base::string_at(slice, {"metadata", "creationTimestamp"}), slice);
}

void updated_pod(const Json& live, Json& pod) {
  for_each_at(pod, "spec", [&live](Json& spec) {
    if (!spec.is_object()) return;
    for (const char* key : {"priority", "preemptionPolicy"}) {
      const Json* before = base::find(live, {"spec", key});
      if (before != nullptr && is_absent(spec, key)) spec[key] = *before;
    }
    fill_tolerations(spec);
  });
}

void updated_daemon_set(const Json& live, Json& object) {
  const auto pod_template = [](const Json& of) {
    const Json* found = base::find(of, {"spec", "template"});
    return found == nullptr ? Json() : *found;
  };
  const std::int64_t before = template_generation(live);
  // What is empty and yet there is no change.
  const bool same = same_go_value("PodTemplateSpec", pod_template(live), pod_template(object));
  set_template_generation(object, same ? before : before + 1);
}

// Since when it is in its phase, unless somebody says so.
void updated_volume_status(const Json& live, const std::string& now, Json& volume) {
  constexpr const char* since = "lastPhaseTransitionTime";
  Json* status = base::find(volume, {"status"});
  if (status == nullptr || !status->is_object()) return;
  const Json* before = base::find(live, {"status", since});
  const auto phase = [](const Json& of) { return base::string_at(of, {"status", "phase"}); };
  if (phase(live) == phase(volume)) {
    if (is_absent(*status, since) && before != nullptr) (*status)[since] = *before;
  } else if (is_absent(*status, since) || (before != nullptr && (*status)[since] == *before)) {
    (*status)[since] = now;
  }
}

// Its generation counts changes, and there is none before the first.
void updated_driver(const Json& live, Json& driver) {
  const Json* before = base::find(live, {"spec"});
  const Json* after = base::find(driver, {"spec"});
  Json* metadata = base::find(driver, {"metadata"});
  if (metadata == nullptr || !metadata->is_object() || same_value(before, after)) return;
  (*metadata)["generation"] = base::int_at(live, {"metadata", "generation"}).value_or(0) + 1;
}

}  // namespace

void fill_new(const std::string& storage_id, Json& object, std::vector<std::string>& warnings) {
  static const std::map<std::string, void (*)(Json&)> kinds = {
      {"pods", new_pod},
      {"jobs.batch", new_job},
      {"daemonsets.apps", new_daemon_set},
      {"persistentvolumeclaims", mirror_data_source},
      {"persistentvolumes", new_volume},
      {"resourceslices.resource.k8s.io", new_slice},
  };
  if (!object.is_object()) return;
  drop_disabled_fields(storage_id, nullptr, object);
  if (storage_id == "pods") take_app_armor_annotations(object, warnings);
  if (const auto kind = kinds.find(storage_id); kind != kinds.end()) kind->second(object);
  // Of the status, and of a Job's labels, which come from those of its template.
  apply_defaults(storage_id, object);
}

bool shares_labels(const std::string& storage_id, const Json& sent) {
  if (storage_id != "jobs.batch") return false;
  const auto says = [](const Json* labels) {
    return labels != nullptr && labels->is_object() && !labels->empty();
  };
  return !says(base::find(sent, {"metadata", "labels"})) &&
         says(base::find(sent, {"spec", "template", "metadata", "labels"}));
}

void share_labels(Json& object) {
  const Json* labels = base::find(object, {"spec", "template", "metadata", "labels"});
  Json* metadata = base::find(object, {"metadata"});
  if (labels == nullptr || metadata == nullptr || !metadata->is_object()) return;
  (*metadata)["labels"] = Json(*labels);
}

void fill_updated(const std::string& storage_id, const Json& live, Json& object) {
  static const std::map<std::string, void (*)(const Json&, Json&)> kinds = {
      {"pods", updated_pod},
      {"csidrivers.storage.k8s.io", updated_driver},
      {"daemonsets.apps", updated_daemon_set},
      {"persistentvolumeclaims", [](const Json&, Json& claim) { mirror_data_source(claim); }},
  };
  if (!object.is_object()) return;
  drop_disabled_fields(storage_id, &live, object);
  if (const auto kind = kinds.find(storage_id); kind != kinds.end()) kind->second(live, object);
  apply_defaults(storage_id, object);
}

void fill_updated_status(const std::string& storage_id, const Json& live, const std::string& now,
                         Json& object) {
  if (!object.is_object()) return;
  drop_disabled_fields(storage_id, &live, object);
  if (storage_id == "daemonsets.apps") set_template_generation(object, template_generation(live));
  if (storage_id == "persistentvolumes") updated_volume_status(live, now, object);
  if (storage_id == "resourceclaims.resource.k8s.io") drop_deallocated(live, object);
  // Its labels come from a template that it has by now.
  if (storage_id == "jobs.batch") apply_defaults(storage_id, object);
}

}  // namespace kubewatch::builtin
