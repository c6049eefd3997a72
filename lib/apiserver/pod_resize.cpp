#include "apiserver/pod_resize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "apiserver/object.hpp"
#include "apiserver/status.hpp"
#include "apiserver/writer.hpp"
#include "base/quantity.hpp"
#include "base/strings.hpp"
#include "builtin/pod_resources.hpp"

namespace kubewatch::apiserver {

namespace {

using base::Quantity;
using base::string_at;

constexpr const char* kOfPod = "InPlacePodLevelResourcesVerticalScaling";
constexpr const char* kOfInit = "InPlacePodVerticalScalingInitContainers";

bool resizes_init_container(const Json& live, const Json& resized) {
  const Json& before = base::value_at(live, {"spec", "initContainers"});
  const Json& now = base::value_at(resized, {"spec", "initContainers"});
  for (std::size_t i = 0; i < before.size() && i < now.size(); ++i) {
    if (string_at(before[i], {"restartPolicy"}) == "Always") continue;
    if (base::value_at(before[i], {"resources"}) != base::value_at(now[i], {"resources"}))
      return true;
  }
  return false;
}

// What the node must declare that it can.
std::vector<std::string> needed_features(const Json& live, const Json& resized) {
  std::vector<std::string> out;
  if (base::value_at(live, {"spec", "resources"}) !=
      base::value_at(resized, {"spec", "resources"})) {
    out.push_back(kOfPod);
  }
  if (resizes_init_container(live, resized)) out.push_back(kOfInit);
  return out;
}

std::vector<std::string> lacking_features(const std::vector<std::string>& needed,
                                          const Json& node) {
  const Json& declared = base::value_at(node, {"status", "declaredFeatures"});
  std::vector<std::string> out;
  for (const auto& one : needed) {
    if (std::find(declared.begin(), declared.end(), one) == declared.end()) out.push_back(one);
  }
  return out;
}

// In thousandths, or whole; what is between is the next one, as there.
std::int64_t shown_amount(const Quantity& amount, bool thousandths) {
  if (const auto whole = amount.as_int64(); whole && !thousandths) return *whole;
  return static_cast<std::int64_t>(std::ceil(amount.as_double() * (thousandths ? 1000 : 1)));
}

// "" where the Pod fits into the node.
std::string why_too_large(const Json& pod, const Json& node) {
  const auto asked = builtin::pod_requests(base::value_at(pod, {"spec"}));
  std::vector<std::string> out;
  for (const std::string name : {"cpu", "memory"}) {
    const auto wanted = asked.find(name);
    if (wanted == asked.end()) continue;
    const auto told = Quantity::parse(string_at(node, {"status", "allocatable", name}));
    const Quantity most = told ? *told : Quantity::of(0);
    if (wanted->second.compare(most) <= 0) continue;
    const bool thousandths = name == "cpu";
    out.push_back(fmt::format("{}, requested: {}, allocatable: {}", name,
                              shown_amount(wanted->second, thousandths),
                              shown_amount(most, thousandths)));
  }
  return base::join(out, "; ");
}

Error with_cause(const Error& error, const char* reason) {
  Json status = status_json(error);
  status["details"]["causes"] = Json::array({{{"reason", reason}}});
  return error_from_status(status);
}

}  // namespace

Result<void> admit_resize(const Storage& storage, const Json& live, const Json& resized) {
  const std::string name = string_at(resized, {"spec", "nodeName"});
  const bool changed = base::value_at(live, {"metadata", "generation"}) !=
                       base::value_at(resized, {"metadata", "generation"});
  if (name.empty() || !changed) return {};
  const Subject subject{"", "pods", string_at(resized, {"metadata", "name"})};
  const ObjectPtr node = storage.get("nodes", object_key("", name));
  if (!node) return forbidden(subject, fmt::format("node \"{}\" not found", name));
  const auto lacking = lacking_features(needed_features(live, resized), node->json());
  if (!lacking.empty()) {
    return forbidden(subject,
                     fmt::format("pod update requires features {} which are not available on node "
                                 "\"{}\"",
                                 base::join(lacking, ", "), name));
  }
  const Json& os = base::value_at(node->json(), {"metadata", "labels", "kubernetes.io/os"});
  if (os.is_string() && os != "linux") {
    return with_cause(
        forbidden(subject, fmt::format("pod resize is only supported on linux nodes, node \"{}\" "
                                       "is \"{}\"",
                                       name, os.get<std::string>())),
        "UnsupportedPlatform");
  }
  if (const std::string why = why_too_large(resized, node->json()); !why.empty()) {
    return with_cause(forbidden(subject, "node didn't have enough allocatable resources: " + why),
                      "NodeCapacity");
  }
  return {};
}

}  // namespace kubewatch::apiserver
