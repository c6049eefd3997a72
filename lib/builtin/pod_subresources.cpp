#include "builtin/pod_subresources.hpp"

#include <cstddef>

#include "base/keep_member.hpp"
#include "builtin/disabled_fields.hpp"
#include "builtin/typed_form.hpp"

namespace kubewatch::builtin {

namespace {

void keep_metadata(const Json& live, Json& pod) {
  for (const char* key : {"labels", "annotations", "finalizers", "ownerReferences"}) {
    base::keep_member(live.at("metadata"), pod["metadata"], key);
  }
}

// Those of `live` with what `now` asks for; `now` itself where it has other containers.
Json resized(const Json& live, const Json& now) {
  Json out = live;
  for (std::size_t i = 0; i < live.size(); ++i) {
    const bool same = base::string_at(live[i], {"name"}) == base::string_at(now[i], {"name"});
    if (!same || !now[i].is_object() || !live[i].is_object()) return now;
    for (const char* key : {"resources", "resizePolicy"}) base::keep_member(now[i], out[i], key);
  }
  return out;
}

void keep_all_but_sizes(const Json& live, Json& pod) {
  Json spec = live.value("spec", Json::object());
  for (const char* list : {"containers", "initContainers"}) {
    const Json& before = base::items_at(live, {"spec", list});
    const Json& now = base::items_at(pod, {"spec", list});
    if (before.size() != now.size()) return;
    if (!now.empty()) spec[list] = resized(before, now);
  }
  base::keep_member(pod["spec"], spec, "resources");
  pod["spec"] = std::move(spec);
  base::keep_member(live, pod, "status");
  keep_metadata(live, pod);
}

void keep_all_but_joining(const Json& live, Json& pod) {
  const Json wanted = pod.value("spec", Json::object());
  base::keep_member(live, pod, "spec");
  base::keep_member(live, pod, "status");
  keep_metadata(live, pod);
  base::keep_member(wanted, pod["spec"], "ephemeralContainers");
}

}  // namespace

bool is_pod_part(const std::string& subresource) {
  return subresource == "ephemeralcontainers" || subresource == "resize";
}

void keep_other_parts(const std::string& subresource, const Json& live, Json& pod) {
  if (!pod.is_object() || !live.is_object()) return;
  if (!pod["spec"].is_object()) pod["spec"] = Json::object();
  if (subresource == "resize") {
    keep_all_but_sizes(live, pod);
  } else {
    keep_all_but_joining(live, pod);
  }
  drop_disabled_fields("pods", &live, pod);
  hide_empty_lists(pod);
}

}  // namespace kubewatch::builtin
