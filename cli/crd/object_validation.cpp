#include "cli/crd/object_validation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/metadata.hpp"
#include "apiserver/status.hpp"
#include "apiserver/strategy.hpp"

namespace kubewatch::cli {

namespace {

using base::string_at;

std::string key_of(const Json& object) {
  return string_at(object, {"apiVersion"}) + " " + string_at(object, {"kind"});
}

schema::ScalePaths scale_of(const Json& version) {
  return {string_at(version, {"subresources", "scale", "specReplicasPath"}),
          string_at(version, {"subresources", "scale", "statusReplicasPath"}),
          string_at(version, {"subresources", "scale", "labelSelectorPath"})};
}

// As much of a resource as the server's rules for objects ask for.
apiserver::Resource resource_of(const Json& crd, const Json& version,
                                std::shared_ptr<const schema::CompiledSchema> compiled) {
  const Json& spec = crd["spec"];
  apiserver::Resource out;
  out.type.gvk = {string_at(spec, {"group"}), string_at(version, {"name"}),
                  string_at(spec, {"names", "kind"})};
  out.type.plural = string_at(spec, {"names", "plural"});
  out.type.namespaced = string_at(spec, {"scope"}) != "Cluster";
  const Json* status = base::find(version, {"subresources", "status"});
  if (status != nullptr && !status->is_null()) {
    out.type.subresources.push_back({"status", out.type.gvk, {}});
  }
  out.storage_id = string_at(crd, {"metadata", "name"});
  auto custom = std::make_shared<apiserver::CustomVersion>();
  custom->compiled = std::move(compiled);
  out.custom = std::move(custom);
  return out;
}

// Once each, whereas the server tells some twice.
void add_sentences(const schema::FieldErrors& errors, std::vector<std::string>& out) {
  for (const schema::FieldError& error : errors) {
    std::string sentence = schema::sentence(error);
    if (std::find(out.begin(), out.end(), sentence) == out.end())
      out.push_back(std::move(sentence));
  }
}

// What the server says before it looks at anything else: another object than the stored one is
// meant, or another state of it. "" when nothing is.
std::string mistaken(const apiserver::Resource& kind, const Json& old, const Json& object) {
  const auto both = [&](const char* key) {
    return std::pair(string_at(old, {"metadata", key}), string_at(object, {"metadata", key}));
  };
  const auto differ = [](const std::pair<std::string, std::string>& values) {
    return !values.first.empty() && !values.second.empty() && values.first != values.second;
  };
  if (const auto names = both("name"); differ(names)) {
    return apiserver::wrong_name(names.second, names.first).message();
  }
  if (const auto namespaces = both("namespace"); kind.type.namespaced && differ(namespaces)) {
    return apiserver::wrong_namespace().message();
  }
  if (const auto uids = both("uid"); differ(uids)) {
    return fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                       uids.second, uids.first);
  }
  if (differ(both("resourceVersion"))) {
    return "the object has been modified; please apply your changes to the latest version and try "
           "again";
  }
  return "";
}

}  // namespace

ObjectValidation::ObjectValidation(const std::vector<Json>& crds) {
  for (const Json& crd : crds) {
    const Json& spec = crd["spec"];
    group_kinds_.insert(string_at(spec, {"group"}) + " " + string_at(spec, {"names", "kind"}));
    for (const Json& version : spec["versions"]) {
      if (version.value("served", Json()) != true) continue;
      const Json* root = base::find(version, {"schema", "openAPIV3Schema"});
      auto compiled = schema::CompiledSchema::of(root == nullptr ? Json::object() : *root,
                                                 &schema::rule_checker(), scale_of(version));
      if (!compiled.ok()) {
        broken_.push_back(fmt::format("{} of {}: {}", string_at(version, {"name"}),
                                      string_at(crd, {"metadata", "name"}),
                                      compiled.error().render()));
        continue;
      }
      auto resource = resource_of(crd, version, std::move(*compiled));
      const auto& gvk = resource.type.gvk;
      const std::string key = gvk.api_version() + " " + gvk.kind;
      if (string_at(spec, {"conversion", "strategy"}) == "Webhook") by_webhook_.insert(key);
      kinds_.insert_or_assign(key, std::move(resource));
    }
  }
}

const apiserver::Resource* ObjectValidation::kind_of(const Json& object) const {
  const auto it = kinds_.find(key_of(object));
  return it == kinds_.end() ? nullptr : &it->second;
}

bool ObjectValidation::knows_kind(const Json& object) const {
  const std::string version = string_at(object, {"apiVersion"});
  return group_kinds_.contains(version.substr(0, version.find('/')) + " " +
                               string_at(object, {"kind"}));
}

