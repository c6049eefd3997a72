#include "apiserver/metadata.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/strings.hpp"
#include "base/time.hpp"
#include "core/object_rules.hpp"
#include "core/resource.hpp"

namespace kubewatch::apiserver {

namespace {

enum class Shape { string, integer, string_map, string_list, object_list };

const std::map<std::string, Shape>& fields() {
  static const std::map<std::string, Shape> table = {
      {"name", Shape::string},
      {"generateName", Shape::string},
      {"namespace", Shape::string},
      {"selfLink", Shape::string},
      {"uid", Shape::string},
      {"resourceVersion", Shape::string},
      {"generation", Shape::integer},
      {"creationTimestamp", Shape::string},
      {"deletionTimestamp", Shape::string},
      {"deletionGracePeriodSeconds", Shape::integer},
      {"labels", Shape::string_map},
      {"annotations", Shape::string_map},
      {"ownerReferences", Shape::object_list},
      {"finalizers", Shape::string_list},
      {"managedFields", Shape::object_list},
  };
  return table;
}

const char* go_type(Shape shape) {
  switch (shape) {
    case Shape::string: return "string";
    case Shape::integer: return "int64";
    case Shape::string_map: return "map[string]string";
    case Shape::string_list: return "[]string";
    case Shape::object_list: return "[]v1.OwnerReference";
  }
  return "";
}

bool fits(const Json& value, Shape shape) {
  const auto all = [&](auto&& test) {
    for (const auto& item : value) {
      if (!test(item)) return false;
    }
    return true;
  };
  const auto is_string = [](const Json& item) { return item.is_string(); };
  const auto is_object = [](const Json& item) { return item.is_object(); };
  switch (shape) {
    case Shape::string: return value.is_string();
    case Shape::integer: return value.is_number_integer();
    case Shape::string_map: return value.is_object() && all(is_string);
    case Shape::string_list: return value.is_array() && all(is_string);
    case Shape::object_list: return value.is_array() && all(is_object);
  }
  return false;
}

bool is_time(const std::string& key) {
  return key == "creationTimestamp" || key == "deletionTimestamp";
}

std::string quoted(const std::string& text) {
  return base::dump_json(Json(text));
}

// "a/b.c" without its optional prefix, as an annotation key or a finalizer.
void check_qualified(const std::string& field, const std::string& key, FieldErrors& errors) {
  const std::string problem = core::check_annotation_key(key);
  if (!problem.empty()) errors.push_back(field_invalid(field, quoted(key), problem));
}

void check_labels(const Json& metadata, FieldErrors& errors) {
  if (const Json* labels = base::find(metadata, {"labels"})) {
    for (const auto& [key, value] : labels->items()) {
      const std::string bad_key = core::check_label_key(key);
      if (!bad_key.empty()) {
        errors.push_back(field_invalid("metadata.labels", quoted(key), bad_key));
      }
      const std::string bad_value = core::check_label_value(value.get<std::string>());
      if (!bad_value.empty()) {
        errors.push_back(field_invalid("metadata.labels", base::dump_json(value), bad_value));
      }
    }
  }
  const Json* annotations = base::find(metadata, {"annotations"});
  if (annotations == nullptr) return;
  std::size_t total = 0;
  for (const auto& [key, value] : annotations->items()) {
    check_qualified("metadata.annotations", key, errors);
    total += key.size() + value.get_ref<const std::string&>().size();
  }
  if (total > core::kMaxAnnotations) {
    errors.push_back(field_too_long("metadata.annotations", core::kMaxAnnotations));
  }
}

bool needs_domain(const std::string& finalizer) {
  static const std::set<std::string> standard = {"kubernetes", "orphan", "foregroundDeletion"};
  return standard.count(finalizer) == 0 && finalizer.find('/') == std::string::npos;
}

// These are checked as objects of any kind are, the others as those of the core are.
bool has_own_checks(const Resource& resource) {
  const std::string& group = resource.type.gvk.group;
  return resource.custom || group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io";
}

// Custom objects may have what built-in ones may not; they get a warning.
void check_finalizers(const Resource& resource, const Json& metadata, FieldErrors& errors) {
  const Json* finalizers = base::find(metadata, {"finalizers"});
  if (finalizers == nullptr) return;
  std::size_t index = 0;
  for (const auto& one : *finalizers) {
    const std::string field = fmt::format("metadata.finalizers[{}]", index++);
    const std::string name = one.get<std::string>();
    if (needs_domain(name) && !has_own_checks(resource)) {
      errors.push_back(
          field_invalid(field, quoted(name),
                        "name is neither a standard finalizer name nor is it fully qualified"));
    } else if (name.find('/') != std::string::npos || has_own_checks(resource)) {
      check_qualified(field, name, errors);
    }
  }
}

void check_owners(const Json& metadata, FieldErrors& errors) {
  const Json* owners = base::find(metadata, {"ownerReferences"});
  if (owners == nullptr) return;
  const std::string field = "metadata.ownerReferences";
  std::size_t controllers = 0;
  for (const auto& owner : *owners) {
    if (base::string_at(owner, {"apiVersion"}).empty()) {
      errors.push_back(field_invalid(field + ".apiVersion", "\"\"", "version must not be empty"));
    }
    for (const char* key : {"kind", "name", "uid"}) {
      if (base::string_at(owner, {key}).empty()) {
        errors.push_back(field_invalid(field + "." + key, "\"\"", "must not be empty"));
      }
    }
    const auto controller = owner.find("controller");
    controllers += controller != owner.end() && *controller == true ? 1U : 0U;
  }
  if (controllers > 1) {
    errors.push_back(field_invalid(
        field, base::dump_json(*owners),
        "Only one reference can have Controller set to true. Found \"true\" in references"));
  }
}

}  // namespace

Result<void> normalise_metadata(const Resource& resource, Json& object,
                                std::vector<std::string>& unknown) {
  Json& metadata = object["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  const auto refuse = [&](const std::string& what) {
    return undecodable(resource.type.gvk, "json: cannot unmarshal " + what);
  };
  if (!metadata.is_object()) return refuse("metadata into Go value of type ObjectMeta");
  for (auto it = metadata.begin(); it != metadata.end();) {
    const auto known = fields().find(it.key());
    if (known == fields().end()) {
      unknown.push_back("metadata." + it.key());
      it = metadata.erase(it);
      continue;
    }
    if (it->is_null()) {
      it = metadata.erase(it);
      continue;
    }
    if (!fits(*it, known->second)) {
      return refuse(fmt::format("{} into Go struct field ObjectMeta.metadata.{} of type {}",
                                it->type_name(), it.key(), go_type(known->second)));
    }
    if (is_time(it.key()) && !base::parse_rfc3339(it->get_ref<const std::string&>()).ok()) {
      return undecodable(
          resource.type.gvk,
          fmt::format(
              "parsing time {} as \"2006-01-02T15:04:05Z07:00\": metadata.{} is no such time",
              quoted(it->get<std::string>()), it.key()));
    }
    // An empty managedFields means something: it resets.
    const bool empty = (it->is_structured() && it->empty()) || *it == "";
    it = empty && it.key() != "managedFields" ? metadata.erase(it) : std::next(it);
  }
  return {};
}

void validate_metadata(const Resource& resource, const Json& object, FieldErrors& errors) {
  const Json& metadata = object.at("metadata");
  const std::string name = base::string_at(metadata, {"name"});
  if (name.empty()) {
    errors.push_back(field_required("metadata.name", "name or generateName is required"));
  } else {
    const std::string problem = core::check_object_name(resource.type.gvk, name);
    if (!problem.empty()) errors.push_back(field_invalid("metadata.name", quoted(name), problem));
  }
  if (!resource.type.namespaced && !base::string_at(metadata, {"namespace"}).empty()) {
    errors.push_back(field_forbidden("metadata.namespace", "not allowed on this type"));
  }
  check_labels(metadata, errors);
  check_owners(metadata, errors);
  check_finalizers(resource, metadata, errors);
}

std::vector<std::string> metadata_warnings(const Resource& resource, const Json& object) {
  std::vector<std::string> out;
  const Json* finalizers = base::find(object, {"metadata", "finalizers"});
  if (!resource.custom || finalizers == nullptr) return out;
  for (const auto& one : *finalizers) {
    if (!needs_domain(one.get<std::string>())) continue;
    out.push_back(
        fmt::format("metadata.finalizers: {}: prefer a domain-qualified finalizer name to "
                    "avoid accidental conflicts with other finalizer writers",
                    base::dump_json(one)));
  }
  return out;
}

bool is_dying(const Json& object) {
  return base::find(object, {"metadata", "deletionTimestamp"}) != nullptr;
}

void keep_server_metadata(const Json& before, Json& after) {
  Json& metadata = after["metadata"];
  const Json& live = before.at("metadata");
  const auto keep = [&](const char* key) {
    const auto it = live.find(key);
    if (it == live.end()) {
      metadata.erase(key);
    } else {
      metadata[key] = *it;
    }
  };
  if (base::string_at(metadata, {"uid"}).empty()) keep("uid");
  for (const char* key : {"creationTimestamp", "generation", "resourceVersion"}) keep(key);
  // Of an object that nobody deletes these stay for validate_metadata_update to refuse.
  if (live.contains("deletionTimestamp")) keep("deletionTimestamp");
  if (!metadata.contains("deletionGracePeriodSeconds")) keep("deletionGracePeriodSeconds");
  metadata.erase("selfLink");
}

void validate_metadata_update(const Json& before, const Json& after, FieldErrors& errors) {
  for (const char* key : {"uid", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    const Json* now = base::find(after, {"metadata", key});
    const Json* then = base::find(before, {"metadata", key});
    if (now == then || (now != nullptr && then != nullptr && *now == *then)) continue;
    errors.push_back(field_invalid(std::string("metadata.") + key,
                                   now == nullptr ? "null" : base::dump_json(*now),
                                   "field is immutable"));
  }
  if (!is_dying(before)) return;
  const Json* now = base::find(after, {"metadata", "finalizers"});
  const Json* then = base::find(before, {"metadata", "finalizers"});
  if (now == nullptr) return;
  std::vector<std::string> added;
  for (const auto& one : *now) {
    bool known = false;
    for (std::size_t i = 0; then != nullptr && i < then->size(); ++i) {
      known = known || (*then)[i] == one;
    }
    if (!known) added.push_back(base::dump_json(one));
  }
  if (added.empty()) return;
  errors.push_back(field_forbidden(
      "metadata.finalizers",
      fmt::format("no new finalizers can be added if the object is being deleted, found new "
                  "finalizers []string{{{}}}",
                  base::join(added, ", "))));
}

}  // namespace kubewatch::apiserver
