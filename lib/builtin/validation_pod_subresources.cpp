#include "builtin/validation_pod_subresources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "base/strings.hpp"
#include "builtin/go_values.hpp"
#include "builtin/pod_resources.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kMirror = "kubernetes.io/config.mirror";

// The Pod alone, whatever it was.
void check_whole_pod(const Field& pod) {
  const Field spec = pod["spec"];
  check_pod_annotations(pod["metadata"]["annotations"], spec);
  check_pod_spec(spec, {true, pod["metadata"]["name"].text()});
  for (const char* list : {"ephemeralContainers", "containers", "initContainers"}) {
    for (const auto& container : spec[list].items()) {
      const Field image = container["image"];
      const std::string text = image.text();
      if (base::trim(text).size() == text.size()) continue;
      image.invalid("must not have leading or trailing whitespace");
    }
  }
}

// Of what no such update is possible of, no more is told. True: told.
bool tell_alone(bool impossible, const char* why, FieldErrors& errors) {
  if (!impossible) return false;
  errors = FieldErrors();
  Field(nullptr, "[]", errors).forbidden(why);
  return true;
}

void check_joining(const Field& pod, const Json* live) {
  if (live == nullptr) return;
  check_whole_pod(pod);
  const Field before(*live, pod.errors());
  if (tell_alone(before["metadata"]["annotations"][kMirror].present(),
                 "static pods do not support ephemeral containers", pod.errors())) {
    return;
  }
  const Field list = pod["spec"]["ephemeralContainers"];
  std::map<std::string, Field> now;
  for (const auto& one : list.items()) now.insert_or_assign(one["name"].text(), one);
  for (const auto& old : before["spec"]["ephemeralContainers"].items()) {
    const std::string name = old["name"].text();
    const auto found = now.find(name);
    const std::string what = "existing ephemeral containers " + go_quoted(name);
    if (found == now.end()) {
      list.forbidden(what + " may not be removed\n");
    } else if (!same_go_value("EphemeralContainer", *old.json(), *found->second.json())) {
      list.forbidden(what + " may not be changed\n" +
                     go_difference("EphemeralContainer", *old.json(), *found->second.json()));
    }
  }
}

bool is_lasting(const Field& container) {
  return container["restartPolicy"].is("Always");
}

bool has_fewer(const Field& now, const Field& before) {
  if (before.size() > now.size()) return true;
  const auto all = before.entries();
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& one) { return !now[one.first].present(); });
}

void check_nothing_removed(const Field& now, const Field& before) {
  if (has_fewer(now["requests"], before["requests"])) {
    now["requests"].forbidden("resource requests cannot be removed");
  }
  if (has_fewer(now["limits"], before["limits"])) {
    now["limits"].forbidden("resource limits cannot be removed");
  }
}

// Requests and limits with processors and memory as they were.
Json without_resized(const Field& now, const Field& before) {
  Json out = Json::object();
  for (const char* list : {"limits", "requests"}) {
    Json amounts = now[list].is_map() ? *now[list].json() : Json::object();
    for (const char* name : {"cpu", "memory"}) {
      const Field old = before[list][name];
      if (old.present()) {
        amounts[name] = *old.json();
      } else {
        amounts.erase(name);
      }
    }
    if (!amounts.empty()) out[list] = std::move(amounts);
  }
  return out;
}

// Whether the container asks for more or less of processors and memory, and of nothing else.
bool is_only_resized(const Field& now, const Field& before) {
  Json rest = *now.json();
  rest["resources"] = without_resized(now["resources"], before["resources"]);
  return same_go_value("Container", rest, *before.json());
}

bool has_sizes(const Field& resources) {
  return !resources["requests"].empty() || !resources["limits"].empty();
}

void check_pod_sizes(const Field& spec, const Field& before) {
  const Field now = spec["resources"];
  const Field old = before["resources"];
  if (old.present() && !now.present()) {
    return now.forbidden("pod-level resources cannot be removed");
  }
  if (old.present() && has_fewer(now["requests"], old["requests"])) {
    now["requests"].forbidden("pod-level resource requests cannot be removed");
  }
  if (old.present() && has_fewer(now["limits"], old["limits"])) {
    now["limits"].forbidden("pod-level resource limits cannot be removed");
  }
  Json rest = now.is_map() ? *now.json() : Json::object();
  for (const char* list : {"limits", "requests"}) rest.erase(list);
  rest.update(without_resized(now, old));
  if (same_value(&rest, old.json())) return;
  spec.forbidden("only cpu and memory resources are mutable at pod-level");
}

