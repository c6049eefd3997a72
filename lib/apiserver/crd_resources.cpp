// From a CustomResourceDefinition to the resources it serves. Validation of the CRD itself is
// crd.cpp.
#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "apiserver/registry.hpp"
#include "base/ascii.hpp"
#include "schema/crd_check.hpp"

namespace kubewatch::apiserver {

namespace {

std::vector<PrinterColumn> columns_of(const Json& version) {
  std::vector<PrinterColumn> out;
  const Json* columns = base::find(version, {"additionalPrinterColumns"});
  if (columns == nullptr || !columns->is_array()) return out;
  for (const auto& column : *columns) {
    out.push_back({base::string_at(column, {"name"}), base::string_at(column, {"type"}),
                   base::string_at(column, {"format"}), base::string_at(column, {"description"}),
                   base::string_at(column, {"jsonPath"}),
                   static_cast<int>(base::int_at(column, {"priority"}).value_or(0))});
  }
  return out;
}

Json declared_schema(const Json& version) {
  const Json* schema = base::find(version, {"schema", "openAPIV3Schema"});
  return schema != nullptr && schema->is_object() ? *schema : Json::object();
}

schema::MergeNodePtr merge_of(const Json& schema) {
  auto merge = schema::crd_merge_schema(schema);
  return merge ? merge : schema::deduced_merge_schema();
}

std::shared_ptr<CustomVersion> custom_version(const Json& crd, const Json& version) {
  auto out = std::make_shared<CustomVersion>();
  out->terminating = schema::has_crd_condition(crd, "Terminating");
  out->schema = declared_schema(version);
  out->columns = columns_of(version);
  if (const Json* fields = base::find(version, {"selectableFields"});
      fields && fields->is_array()) {
    for (const auto& field : *fields) {
      const std::string path = base::string_at(field, {"jsonPath"});
      if (path.size() > 1 && path[0] == '.') out->selectable_fields.push_back(path.substr(1));
    }
  }
  if (const Json* scale = base::find(version, {"subresources", "scale"})) {
    out->scale_spec_path = base::string_at(*scale, {"specReplicasPath"});
    out->scale_status_path = base::string_at(*scale, {"statusReplicasPath"});
    out->scale_selector_path = base::string_at(*scale, {"labelSelectorPath"});
  }
  const schema::ScalePaths scale{out->scale_spec_path, out->scale_status_path,
                                 out->scale_selector_path};
  auto compiled = schema::CompiledSchema::of(out->schema, &schema::rule_checker(), scale);
  // Definitions are checked before they are stored; one that cannot be read keeps everything.
  if (!compiled) {
    const Json open = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
    compiled = schema::CompiledSchema::of(open, nullptr);
  }
  out->compiled = std::move(compiled).value();
  return out;
}

// How stable, major, minor; zeros of what is no version of Kubernetes.
using VersionRank = std::tuple<int, std::int64_t, std::int64_t>;

VersionRank version_rank(const std::string& version) {
  if (version.size() < 2 || version[0] != 'v') return {0, 0, 0};
  std::size_t at = 1;
  const auto number = [&]() -> std::int64_t {
    if (at == version.size() || !base::is_digit(version[at])) return -1;
    std::int64_t value = 0;
    const char* end = version.data() + version.size();
    const auto read = std::from_chars(version.data() + at, end, value);
    if (read.ec != std::errc()) return -1;
    at = static_cast<std::size_t>(read.ptr - version.data());
    return value;
  };
  const std::int64_t major = number();
  if (major < 0) return {0, 0, 0};
  if (at == version.size()) return {3, major, 0};
  for (const auto& [word, rank] : {std::pair{"beta", 2}, std::pair{"alpha", 1}}) {
    const std::string_view text(word);
    if (version.compare(at, text.size(), text) != 0) continue;
    at += text.size();
    const std::int64_t minor = number();
    if (minor >= 0 && at == version.size()) return {rank, major, minor};
    return {0, 0, 0};
  }
  return {0, 0, 0};
}

// As apiextensions-apiserver words it: with the version to use instead, where one is newer.
std::string deprecation_of(const Json& crd, const Json& version) {
  if (!base::bool_at(version, {"deprecated"})) return "";
  if (const Json* own = base::find(version, {"deprecationWarning"}); own && own->is_string()) {
    return own->get<std::string>();
  }
  const std::string group = base::string_at(crd, {"spec", "group"});
  const std::string kind = base::string_at(crd, {"spec", "names", "kind"});
  const std::string name = base::string_at(version, {"name"});
  std::string best;
  for (const auto& other : crd.at("spec").at("versions")) {
    const std::string one = base::string_at(other, {"name"});
    if (!base::bool_at(other, {"served"}) || base::bool_at(other, {"deprecated"})) continue;
    if (!is_preferred(one, best.empty() ? name : best)) continue;
    best = one;
  }
  const std::string text = group + "/" + name + " " + kind + " is deprecated";
  return best.empty() ? text : text + "; use " + group + "/" + best + " " + kind;
}

// Those that were accepted; of a definition that nobody has looked at those that it wants.
const Json& served_names(const Json& crd) {
  const Json* accepted = base::find(crd, {"status", "acceptedNames"});
  const bool decided = accepted != nullptr && !base::string_at(*accepted, {"plural"}).empty();
  return decided ? *accepted : crd.at("spec").at("names");
}

core::ResourceType type_of(const Json& crd, const Json& version) {
  const Json& spec = crd.at("spec");
  const Json& names = served_names(crd);
  core::ResourceType type;
  type.gvk = {base::string_at(spec, {"group"}), base::string_at(version, {"name"}),
              base::string_at(names, {"kind"})};
  type.plural = base::string_at(names, {"plural"});
  type.singular = base::string_at(names, {"singular"});
  type.namespaced = base::string_at(spec, {"scope"}) == "Namespaced";
  type.short_names = base::strings_at(names, {"shortNames"});
  type.categories = base::strings_at(names, {"categories"});
  type.verbs = {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
  const std::vector<std::string> verbs = {"get", "patch", "update"};
  if (base::find(version, {"subresources", "status"}) != nullptr) {
    type.subresources.push_back({"status", type.gvk, verbs});
  }
  if (base::find(version, {"subresources", "scale"}) != nullptr) {
    type.subresources.push_back({"scale", {"autoscaling", "v1", "Scale"}, verbs});
  }
  return type;
}

// What objects are stored in.
struct StoredVersion {
  std::string name;
  std::shared_ptr<CustomVersion> version;
};

StoredVersion stored_version(const Json& crd) {
  StoredVersion out;
  for (const auto& version : crd.at("spec").at("versions")) {
    if (!base::bool_at(version, {"storage"})) continue;
    out = {base::string_at(version, {"name"}), custom_version(crd, version)};
  }
  return out;
}

ResourcePtr resource_of(const Json& crd, const Json& version, const StoredVersion& stored) {
  auto resource = std::make_shared<Resource>();
  resource->type = type_of(crd, version);
  resource->list_kind = base::string_at(served_names(crd), {"listKind"});
  // Whatever its status says: all else of the definition goes by its name.
  resource->storage_id = base::string_at(crd, {"metadata", "name"});
  resource->storage_gvk = resource->type.gvk;
  resource->storage_gvk.version = stored.name;
  resource->traits = kCustomTraits;
  const bool is_stored = resource->type.gvk.version == stored.name;
  auto custom = is_stored ? stored.version : custom_version(crd, version);
  if (!is_stored && stored.version) custom->stored = stored.version->compiled;
  resource->custom = std::move(custom);
  resource->go_type = "unstructured.Unstructured";
  resource->deprecation = deprecation_of(crd, version);
  resource->merge = merge_of(resource->custom->schema);
  return resource;
}

}  // namespace

bool is_preferred(const std::string& version, const std::string& other) {
  const VersionRank rank = version_rank(version);
  const VersionRank against = version_rank(other);
  if (rank != against) return rank > against;
  return std::get<0>(rank) == 0 && version < other;
}

std::map<std::string, std::shared_ptr<const schema::CompiledSchema>> schemas_of_crd(
    const Json& crd) {
  std::map<std::string, std::shared_ptr<const schema::CompiledSchema>> out;
  const std::string group = base::string_at(crd, {"spec", "group"});
  for (const auto& version : crd.at("spec").at("versions")) {
    out[group + "/" + base::string_at(version, {"name"})] = custom_version(crd, version)->compiled;
  }
  return out;
}

ResourcePtr version_of_crd(const Json& crd, const std::string& version) {
  const Json* one = schema::crd_version(crd, version);
  if (one == nullptr) return nullptr;
  auto custom = std::make_shared<CustomVersion>();
  custom->schema = declared_schema(*one);
  auto resource = std::make_shared<Resource>();
  resource->type = type_of(crd, *one);
  resource->storage_id = base::string_at(crd, {"metadata", "name"});
  resource->traits = kCustomTraits;
  resource->merge = merge_of(custom->schema);
  resource->custom = std::move(custom);
  return resource;
}

CrdResources resources_of_crd(const Json& crd) {
  CrdResources out;
  const StoredVersion stored = stored_version(crd);
  for (const auto& version : crd.at("spec").at("versions")) {
    const bool served = base::bool_at(version, {"served"});
    if (!served && !base::bool_at(version, {"storage"})) continue;
    ResourcePtr resource = resource_of(crd, version, stored);
    if (resource->type.gvk.version == stored.name) out.kept = resource;
    if (served) out.served.push_back(std::move(resource));
  }
  std::stable_sort(out.served.begin(), out.served.end(), [](const auto& a, const auto& b) {
    return is_preferred(a->type.gvk.version, b->type.gvk.version);
  });
  return out;
}

}  // namespace kubewatch::apiserver
