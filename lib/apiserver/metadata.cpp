#include "apiserver/metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

#include "apiserver/crd.hpp"
#include "base/keep_member.hpp"
#include "base/strings.hpp"
#include "base/time.hpp"
#include "builtin/aggregation.hpp"
#include "builtin/checks.hpp"
#include "core/go_json.hpp"
#include "core/object_rules.hpp"
#include "core/resource.hpp"
#include "schema/crd_check.hpp"
#include "schema/go_words.hpp"
#include "schema/object_meta.hpp"
#include "schema/times.hpp"

namespace kubewatch::apiserver {

namespace {

// Go reads a null in a map or list of texts as the empty one.
void fill_nulls(Json& value, schema::MetaField::Shape shape) {
  if (!value.is_structured() || shape == schema::MetaField::Shape::objects) return;
  for (auto& item : value) {
    if (item.is_null()) item = "";
  }
}

bool is_time(const std::string& key) {
  return key == "creationTimestamp" || key == "deletionTimestamp";
}

// The rules of the kind itself read its names: those of APIServices follow from their spec,
// IPAddresses are addresses.
bool has_names_of_its_own(const Resource& resource) {
  return resource.storage_id == builtin::kApiServices ||
         resource.storage_id == "ipaddresses.networking.k8s.io";
}

// `field`: metadata.name, or the prefix of a name.
void check_name(const Resource& resource, const Json& object, const std::string& field,
                core::NamePart part, FieldErrors& errors) {
  const std::string name = base::string_at(object, {"metadata", field});
  if (name.empty() || has_names_of_its_own(resource)) return;
  auto problems = core::object_name_problems(resource.type.gvk, name, part);
  if (resource.storage_id == kCrds && name != schema::crd_name(object)) {
    problems.emplace_back(schema::kNoCrdName);
  }
  for (const auto& problem : problems) {
    errors.push_back(field_invalid("metadata." + field, schema::go_quoted(name), problem));
  }
}

// Kinds that count their changes begin at 1, whatever they are given.
void check_generation(const Json& metadata, FieldErrors& errors) {
  const auto generation = base::int_at(metadata, {"generation"});
  if (!generation || *generation >= 0) return;
  errors.push_back(field_invalid("metadata.generation", std::to_string(*generation),
                                 "must be greater than or equal to 0"));
}

void check_key(const std::string& field, const std::string& key, const std::string& read,
               FieldErrors& errors) {
  for (const auto& problem : builtin::qualified_problems(read)) {
    errors.push_back(field_invalid(field, schema::go_quoted(key), problem));
  }
}

void check_labels(const Json& metadata, FieldErrors& errors) {
  if (const Json* labels = base::find(metadata, {"labels"})) {
    for (const auto& [key, value] : labels->items()) {
      check_key("metadata.labels", key, key, errors);
      const std::string bad_value = core::check_label_value(value.get<std::string>());
      if (!bad_value.empty()) {
        errors.push_back(field_invalid("metadata.labels", schema::shown_value(value), bad_value));
      }
    }
  }
  const Json* annotations = base::find(metadata, {"annotations"});
  if (annotations == nullptr) return;
  std::size_t total = 0;
  for (const auto& [key, value] : annotations->items()) {
    check_key("metadata.annotations", key, base::to_lower(key), errors);
    total += key.size() + value.get_ref<const std::string&>().size();
  }
  if (total > core::kMaxAnnotations) {
    errors.push_back(field_too_long("metadata.annotations", core::kMaxAnnotations));
  }
}

bool needs_domain(const std::string& finalizer) {
  static const std::set<std::string> standard = {"kubernetes", kOrphanFinalizer,
                                                 kForegroundFinalizer};
  return standard.count(finalizer) == 0 && finalizer.find('/') == std::string::npos;
}

// Events in the older of their groups.
bool is_core_event(const Resource& resource) {
  return resource.storage_id == "events" && resource.type.gvk.group.empty();
}

void check_finalizer_names(const Json& metadata, FieldErrors& errors) {
  const Json* finalizers = base::find(metadata, {"finalizers"});
  if (finalizers == nullptr) return;
  const std::string field = "metadata.finalizers";
  const auto has = [&](const char* name) {
    return std::find(finalizers->begin(), finalizers->end(), name) != finalizers->end();
  };
  for (const auto& one : *finalizers) {
    const std::string name = one.get<std::string>();
    for (const auto& problem : builtin::qualified_problems(name)) {
      errors.push_back(field_invalid(field, schema::go_quoted(name), problem));
    }
  }
  if (has(kOrphanFinalizer) && has(kForegroundFinalizer)) {
    errors.push_back(field_invalid(field, schema::shown_value(*finalizers),
                                   "finalizer orphan and foregroundDeletion cannot be both set"));
  }
}

// Custom objects may have what built-in ones may not; they get a warning.
void check_finalizer_domains(const Resource& resource, const Json& metadata, FieldErrors& errors) {
  const Json* finalizers = base::find(metadata, {"finalizers"});
  if (finalizers == nullptr || resource.traits.own_checks) return;
  std::size_t index = 0;
  for (const auto& one : *finalizers) {
    const std::string place = fmt::format("metadata.finalizers[{}]", index++);
    const std::string name = one.get<std::string>();
    if (needs_domain(name))
      errors.push_back(field_invalid(place, schema::go_quoted(name), builtin::kNoFinalizer));
  }
}

// The version of an owner's kind; "" when its apiVersion is none.
std::string version_in(const std::string& api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string::npos) return api_version;
  const std::string version = api_version.substr(slash + 1);
  return version.find('/') == std::string::npos ? version : "";
}

// In the order of the server's own type.
std::string owner_text(const Json& owner) {
  std::vector<std::string> fields;
  for (const char* key : {"apiVersion", "kind", "name", "uid"}) {
    fields.push_back(fmt::format("\"{}\":{}", key, core::go_json(base::string_at(owner, {key}))));
  }
  for (const char* key : {"controller", "blockOwnerDeletion"}) {
    const Json* flag = base::find(owner, {key});
    if (flag == nullptr || !flag->is_boolean()) continue;
    fields.push_back(fmt::format("\"{}\":{}", key, *flag == true ? "true" : "false"));
  }
  return "{" + base::join(fields, ",") + "}";
}

void check_owner(const Json& owner, const std::string& field, FieldErrors& errors) {
  const std::string api_version = base::string_at(owner, {"apiVersion"});
  const std::string kind = base::string_at(owner, {"kind"});
  const std::string version = version_in(api_version);
  if (version.empty()) {
    errors.push_back(field_invalid(field + ".apiVersion", schema::go_quoted(api_version),
                                   "version must not be empty"));
  }
  for (const char* key : {"kind", "name", "uid"}) {
    if (base::string_at(owner, {key}).empty()) {
      errors.push_back(field_invalid(field + "." + key, "\"\"", "must not be empty"));
    }
  }
  const bool core = api_version == "v1" || api_version == "/v1";
  if (!core || kind != "Event") return;
  errors.push_back(
      field_invalid(field, owner_text(owner), "/v1, Kind=Event is disallowed from being an owner"));
}

void check_owners(const Json& metadata, FieldErrors& errors) {
  const Json* owners = base::find(metadata, {"ownerReferences"});
  if (owners == nullptr) return;
  const std::string field = "metadata.ownerReferences";
  std::vector<std::string> texts;
  for (const auto& owner : *owners) texts.push_back(owner_text(owner));
  std::string first;
  for (const auto& owner : *owners) {
    if (errors.full()) return;
    check_owner(owner, field, errors);
    const auto controller = owner.find("controller");
    if (controller == owner.end() || *controller != true) continue;
    const std::string name =
        base::string_at(owner, {"kind"}) + "/" + base::string_at(owner, {"name"});
    if (first.empty()) {
      first = name;
      continue;
    }
    errors.push_back(field_invalid(field, "[" + base::join(texts, ",") + "]",
                                   fmt::format("Only one reference can have Controller set to "
                                               "true. Found \"true\" in references for {} and {}",
                                               first, name)));
  }
}

Result<void> read_metadata(const Resource& resource, Json& object, schema::ToldPaths& unknown) {
  Json& metadata = object["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (!metadata.is_object()) {
    const std::string found = schema::json_word(metadata);
    const std::string& kind = resource.type.gvk.kind;
    return undecodable(resource.type.gvk,
                       resource.custom
                           ? schema::misread_value(found, "v1.ObjectMeta")
                           : schema::misread_field(found, kind + ".metadata", "v1.ObjectMeta"));
  }
  // Of custom objects it is read by itself.
  const std::string around = resource.custom ? "" : "metadata.";
  const schema::ValuePlace place = schema::ValuePlace::root("metadata");
  for (auto it = metadata.begin(); it != metadata.end();) {
    const schema::MetaField* known = schema::meta_field(it.key());
    if (known == nullptr) {
      unknown.add(place.member(it.key()));
      it = metadata.erase(it);
      continue;
    }
    if (it->is_null()) {
      it = metadata.erase(it);
      continue;
    }
    fill_nulls(*it, known->shape);
    if (const auto why = schema::why_no_meta_value(*known, around + it.key(), *it); !why.empty()) {
      return undecodable(resource.type.gvk, why);
    }
    if (known->shape == schema::MetaField::Shape::objects) {
      const schema::ValuePlace list = place.member(it.key());
      std::size_t index = 0;
      for (auto& item : *it) {
        const std::string why =
            schema::read_meta_item(it.key(), around, item, list.item(index++), unknown);
        if (!why.empty()) return undecodable(resource.type.gvk, why);
      }
    }
    if (is_time(it.key())) {
      const auto time =
          schema::written_time(schema::MergeNode::Scalar::time, it->get_ref<const std::string&>());
      if (!time.ok()) return undecodable(resource.type.gvk, time.error().message());
    }
    // An empty managedFields means something: it resets.
    const bool empty = (it->is_structured() && it->empty()) || *it == "";
    it = empty && it.key() != "managedFields" ? metadata.erase(it) : std::next(it);
  }
  // Charts put one on everything; the server drops it silently.
  if (!resource.type.namespaced) metadata.erase("namespace");
  return {};
}

}  // namespace