// In the server's order: metadata, defaults, unknown fields, embedded metadata.
ObjectValidation::Read ObjectValidation::read(const apiserver::Resource& kind, const Json& object) {
  Read out;
  out.object = object;
  if (const auto done = apiserver::normalise_metadata(kind, out.object, out.unknown); !done.ok()) {
    out.problems.push_back(done.error().message());
    return out;
  }
  const schema::CompiledSchema& compiled = *kind.custom->compiled;
  if (!compiled.apply_defaults(out.object)) {
    out.problems.push_back(apiserver::request_too_large().message());
    return out;
  }
  const auto pruned = compiled.prune(out.object);
  out.unknown.insert(out.unknown.end(), pruned.begin(), pruned.end());
  if (const auto done = compiled.coerce_embedded(out.object, out.unknown); !done.ok()) {
    out.problems.push_back(done.error().message());
  }
  return out;
}

// What is stored, as a request in the object's version finds it. What a file leaves out that the
// server always has is taken for unchanged.
Json ObjectValidation::read_old(const apiserver::Resource& kind, const Json& old,
                                const Json& object) {
  Json out = read(kind, old).object;
  out["apiVersion"] = object["apiVersion"];
  if (!out["metadata"].is_object()) out["metadata"] = Json::object();
  for (const char* key : {"name", "namespace", "uid"}) {
    const std::string value = string_at(object, {"metadata", key});
    if (!out["metadata"].contains(key) && !value.empty()) out["metadata"][key] = value;
  }
  return out;
}

std::vector<std::string> ObjectValidation::check(const Json& object, const Json* old,
                                                 std::vector<std::string>* tolerated) const {
  const apiserver::Resource* kind = kind_of(object);
  if (kind == nullptr) return {"no version of a given CRD serves " + key_of(object)};
  Read now = read(*kind, object);
  if (!now.problems.empty()) return now.problems;
  schema::FieldErrors errors;
  std::vector<std::string> out;
  if (old == nullptr) {
    apiserver::prepare_create(*kind, now.object);
    Json named = now.object;  // the server makes the name before it looks at it
    const std::string generate = string_at(named, {"metadata", "generateName"});
    if (!generate.empty() && string_at(named, {"metadata", "name"}).empty()) {
      named["metadata"]["name"] = generate.substr(0, 58) + "xxxxx";
    }
    apiserver::validate_metadata(*kind, named, errors);
    apiserver::validate_kind(*kind, nullptr, now.object, "", errors);
    add_sentences(errors, out);
    return out;
  }
  if (key_of(*old) != key_of(object) && by_webhook_.count(key_of(object)) != 0) {
    return {fmt::format("stored as {}, which a webhook converts: give the old object as {}",
                        string_at(*old, {"apiVersion"}), string_at(object, {"apiVersion"}))};
  }
  const Json before = read_old(*kind, *old, now.object);
  if (const std::string why = mistaken(*kind, before, now.object); !why.empty()) return {why};
  apiserver::prepare_update(*kind, before, now.object, "");
  for (const char* key : {"name", "namespace"}) {  // of the URL
    const std::string value = string_at(before, {"metadata", key});
    if (!value.empty()) now.object["metadata"][key] = value;
  }
  apiserver::keep_server_metadata(before, now.object);
  apiserver::validate_metadata_update(*kind, before, now.object, "", errors);
  schema::FieldErrors rested;
  apiserver::validate_kind(*kind, &before, now.object, "", errors, &rested);
  add_sentences(errors, out);
  if (tolerated != nullptr) add_sentences(rested, *tolerated);
  return out;
}

std::vector<std::string> ObjectValidation::check_status(const Json& object, const Json* old) const {
  const apiserver::Resource* found = kind_of(object);
  if (found == nullptr || !found->has_status() || !object.contains("status")) return {};
  const apiserver::Resource& kind = *found;
  Read now = read(kind, object);
  if (!now.problems.empty()) return {};  // told by check()
  // A create leaves an object without status; whoever writes the status finds that.
  Json before = old == nullptr ? now.object : read_old(kind, *old, now.object);
  if (old == nullptr) before.erase("status");
  schema::FieldErrors errors;
  apiserver::prepare_update(kind, before, now.object, "status");
  apiserver::validate_kind(kind, &before, now.object, "status", errors);
  std::vector<std::string> out;
  add_sentences(errors, out);
  const auto told = check(object, old);
  std::erase_if(out, [&](const std::string& one) {
    return std::find(told.begin(), told.end(), one) != told.end();
  });
  return out;
}

std::vector<std::string> ObjectValidation::unknown_fields(const Json& object) const {
  const apiserver::Resource* kind = kind_of(object);
  return kind == nullptr ? std::vector<std::string>() : read(*kind, object).unknown;
}

}  // namespace kubewatch::cli
