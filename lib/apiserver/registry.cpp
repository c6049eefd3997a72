#include "apiserver/registry.hpp"

#include <algorithm>

#include "apiserver/builtin_kinds.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr const char kBuiltinResources[] =
#include "apiserver/builtin_resources.inc"
    ;

// Review kinds and the like hold no objects; the table lists them, nothing is stored.
bool stores_objects(const core::ResourceType& type) {
  return type.has_verb("get");
}

core::Gvk kind_of(const Json& response_kind, const core::Gvk& fallback) {
  core::Gvk gvk{base::string_at(response_kind, {"group"}),
                base::string_at(response_kind, {"version"}),
                base::string_at(response_kind, {"kind"})};
  if (gvk.version.empty()) {
    gvk.group = fallback.group;
    gvk.version = fallback.version;
  }
  return gvk;
}

std::string deprecation_of(const std::string& storage_id) {
  if (storage_id == "endpoints") {
    return "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
  }
  return storage_id == "componentstatuses" ? "v1 ComponentStatus is deprecated in v1.19+" : "";
}

// The package is the group's first word; Events of both groups are one type.
std::string go_type_of(const core::Gvk& stored) {
  const std::string package = stored.group.substr(0, stored.group.find('.'));
  return (package.empty() ? "core" : package) + "." + stored.kind;
}

ResourcePtr builtin_resource(const std::string& group, const std::string& version,
                             const Json& entry) {
  auto resource = std::make_shared<Resource>();
  core::ResourceType& type = resource->type;
  type.gvk = {group, version, base::string_at(entry, {"responseKind", "kind"})};
  type.plural = base::string_at(entry, {"resource"});
  type.singular = base::string_at(entry, {"singularResource"});
  type.namespaced = base::string_at(entry, {"scope"}) == "Namespaced";
  type.verbs = base::strings_at(entry, {"verbs"});
  type.short_names = base::strings_at(entry, {"shortNames"});
  type.categories = base::strings_at(entry, {"categories"});
  if (const Json* subs = base::find(entry, {"subresources"})) {
    for (const auto& sub : *subs) {
      type.subresources.push_back({base::string_at(sub, {"subresource"}),
                                   kind_of(sub.value("responseKind", Json::object()), type.gvk),
                                   base::strings_at(sub, {"verbs"})});
    }
  }
  resource->list_kind = type.gvk.kind + "List";
  const bool event = group == "events.k8s.io" && type.plural == "events";
  resource->storage_id = event ? "events" : type.qualified_plural();
  resource->storage_gvk = event ? core::Gvk{"", "v1", "Event"} : type.gvk;
  if (group == "autoscaling") resource->storage_gvk.version = "v2";
  resource->traits = traits_of(resource->storage_id);
  resource->merge = schema::builtin_merge_schema(type.gvk);
  if (!resource->merge) resource->merge = schema::deduced_merge_schema();
  resource->deprecation = deprecation_of(resource->storage_id);
  resource->go_type = go_type_of(resource->storage_gvk);
  return resource;
}

// `each`: group, version, entry of the table.
template <class Each>
void each_builtin(const Each& each) {
  const Json table = Json::parse(kBuiltinResources);
  for (const auto& group : table.at("items")) {
    for (const auto& version : group.at("versions")) {
      for (const auto& entry : version.at("resources")) {
        each(base::string_at(group, {"metadata", "name"}), version.at("version").get<std::string>(),
             entry);
      }
    }
  }
}

std::vector<ResourcePtr> load_builtins() {
  std::vector<ResourcePtr> out;
  each_builtin([&](const std::string& group, const std::string& version, const Json& entry) {
    out.push_back(builtin_resource(group, version, entry));
  });
  return out;
}

std::string plural_key(const std::string& group, const std::string& version,
                       const std::string& plural) {
  return group + "/" + version + "/" + plural;
}

}  // namespace

std::vector<BuiltinKind> builtin_kinds() {
  std::vector<BuiltinKind> out;
  each_builtin([&](const std::string& group, const std::string& version, const Json& entry) {
    out.push_back({{group, version, base::string_at(entry, {"responseKind", "kind"})},
                   base::string_at(entry, {"scope"}) == "Namespaced"});
  });
  return out;
}