Result<void> normalise_metadata(const Resource& resource, Json& object,
                                std::vector<std::string>& unknown) {
  schema::ToldPaths told;
  auto done = read_metadata(resource, object, told);
  for (auto& path : told.take()) unknown.push_back(std::move(path));
  return done;
}

Result<void> check_url_name(const Json& object, const std::string& on_url) {
  const std::string name = base::string_at(object, {"metadata", "name"});
  if (name == on_url) return {};
  if (!name.empty()) return wrong_name(name, on_url);
  return bad_request(
      fmt::format("the name of the object ({} based on URL) was undeterminable: name must be "
                  "provided",
                  on_url));
}

Result<std::uint64_t> version_of(const Json& object) {
  const std::string text = base::string_at(object, {"metadata", "resourceVersion"});
  if (text.empty()) return std::uint64_t{0};
  auto version = schema::parse_uint(text);
  if (!version) return internal_error(version.error().message());
  return version;
}

void drop_repeated_owners(Owners owners, Json& object, std::vector<std::string>& warnings) {
  Json* given = base::find(object, {"metadata", "ownerReferences"});
  if (given == nullptr) return;
  Json kept = Json::array();
  std::set<Json> known;
  std::vector<std::string> repeated;
  std::set<std::string> told;
  for (auto& owner : *given) {
    if (known.insert(owner).second) {
      kept.push_back(std::move(owner));
      continue;
    }
    std::string uid = base::string_at(owner, {"uid"});
    if (told.insert(uid).second) repeated.push_back(std::move(uid));
  }
  *given = std::move(kept);
  if (repeated.empty()) return;
  warnings.push_back(fmt::format(
      ".metadata.ownerReferences contains duplicate entries{}; API server dedups owner references "
      "in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "
      "duplicate UID(s) observed: {}",
      owners == Owners::patched ? " after mutating admission happens" : "",
      base::join(repeated, ", ")));
}

