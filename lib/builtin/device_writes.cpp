#include "builtin/device_writes.hpp"

#include <fmt/format.h>

#include <set>
#include <tuple>

#include "builtin/default_rules.hpp"

namespace kubewatch::builtin {

namespace {

using DeviceId = std::tuple<std::string, std::string, std::string, std::string>;

DeviceId id_of(const Json& device) {
  const auto text = [&device](const char* key) { return base::string_at(device, {key}); };
  return {text("driver"), text("pool"), text("device"), text("shareID")};
}

std::set<DeviceId> allocated(const Json& claim) {
  std::set<DeviceId> out;
  for_each_at(claim, "status.allocation.devices.results[]",
              [&out](const Json& result) { out.insert(id_of(result)); });
  return out;
}

template <class AnyJson, class Visit>
void for_each_attribute(AnyJson& slice, const Visit& visit) {
  for_each_at(slice, "spec.devices[].attributes", [&visit](AnyJson& attributes) {
    if (!attributes.is_object()) return;
    for (auto& attribute : attributes) {
      if (attribute.is_object()) visit(attribute);
    }
  });
}

constexpr const char* kLists[] = {"bools", "ints", "strings", "versions"};

bool has_attribute_lists(const Json& slice) {
  bool found = false;
  for_each_attribute(slice, [&found](const Json& attribute) {
    for (const char* key : kLists) found = found || !is_absent(attribute, key);
  });
  return found;
}

// Where the one at `path` is that asks for it first; below it is `inner`.
std::string first_asking(const Json& object, Path path, const std::string& inner,
                         const std::string& shown) {
  std::size_t index = 0;
  std::string found;
  for_each_at(object, path, [&](const Json& one) {
    bool asks = false;
    for_each_at(one, inner, [&asks](const Json& value) { asks = value == true; });
    if (asks && found.empty()) found = fmt::format("{}[{}].adminAccess", shown, index);
    ++index;
  });
  return found;
}

std::string of_status(const Json& claim) {
  return first_asking(claim, "status.allocation.devices.results[]", "adminAccess",
                      "status.allocation.devices.results");
}

}  // namespace

void fill_taint_times(const std::string& now, Json& slice) {
  for_each_at(slice, "spec.devices[].taints[]", [&now](Json& taint) {
    if (taint.is_object() && is_absent(taint, "timeAdded")) taint["timeAdded"] = now;
  });
}

void drop_attribute_lists(const Json* live, Json& slice) {
  if (live != nullptr && has_attribute_lists(*live)) return;
  for_each_attribute(slice, [](Json& attribute) {
    for (const char* key : kLists) attribute.erase(key);
  });
}

void drop_deallocated(const Json& live, Json& claim) {
  std::set<DeviceId> gone = allocated(live);
  for (const DeviceId& kept : allocated(claim)) gone.erase(kept);
  for_each_at(claim, "status", [&gone](Json& status) {
    if (!status.is_object() || is_absent(status, "devices") || !status["devices"].is_array())
      return;
    Json kept = Json::array();
    for (const Json& device : status["devices"]) {
      if (gone.count(id_of(device)) == 0) kept.push_back(device);
    }
    if (kept.empty()) {
      status.erase("devices");
    } else {
      status["devices"] = std::move(kept);
    }
  });
}

std::string asked_admin_access(const std::string& storage_id, const Json* live, const Json& object,
                               const std::string& subresource) {
  const bool of_claim = storage_id == "resourceclaims.resource.k8s.io";
  if (of_claim && subresource == "status") {
    return live != nullptr && !of_status(*live).empty() ? "" : of_status(object);
  }
  // What a claim asks for does not change.
  if (live != nullptr) return "";
  const std::string path = "spec.devices.requests";
  const std::string inner = "exactly.adminAccess";
  if (of_claim) return first_asking(object, path + "[]", inner, path);
  if (storage_id != "resourceclaimtemplates.resource.k8s.io") return "";
  return first_asking(object, "spec." + path + "[]", inner, path);
}

bool grants_admin_access(const Json& ns) {
  return base::string_at(ns, {"metadata", "labels", "resource.kubernetes.io/admin-access"}) ==
         "true";
}

}  // namespace kubewatch::builtin
