// Reading of discovery documents.
#include "client/discovery_documents.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/strings.hpp"

namespace kubewatch::client {
namespace {

using core::GroupVersion;
using core::Gvk;
using core::ResourceType;
using core::Subresource;

constexpr const char* kAggregatedKind = "APIGroupDiscoveryList";

// A login page in JSON, a Status or the answer of something else must not pass for a server that
// has no kinds. Go writes a list that was never made as null, or not at all.
Result<void> check_document(const Json& document, const char* kind, const char* list) {
  const std::string said = base::string_at(document, {"kind"});
  const Json* found = base::find(document, {list});
  const bool has_list = found != nullptr && (found->is_array() || found->is_null());
  if (said == kind ? found == nullptr || has_list : said.empty() && has_list) return {};
  return Error(ErrorKind::invalid,
               "what was answered is no " + std::string(kind) + ": it does not say what there is");
}

std::string or_else(std::string text, const std::string& other) {
  return text.empty() ? other : text;
}

Gvk kind_at(const Json& resource, const GroupVersion& gv) {
  return {or_else(base::string_at(resource, {"responseKind", "group"}), gv.group),
          or_else(base::string_at(resource, {"responseKind", "version"}), gv.version),
          base::string_at(resource, {"responseKind", "kind"})};
}

void add_resource(const Json& resource, const GroupVersion& gv, std::vector<ResourceType>& out) {
  ResourceType type;
  type.gvk = {gv.group, gv.version, kind_at(resource, gv).kind};
  type.plural = base::string_at(resource, {"resource"});
  if (type.plural.empty() || type.gvk.kind.empty()) return;
  type.singular =
      or_else(base::string_at(resource, {"singularResource"}), base::to_lower(type.gvk.kind));
  type.namespaced = base::string_at(resource, {"scope"}) == "Namespaced";
  type.short_names = base::strings_at(resource, {"shortNames"});
  type.categories = base::strings_at(resource, {"categories"});
  type.verbs = base::strings_at(resource, {"verbs"});
  for (const Json& item : base::items_at(resource, {"subresources"})) {
    Subresource sub{base::string_at(item, {"subresource"}), kind_at(item, gv),
                    base::strings_at(item, {"verbs"})};
    if (!sub.name.empty()) type.subresources.push_back(std::move(sub));
  }
  out.push_back(std::move(type));
}

void add_version(const Json& version, const std::string& group, DiscoveredGroups& out) {
  const GroupVersion gv{group, base::string_at(version, {"version"})};
  if (gv.version.empty()) return;
  out.names_version = true;
  const Json& resources = base::items_at(version, {"resources"});
  if (base::string_at(version, {"freshness"}) == "Stale" && resources.empty()) {
    out.failed.push_back(gv.str() + ": the server that has this group does not answer");
    return;
  }
  for (const Json& resource : resources) add_resource(resource, gv, out.types);
}

}  // namespace

bool is_aggregated(const Json& document) {
  return base::string_at(document, {"kind"}) == kAggregatedKind;
}

Result<DiscoveredGroups> read_aggregated(const Json& document) {
  KW_TRY(check_document(document, kAggregatedKind, "items"));
  DiscoveredGroups out;
  for (const Json& group : base::items_at(document, {"items"})) {
    const std::string name = base::string_at(group, {"metadata", "name"});
    for (const Json& version : base::items_at(group, {"versions"})) add_version(version, name, out);
  }
  return out;
}

Result<std::vector<GroupVersion>> read_core_versions(const Json& document) {
  KW_TRY(check_document(document, "APIVersions", "versions"));
  std::vector<GroupVersion> out;
  for (std::string& version : base::strings_at(document, {"versions"}))
    out.push_back({"", std::move(version)});
  return out;
}

Result<std::vector<GroupVersion>> read_group_versions(const Json& document) {
  KW_TRY(check_document(document, "APIGroupList", "groups"));
  std::vector<GroupVersion> out;
  for (const Json& group : base::items_at(document, {"groups"})) {
    const std::string name = base::string_at(group, {"name"});
    const std::string preferred = base::string_at(group, {"preferredVersion", "version"});
    const std::size_t first = out.size();
    for (const Json& version : base::items_at(group, {"versions"})) {
      const std::string text = base::string_at(version, {"version"});
      if (!text.empty() && !name.empty()) out.push_back({name, text});
    }
    std::stable_partition(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                          [&](const GroupVersion& gv) { return gv.version == preferred; });
  }
  return out;
}

Result<std::vector<ResourceType>> read_resource_list(const Json& document, const GroupVersion& gv) {
  KW_TRY(check_document(document, "APIResourceList", "resources"));
  std::vector<ResourceType> out;
  std::vector<std::pair<std::string, Subresource>> subresources;
  for (const Json& item : base::items_at(document, {"resources"})) {
    const std::string name = base::string_at(item, {"name"});
    const std::string kind = base::string_at(item, {"kind"});
    if (name.empty() || kind.empty()) continue;
    if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
      subresources.push_back({name.substr(0, slash),
                              {name.substr(slash + 1),
                               {or_else(base::string_at(item, {"group"}), gv.group),
                                or_else(base::string_at(item, {"version"}), gv.version), kind},
                               base::strings_at(item, {"verbs"})}});
      continue;
    }
    ResourceType type{{gv.group, gv.version, kind}, name, "", false, {}, {}, {}, {}};
    type.singular = or_else(base::string_at(item, {"singularName"}), base::to_lower(kind));
    type.namespaced = base::bool_at(item, {"namespaced"});
    type.short_names = base::strings_at(item, {"shortNames"});
    type.categories = base::strings_at(item, {"categories"});
    type.verbs = base::strings_at(item, {"verbs"});
    out.push_back(std::move(type));
  }
  for (auto& item : subresources) {
    const auto parent = std::find_if(out.begin(), out.end(), [&](const ResourceType& type) {
      return type.plural == item.first;
    });
    if (parent != out.end()) parent->subresources.push_back(std::move(item.second));
  }
  return out;
}

}  // namespace kubewatch::client