namespace {

void check_names(const Resource& resource, const Json& object, FieldErrors& errors) {
  check_name(resource, object, "generateName", core::NamePart::prefix, errors);
  if (base::string_at(object, {"metadata", "name"}).empty()) {
    errors.push_back(field_required("metadata.name", "name or generateName is required"));
  }
  check_name(resource, object, "name", core::NamePart::whole, errors);
}

void check_rest(const Json& metadata, FieldErrors& errors) {
  check_generation(metadata, errors);
  check_labels(metadata, errors);
  check_owners(metadata, errors);
  check_finalizer_names(metadata, errors);
}

}  // namespace

bool looks_at_metadata(const Resource& resource) {
  return !is_core_event(resource) && resource.storage_id != "poddisruptionbudgets.policy";
}

void validate_metadata(const Resource& resource, const Json& object, FieldErrors& errors) {
  const Json& metadata = object.at("metadata");
  check_names(resource, object, errors);
  check_rest(metadata, errors);
  if (looks_at_metadata(resource)) check_finalizer_domains(resource, metadata, errors);
}

std::vector<std::string> finalizer_warnings(const Json* live, const Json& object) {
  const auto finalizers = [](const Json& of) {
    const Json* list = base::find(of, {"metadata", "finalizers"});
    return list == nullptr ? std::set<std::string>() : list->get<std::set<std::string>>();
  };
  const auto known = live == nullptr ? std::set<std::string>() : finalizers(*live);
  std::vector<std::string> out;
  for (const auto& one : finalizers(object)) {
    if (known.count(one) != 0 || !needs_domain(one)) continue;
    const bool dotted = one.find('.') != std::string::npos;
    out.push_back(
        fmt::format("metadata.finalizers: {}: prefer a domain-qualified finalizer name{} to avoid "
                    "accidental conflicts with other finalizer writers",
                    schema::go_quoted(one), dotted ? " including a path (/)" : ""));
  }
  return out;
}