// The node of containers that run says so itself.
bool may_be_resized(const Field& pod) {
  for (const auto& status : pod["status"]["containerStatuses"].items()) {
    if (status["state"]["running"].present()) return status["resources"].present();
  }
  return true;
}

// False: they are others than before.
bool check_same_containers(const Field& spec, const Field& before, const std::string& list) {
  const auto now = spec[list].items();
  const auto old = before[list].items();
  if (now.size() != old.size()) {
    spec[list].forbidden(list + " may not be added or removed on resize");
    return false;
  }
  bool same = true;
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (same_field(now[i]["name"], old[i]["name"])) continue;
    now[i]["name"].forbidden(list + " may not be renamed or reordered on resize");
    same = false;
  }
  return same;
}

void check_init_size(const Field& now, const Field& before) {
  if (!is_only_resized(now, before)) {
    now.forbidden("only cpu and memory resources for init or sidecar containers are mutable");
  }
  if (is_lasting(now) || same_field(now, before)) return;
  for (const auto& policy : now["resizePolicy"].items()) {
    if (!policy["restartPolicy"].is("RestartContainer")) continue;
    now.forbidden(
        "non-sidecar init containers with a resize policy of RestartContainer cannot be resized");
  }
}

void check_container_sizes(const Field& spec, const Field& before) {
  const auto containers = spec["containers"].items();
  const auto old = before["containers"].items();
  const auto init = spec["initContainers"].items();
  const auto old_init = before["initContainers"].items();
  for (std::size_t i = 0; i < init.size(); ++i) {
    check_nothing_removed(init[i]["resources"], old_init[i]["resources"]);
  }
  for (std::size_t i = 0; i < containers.size(); ++i) {
    check_nothing_removed(containers[i]["resources"], old[i]["resources"]);
  }
  for (std::size_t i = 0; i < containers.size(); ++i) {
    if (is_only_resized(containers[i], old[i])) continue;
    spec.forbidden("only cpu and memory resources are mutable");
  }
  for (std::size_t i = 0; i < init.size(); ++i) check_init_size(init[i], old_init[i]);
}

void check_service_class(const Field& pod, const Field& live) {
  const Field spec = pod["spec"];
  std::string before = live["status"]["qosClass"].text();
  if (before.empty() && live["spec"].present()) before = qos_class(*live["spec"].json());
  if (before == qos_class(spec.present() ? *spec.json() : Json::object())) return;
  spec.invalid_as(go_quoted(pod["status"]["qosClass"].text()),
                  "Pod QOS Class may not change as a result of resizing");
}

void check_resize(const Field& pod, const Json* live) {
  if (live == nullptr) return;
  check_whole_pod(pod);
  const Field now(*live, pod.errors());
  const Field spec = pod["spec"];
  const Field before = now["spec"];
  if (tell_alone(now["metadata"]["annotations"][kMirror].present(), "static pods cannot be resized",
                 pod.errors()) ||
      tell_alone(before["os"]["name"].is("windows"), "windows pods cannot be resized",
                 pod.errors())) {
    return;
  }
  check_service_class(pod, now);
  if (!may_be_resized(now)) spec.forbidden("Pod running on node without support for resize");
  const bool sized = has_sizes(before["resources"]) || has_sizes(spec["resources"]);
  if (sized) check_pod_sizes(spec, before);
  if (!now["status"]["nodeAllocatableResourceClaimStatuses"].empty()) {
    spec.forbidden("pods with node allocatable resource claims cannot be resized");
  }
  const bool same = check_same_containers(spec, before, "containers");
  if (!check_same_containers(spec, before, "initContainers") || !same) return;
  check_container_sizes(spec, before);
  if (!pod.errors().empty() || sized) return;
  // One that says nothing is not none.
  if (spec["resources"].present() != before["resources"].present()) {
    spec.forbidden("only cpu and memory resources are mutable");
  }
}

}  // namespace

KindRules* rules_of_pod_part(const std::string& subresource) {
  if (subresource == "ephemeralcontainers") return check_joining;
  return subresource == "resize" ? check_resize : nullptr;
}

}  // namespace kubewatch::builtin