Registry::Registry() : builtins_(load_builtins()) {
  rebuild();
}

void Registry::rebuild() {
  ++revision_;
  all_ = builtins_;
  std::vector<ResourcePtr> custom;
  for (const auto& [name, resources] : custom_) {
    custom.insert(custom.end(), resources.served.begin(), resources.served.end());
  }
  // The order of preference is that of all definitions of a group together.
  std::stable_sort(custom.begin(), custom.end(), [](const auto& a, const auto& b) {
    const core::Gvk& left = a->type.gvk;
    const core::Gvk& right = b->type.gvk;
    if (left.group != right.group) return left.group < right.group;
    return is_preferred(left.version, right.version);
  });
  all_.insert(all_.end(), custom.begin(), custom.end());
  by_plural_.clear();
  by_kind_.clear();
  by_storage_.clear();
  for (const auto& resource : all_) {
    const auto& gvk = resource->type.gvk;
    by_plural_.emplace(plural_key(gvk.group, gvk.version, resource->type.plural), resource);
    if (!stores_objects(resource->type)) continue;
    by_kind_.emplace(gvk, resource);
    if (resource->storage_gvk == gvk || by_storage_.count(resource->storage_id) == 0) {
      by_storage_[resource->storage_id] = resource;
    }
  }
}

ResourcePtr Registry::find(const std::string& group, const std::string& version,
                           const std::string& plural) const {
  const auto it = by_plural_.find(plural_key(group, version, plural));
  return it == by_plural_.end() ? nullptr : it->second;
}

ResourcePtr Registry::find_kind(const core::Gvk& gvk) const {
  const auto it = by_kind_.find(gvk);
  return it == by_kind_.end() ? nullptr : it->second;
}

ResourcePtr Registry::find_storage(const std::string& storage_id) const {
  const auto it = by_storage_.find(storage_id);
  return it == by_storage_.end() ? nullptr : it->second;
}

bool Registry::has_builtin_group(const std::string& group) const {
  return std::any_of(builtins_.begin(), builtins_.end(),
                     [&](const auto& r) { return r->type.gvk.group == group; });
}

bool Registry::has_group_version(const std::string& group, const std::string& version) const {
  return std::any_of(all_.begin(), all_.end(), [&](const auto& r) {
    return r->type.gvk.group == group && r->type.gvk.version == version;
  });
}

std::vector<ResourcePtr> Registry::stored() const {
  std::vector<ResourcePtr> out;
  for (const auto& [id, resource] : by_storage_) {
    if (resource->type.has_verb("list")) out.push_back(resource);
  }
  return out;
}

bool Registry::is_builtin_version(const Resource& custom) const {
  const core::Gvk& gvk = custom.type.gvk;
  return std::any_of(builtins_.begin(), builtins_.end(), [&](const auto& one) {
    return one->type.gvk.group == gvk.group && one->type.gvk.version == gvk.version;
  });
}

bool Registry::is_builtin_storage(const Resource& custom) const {
  return std::any_of(builtins_.begin(), builtins_.end(),
                     [&](const auto& one) { return one->storage_id == custom.storage_id; });
}

void Registry::set_custom(const std::string& crd_name, CrdResources resources) {
  std::erase_if(resources.served, [&](const auto& one) {
    return is_builtin_version(*one) || is_builtin_storage(*one);
  });
  if (resources.kept && is_builtin_storage(*resources.kept)) resources.kept = nullptr;
  custom_[crd_name] = std::move(resources);
  rebuild();
}

void Registry::remove_custom(const std::string& crd_name) {
  if (custom_.erase(crd_name) != 0) rebuild();
}

bool Registry::has_custom(const std::string& crd_name) const {
  const auto it = custom_.find(crd_name);
  return it != custom_.end() && !it->second.served.empty();
}

ResourcePtr Registry::find_kept(const std::string& crd_name) const {
  const auto it = custom_.find(crd_name);
  return it == custom_.end() ? nullptr : it->second.kept;
}

}  // namespace kubewatch::apiserver