bool is_dying(const Json& object) {
  return base::find(object, {"metadata", "deletionTimestamp"}) != nullptr;
}

bool has_finalizer(const Json& object, const char* name) {
  const Json* all = base::find(object, {"metadata", "finalizers"});
  return all != nullptr && all->is_array() &&
         std::find(all->begin(), all->end(), Json(name)) != all->end();
}

void drop_finalizer(Json& object, const char* name) {
  Json& metadata = object["metadata"];
  Json left = Json::array();
  for (const auto& one : metadata["finalizers"]) {
    if (one != name) left.push_back(one);
  }
  if (left.empty()) {
    metadata.erase("finalizers");
  } else {
    metadata["finalizers"] = std::move(left);
  }
}

void keep_server_metadata(const Json& before, Json& after) {
  Json& metadata = after["metadata"];
  const Json& live = before.at("metadata");
  const auto keep = [&](const char* key) { base::keep_member(live, metadata, key); };
  if (base::string_at(metadata, {"uid"}).empty()) keep("uid");
  for (const char* key : {"creationTimestamp", "generation", "resourceVersion"}) keep(key);
  // Of an object that nobody deletes these stay for validate_metadata_update to refuse.
  if (live.contains("deletionTimestamp")) keep("deletionTimestamp");
  if (!metadata.contains("deletionGracePeriodSeconds")) keep("deletionGracePeriodSeconds");
}

