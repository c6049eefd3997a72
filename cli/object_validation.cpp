#include "cli/object_validation.hpp"

#include <fmt/format.h>

#include "apiserver/metadata.hpp"

namespace kubewatch::cli {

namespace {

std::string key_of(const Json& object) {
  return base::string_at(object, {"apiVersion"}) + " " + base::string_at(object, {"kind"});
}

// What the server's rules for metadata ask of the resource.
apiserver::Resource resource_of(const Json& object, bool namespaced) {
  apiserver::Resource out;
  const std::string api_version = base::string_at(object, {"apiVersion"});
  const auto slash = api_version.find('/');
  out.type.gvk = {api_version.substr(0, slash), api_version.substr(slash + 1),
                  base::string_at(object, {"kind"})};
  out.type.namespaced = namespaced;
  out.custom = std::make_shared<apiserver::CustomVersion>();
  return out;
}

// Reads metadata as the server does; `object` has then what it would store.
void check_metadata(Json& object, bool namespaced, std::vector<std::string>& out) {
  const apiserver::Resource resource = resource_of(object, namespaced);
  std::vector<std::string> unknown;
  const auto read = apiserver::normalise_metadata(resource, object, unknown);
  if (!read.ok()) {
    out.push_back(read.error().message());
    return;
  }
  Json named = object;  // the server makes the name before it looks at it
  const std::string generate = base::string_at(object, {"metadata", "generateName"});
  if (!generate.empty() && base::string_at(object, {"metadata", "name"}).empty()) {
    named["metadata"]["name"] = generate.substr(0, 58) + "xxxxx";
  }
  schema::FieldErrors errors;
  apiserver::validate_metadata(resource, named, errors);
  for (const schema::FieldError& error : errors) out.push_back(schema::sentence(error));
}

schema::ScalePaths scale_of(const Json& version) {
  return {base::string_at(version, {"subresources", "scale", "specReplicasPath"}),
          base::string_at(version, {"subresources", "scale", "statusReplicasPath"}),
          base::string_at(version, {"subresources", "scale", "labelSelectorPath"})};
}

}  // namespace

ObjectValidation::ObjectValidation(const std::vector<Json>& crds) {
  for (const Json& crd : crds) {
    const Json& spec = crd["spec"];
    for (const Json& version : spec["versions"]) {
      if (version.value("served", Json()) != true) continue;
      const std::string api_version =
          base::string_at(spec, {"group"}) + "/" + base::string_at(version, {"name"});
      const Json* root = base::find(version, {"schema", "openAPIV3Schema"});
      auto compiled = schema::CompiledSchema::of(root == nullptr ? Json::object() : *root,
                                                 &schema::rule_checker(), scale_of(version));
      if (!compiled.ok()) {
        broken_.push_back(fmt::format("{} of {}: {}", base::string_at(version, {"name"}),
                                      base::string_at(crd, {"metadata", "name"}),
                                      compiled.error().render()));
        continue;
      }
      kinds_[api_version + " " + base::string_at(spec, {"names", "kind"})] = {
          std::move(*compiled), base::string_at(spec, {"scope"}) != "Cluster"};
    }
  }
}

const ObjectValidation::Kind* ObjectValidation::kind_of(const Json& object) const {
  const auto it = kinds_.find(key_of(object));
  return it == kinds_.end() ? nullptr : &it->second;
}

bool ObjectValidation::knows(const Json& object) const {
  return kind_of(object) != nullptr;
}

std::vector<std::string> ObjectValidation::check(const Json& object, const Json* old) const {
  const Kind* kind = kind_of(object);
  if (kind == nullptr) return {"no version of a given CRD serves " + key_of(object)};
  std::vector<std::string> out;
  Json stored = object;
  check_metadata(stored, kind->namespaced, out);
  std::vector<std::string> unknown;
  if (auto embedded = kind->schema->coerce_embedded(stored, unknown); !embedded.ok()) {
    out.push_back(embedded.error().message());
    return out;
  }
  kind->schema->prune(stored);
  kind->schema->apply_defaults(stored);
  Json before;
  if (old != nullptr) {
    before = *old;
    kind->schema->apply_defaults(before);
  }
  schema::FieldErrors errors;
  kind->schema->validate(stored, old == nullptr ? nullptr : &before, errors);
  for (const schema::FieldError& error : errors) out.push_back(schema::sentence(error));
  return out;
}

std::vector<std::string> ObjectValidation::unknown_fields(const Json& object) const {
  const Kind* kind = kind_of(object);
  if (kind == nullptr) return {};
  Json copy = object;
  std::vector<std::string> unknown;
  // What cannot be read is told by check().
  (void)apiserver::normalise_metadata(resource_of(object, kind->namespaced), copy, unknown);
  (void)kind->schema->coerce_embedded(copy, unknown);
  const auto pruned = kind->schema->prune(copy);
  unknown.insert(unknown.end(), pruned.begin(), pruned.end());
  return unknown;
}

}  // namespace kubewatch::cli
