#include "cli/object_validation.hpp"

#include <fmt/format.h>

#include "core/resource.hpp"

namespace kubewatch::cli {

namespace {

std::string key_of(const Json& object) {
  return base::string_at(object, {"apiVersion"}) + " " + base::string_at(object, {"kind"});
}

void check_metadata(const Json& object, bool namespaced, std::vector<std::string>& out) {
  const Json* metadata = base::find(object, {"metadata"});
  if (metadata == nullptr || !metadata->is_object()) {
    out.push_back("metadata: Required value");
    return;
  }
  const std::string name = base::string_at(*metadata, {"name"});
  const std::string generate = base::string_at(*metadata, {"generateName"});
  if (name.empty() && generate.empty())
    out.push_back("metadata.name: Required value: name or generateName is required");
  if (!name.empty()) {
    if (const auto wrong = core::check_dns_subdomain(name); !wrong.empty()) {
      out.push_back(
          fmt::format("metadata.name: Invalid value: {}: {}", base::dump_json(name), wrong));
    }
  }
  const std::string place = base::string_at(*metadata, {"namespace"});
  if (!namespaced && !place.empty())
    out.push_back("metadata.namespace: Forbidden: not allowed on this type");
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
  check_metadata(object, kind->namespaced, out);
  Json stored = object;
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
  return kind->schema->prune(copy);
}

}  // namespace kubewatch::cli