namespace {

OwnLooks own_looks(const Resource& resource, const std::string& subresource) {
  if (is_core_event(resource)) return {0, false};
  return subresource.empty() ? resource.traits.looks : resource.traits.part_looks;
}

void check_new_finalizers(const Json& before, const Json& after, FieldErrors& errors) {
  if (!is_dying(before)) return;
  const Json* now = base::find(after, {"metadata", "finalizers"});
  const Json* then = base::find(before, {"metadata", "finalizers"});
  if (now == nullptr) return;
  std::set<Json> known;
  if (then != nullptr) known.insert(then->begin(), then->end());
  std::vector<std::string> added;
  for (const auto& one : *now) {
    if (known.count(one) == 0) added.push_back(schema::shown_value(one));
  }
  if (added.empty()) return;
  errors.push_back(field_forbidden(
      "metadata.finalizers",
      fmt::format("no new finalizers can be added if the object is being deleted, found "
                  "new finalizers []string{{{}}}",
                  base::join(added, ", "))));
}

void check_changes(const Json& before, const Json& after, FieldErrors& errors) {
  check_new_finalizers(before, after, errors);
  for (const char* key : {"uid", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    const Json* now = base::find(after, {"metadata", key});
    const Json* then = base::find(before, {"metadata", key});
    if (now == then || (now != nullptr && then != nullptr && *now == *then)) continue;
    errors.push_back(field_invalid(std::string("metadata.") + key,
                                   now == nullptr ? "null" : core::go_json(*now),
                                   "field is immutable"));
  }
  check_labels(after.at("metadata"), errors);
  check_owners(after.at("metadata"), errors);
}

}  // namespace

void validate_metadata_update(const Resource& resource, const Json& before, const Json& after,
                              const std::string& subresource, FieldErrors& errors) {
  const Json& metadata = after.at("metadata");
  const std::string given = base::string_at(metadata, {"generateName"});
  // A prefix: more will follow.
  for (const auto& problem : builtin::path_segment_problems(given + "x")) {
    errors.push_back(field_invalid("metadata.generateName", schema::go_quoted(given), problem));
  }
  check_rest(metadata, errors);
  check_changes(before, after, errors);
  const OwnLooks own = own_looks(resource, subresource);
  if (own.changes) {
    check_changes(before, after, errors);
    check_finalizer_domains(resource, metadata, errors);
  }
  for (int look = 0; look < own.whole; ++look) {
    check_names(resource, after, errors);
    check_rest(metadata, errors);
    check_finalizer_domains(resource, metadata, errors);
  }
}

namespace {

std::string in_order(const Json& object, std::initializer_list<const char*> keys) {
  std::vector<std::string> members;
  for (const char* key : keys) {
    if (const Json* value = base::find(object, {key})) {
      members.push_back(fmt::format("\"{}\":{}", key, base::dump_json(*value)));
    }
  }
  return base::join(members, ",");
}

}  // namespace

std::string metadata_text(const Json& metadata) {
  std::string out = in_order(metadata, {"name", "generateName", "namespace", "selfLink", "uid",
                                        "resourceVersion", "generation", "creationTimestamp",
                                        "deletionTimestamp", "deletionGracePeriodSeconds", "labels",
                                        "annotations", "ownerReferences", "finalizers"});
  std::vector<std::string> managers;
  const Json entries = metadata.value("managedFields", Json::array());
  for (const Json& entry : entries) {
    managers.push_back("{" +
                       in_order(entry, {"manager", "operation", "apiVersion", "time", "fieldsType",
                                        "fieldsV1", "subresource"}) +
                       "}");
  }
  if (!managers.empty()) {
    out += (out.empty() ? "" : ",") + ("\"managedFields\":[" + base::join(managers, ",") + "]");
  }
  return "{" + out + "}";
}

}  // namespace kubewatch::apiserver
