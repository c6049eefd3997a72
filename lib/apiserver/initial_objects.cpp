#include "apiserver/initial_objects.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "apiserver/status.hpp"
#include "builtin/system_priorities.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;

constexpr std::array<std::string_view, 4> kInitialNamespaces = {"kube-system", "kube-public",
                                                                "kube-node-lease", "default"};

std::vector<Json> made_objects() {
  std::vector<Json> out;
  for (const std::string_view name : kInitialNamespaces) {
    out.push_back({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
  }
  for (const builtin::SystemPriority& one : builtin::kSystemPriorities) {
    out.push_back({{"apiVersion", "scheduling.k8s.io/v1"},
                   {"kind", "PriorityClass"},
                   {"metadata", {{"name", one.name}}},
                   {"value", one.value},
                   {"description", one.description}});
  }
  return out;
}

const std::vector<Json>& initial_objects() {
  static const std::vector<Json> all = made_objects();
  return all;
}

}  // namespace

// `object` is one of ours, whose kind is served.
WriteContext InitialObjects::context_of(const Json& object, const std::string& manager,
                                        WallTime now) const {
  WriteContext context;
  context.resource = registry_.find_kind(core::gvk_of(object).value());
  context.manager = manager;
  context.now = now;
  return context;
}

void InitialObjects::create(WallTime now) {
  for (const Json& object : initial_objects()) {
    (void)writer_.create(context_of(object, "kube-apiserver", now), object);
  }
}

bool InitialObjects::has(const Json& object) {
  const auto& all = initial_objects();
  return std::any_of(all.begin(), all.end(), [&](const Json& one) {
    return one.at("apiVersion") == string_at(object, {"apiVersion"}) &&
           one.at("kind") == string_at(object, {"kind"}) &&
           one.at("metadata").at("name") == string_at(object, {"metadata", "name"});
  });
}

Result<void> InitialObjects::add_metadata(const Json& object, const std::string& manager,
                                          WallTime now) {
  Json patch = Json::object();
  for (const char* members : {"labels", "annotations"}) {
    const Json* given = base::find(object, {"metadata", members});
    if (given != nullptr && !given->is_null()) patch["metadata"][members] = *given;
  }
  WriteContext context = context_of(object, manager, now);
  context.name = string_at(object, {"metadata", "name"});
  KW_TRY(writer_.patch(context, core::PatchType::merge, patch));
  return {};
}

}  // namespace kubewatch::apiserver
