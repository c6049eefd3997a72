#include "apiserver/writer.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>

#include "apiserver/body_kind.hpp"
#include "apiserver/class_admission.hpp"
#include "apiserver/convert.hpp"
#include "apiserver/crd.hpp"
#include "apiserver/duplicate_fields.hpp"
#include "apiserver/empties.hpp"
#include "apiserver/metadata.hpp"
#include "apiserver/pod_admission.hpp"
#include "apiserver/pod_security.hpp"
#include "apiserver/stored_size.hpp"
#include "apiserver/strategy.hpp"
#include "apiserver/typing.hpp"
#include "apiserver/version_owners.hpp"
#include "base/strings.hpp"
#include "builtin/aggregation.hpp"
#include "builtin/defaults.hpp"
#include "builtin/device_writes.hpp"
#include "builtin/disabled_fields.hpp"
#include "builtin/misread.hpp"
#include "builtin/typed_form.hpp"
#include "builtin/warnings.hpp"
#include "schema/crd_check.hpp"
#include "schema/go_words.hpp"
#include "schema/managed_fields.hpp"
#include "schema/typed.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;

std::string excerpt(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most) + " ...";
}

Result<void> check_type(const WriteContext& context, const Json& body) {
  if (!context.resource->custom) return check_body_kind(*context.resource, body);
  const auto& gvk = context.resource->type.gvk;
  const std::string kind = string_at(body, {"kind"});
  const std::string version = string_at(body, {"apiVersion"});
  if (kind.empty()) {
    const std::string text = base::dump_json(body);
    return bad_request(fmt::format(
        "the object provided is unrecognized (must be of type {}): Object 'Kind' is missing in "
        "'{}' ({})",
        gvk.kind, excerpt(text, 1000), excerpt(text, 30)));
  }
  if (version != gvk.api_version()) {
    return bad_request(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    version, gvk.api_version()));
  }
  if (kind == gvk.kind) return {};
  return invalid({gvk.group, kind, string_at(body, {"metadata", "name"})},
                 {field_invalid("kind", schema::go_quoted(kind), "must be " + gvk.kind)});
}

// Defaults, unknown fields and embedded resources, as the schema has them.
Result<void> shape_custom(const Resource& resource, Json& body, bool keep_nulls,
                          std::vector<std::string>& unknown) {
  const schema::CompiledSchema& compiled = *resource.custom->compiled;
  if (!compiled.apply_defaults(body)) return request_too_large();
  auto dropped = compiled.prune(body, keep_nulls);
  unknown.insert(unknown.end(), dropped.begin(), dropped.end());
  const auto embedded = compiled.coerce_embedded(body, unknown);
  if (embedded) return {};
  return undecodable(resource.type.gvk, embedded.error().message());
}

bool wants_generation(const Resource& resource, const Json& before, const Json& after) {
  const std::string counted = counted_metadata(resource);
  const auto in_metadata = [&](const Json& object) {
    const Json* map = base::find(object, {"metadata", counted});
    return map == nullptr ? Json::object() : *map;
  };
  if (!counted.empty() && in_metadata(before) != in_metadata(after)) return true;
  for (const auto* side : {&before, &after}) {
    for (const auto& [key, value] : side->items()) {
      if (key == "metadata" || (key == "status" && resource.has_status())) continue;
      const Json* old_value = base::find(before, {key});
      const Json* new_value = base::find(after, {key});
      if (old_value == nullptr || new_value == nullptr || *old_value != *new_value) return true;
    }
  }
  return false;
}

// Nothing holds a dying object back any more.
bool is_released(const Resource& resource, const Json& object) {
  const Json& metadata = object.at("metadata");
  if (!metadata.contains("deletionTimestamp")) return false;
  const auto empty = [](const Json* list) { return list == nullptr || list->empty(); };
  return empty(base::find(metadata, {"finalizers"})) &&
         (resource.storage_id != "namespaces" || empty(base::find(object, {"spec", "finalizers"})));
}

// An apply that does so leaves the rest as it is kept; any other write says it anew.
bool moves_owners_alone(const Resource& resource, const Json& before, const Json& after) {
  return resource.converted() && schema::without_managed(before) == schema::without_managed(after);
}

Json with_owners_of(const Json& object, Json stored) {
  stored["metadata"]["managedFields"] = object.at("metadata").value("managedFields", Json());
  if (stored["metadata"]["managedFields"].is_null()) stored["metadata"].erase("managedFields");
  return stored;
}

// Where the real server stores the kind; older kinds were named otherwise at first.
std::string registry_prefix(const Resource& resource) {
  static const std::map<std::string, std::string> old = {
      {"services", "services/specs"},
      {"endpoints", "services/endpoints"},
      {"nodes", "minions"},
      {"replicationcontrollers", "controllers"},
      {"ingresses.networking.k8s.io", "ingress"}};
  if (const auto it = old.find(resource.storage_id); it != old.end()) return it->second;
  const bool by_group = resource.custom || resource.storage_id == kCrds ||
                        resource.storage_id == builtin::kApiServices;
  const std::string& plural = resource.type.plural;
  return by_group ? resource.type.gvk.group + "/" + plural : plural;
}

}  // namespace

void tell_warnings(const WriteContext& context, const Json* live, const Json& object) {
  const Resource& resource = *context.resource;
  if (!context.subresource.empty()) return;
  auto warnings = resource.custom ? finalizer_warnings(live, object)
                                  : builtin::warnings_of(resource.storage_id, live, object);
  if (resource.storage_id == kCrds) {
    for (auto& warning : schema::crd_warnings(object, live)) warnings.push_back(std::move(warning));
  }
  for (auto& warning : warnings) context.warnings->push_back(std::move(warning));
}

Error error_from_status(const Json& status) {
  const Json* details = base::find(status, {"details"});
  return api_error(static_cast<int>(base::int_at(status, {"code"}).value_or(500)),
                   string_at(status, {"reason"}), string_at(status, {"message"}),
                   details == nullptr ? std::nullopt : std::optional<Json>(*details));
}

Result<std::vector<std::string>> field_warnings(const WriteContext& context,
                                                const std::vector<std::string>& unknown) {
  std::vector<std::string> fields;
  for (const auto& path : unknown) fields.push_back(unknown_field(path));
  std::vector<std::string> sentences = context.faults;
  // Types of its own find both at once; of custom kinds the schema is asked afterwards.
  if (!context.resource->custom && !context.text.empty()) {
    sentences = faults_in_order(context.text, context.faults, fields);
  } else {
    sentences.insert(sentences.end(), fields.begin(), fields.end());
  }
  if (!sentences.empty() && context.validation == FieldValidation::strict) {
    return undecodable(context.resource->type.gvk,
                       "strict decoding error: " + base::join(sentences, ", "));
  }
  if (context.validation != FieldValidation::warn) sentences.clear();
  return sentences;
}

Result<Json> Writer::decode(const WriteContext& context, Json body, bool applied) {
  const Resource& resource = *context.resource;
  if (!body.is_object()) {
    return bad_request(
        fmt::format("the object provided is unrecognized (must be of type {}): not "
                    "a JSON object",
                    resource.type.gvk.kind));
  }
  KW_TRY(check_type(context, body));
  body["apiVersion"] = resource.type.gvk.api_version();
  body["kind"] = resource.type.gvk.kind;
  std::vector<std::string> unknown;
  KW_TRY(normalise_metadata(resource, body, unknown));
  if (resource.custom) {
    KW_TRY(shape_custom(resource, body, applied, unknown));
  } else {
    // Who applies fields that a schema lacks was refused before; where it names none, nobody is
    // told.
    std::vector<std::string> untold;
    builtin::drop_unknown(body, applied ? untold : unknown);
  }
  KW_TRY(normalise_kind(resource, body));
  // A value of another type is told before any field that nobody knows.
  if (!resource.custom) {
    KW_TRY(read_typed(body, resource));
  }
  KW_ASSIGN(const std::vector<std::string> warnings, field_warnings(context, unknown));
  if (!resource.custom) builtin::apply_defaults(resource.storage_id, body);
  if (resource.storage_id == kCrds) {
    KW_TRY(normalise_crd(body));
  }
  // Only a body that could be read is warned of.
  context.warnings->insert(context.warnings->end(), warnings.begin(), warnings.end());
  Json& metadata = body["metadata"];
  const std::string ns = string_at(metadata, {"namespace"});
  if (resource.type.namespaced && ns.empty()) {
    metadata["namespace"] = context.namespace_;
  } else if (resource.type.namespaced && ns != context.namespace_) {
    return wrong_namespace();
  }
  return body;
}

// No name is made of a generateName yet.
Result<void> Writer::admit_create(const WriteContext& context, const Json& object) const {
  const Resource& resource = *context.resource;
  std::string name = string_at(object, {"metadata", "name"});
  if (resource.custom && resource.custom->terminating) {
    return forbidden(resource.subject(name),
                     "create not allowed while custom resource definition is terminating");
  }
  if (!resource.type.namespaced) return {};
  const ObjectPtr ns = storage_.get("namespaces", context.namespace_);
  if (!ns) return not_found({"", "namespaces", context.namespace_});
  if (!is_dying(ns->json())) return {};
  const std::string why =
      fmt::format("unable to create new content in namespace {} because it is being terminated",
                  context.namespace_);
  if (name.empty()) name = string_at(object, {"metadata", "generateName"});
  if (name.empty()) name = "Unknown";
  const Error plain = forbidden(resource.subject(name), why);
  Json status = status_json(plain);
  status["details"]["causes"] = Json::array(
      {{{"reason", "NamespaceTerminating"},
        {"message", fmt::format("namespace {} is being terminated", context.namespace_)},
        {"field", "metadata.namespace"}}});
  return error_from_status(status);
}

// uid, times, generated name: what clients may not choose.
Result<void> Writer::fill_new(const WriteContext& context, Json& object) {
  Json& metadata = object["metadata"];
  // A dry run shows it as it came. What is no number counts as none here, and only here.
  if (!context.dry_run) {
    if (const auto version = version_of(object); version && *version != 0) {
      return internal_error("resourceVersion should not be set on objects to be created");
    }
    metadata.erase("resourceVersion");
  }
  for (const char* key : {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}) {
    metadata.erase(key);
  }
  const auto keeps = [&](const char* key) {
    return context.saved && !string_at(metadata, {key}).empty();
  };
  if (!keeps("uid")) metadata["uid"] = random_.uuid();
  if (!keeps("creationTimestamp")) {
    metadata["creationTimestamp"] = base::format_rfc3339(context.now);
  }
  // Kinds that do not count keep what they are given.
  if (context.resource->traits.generation) {
    const auto given = base::int_at(metadata, {"generation"}).value_or(0);
    metadata["generation"] = context.saved && given > 0 ? given : 1;
  } else if (metadata.value("generation", Json()) == 0) {
    metadata.erase("generation");
  }
  const std::string base_name = string_at(metadata, {"generateName"});
  if (context.resource->storage_id == "limitranges" && base_name.empty() &&
      string_at(metadata, {"name"}).empty()) {
    metadata["name"] = random_.uuid();
  }
  if (!string_at(metadata, {"name"}).empty() || base_name.empty()) return {};
  const std::string& ns = context.resource->type.namespaced ? context.namespace_ : "";
  for (int attempt = 0; attempt < 8; ++attempt) {
    const std::string name = base_name.substr(0, 58) + random_.suffix(5);
    metadata["name"] = name;
    if (!storage_.get(context.resource->storage_id, object_key(ns, name))) return {};
  }
  return {};
}

Result<Json> Writer::track(const WriteContext& context, const Json* live, const Json& object) {
  schema::UpdateRequest request;
  request.live = live;
  Json nothing;
  if (live == nullptr && !context.resource->custom) {
    const core::Gvk& gvk = context.resource->type.gvk;
    nothing = builtin::empty_object(gvk.api_version(), gvk.kind);
    request.nothing = &nothing;
  }
  request.ignored = ignored_fields(*context.resource, object, context.subresource);
  request.updated = object;
  request.manager = context.manager;
  request.subresource = context.subresource;
  request.schema = context.resource->merge;
  request.now = context.now;
  const bool definition = context.resource->storage_id == kCrds;
  Json written;
  if (definition && live != nullptr) {
    // What is empty there and yet means something is put back only afterwards: nobody owns it for
    // that.
    written = *live;
    schema::as_written(*context.resource->merge, written);
    request.live = &written;
  }
  const Resource& resource = *context.resource;
  const bool others =
      has_other_owners(resource, live) || (live != nullptr && has_other_owners(resource, &object));
  auto tracked =
      others ? VersionOwners(registry_, resource, definition_of(resource)).track(std::move(request))
             : schema::track_update(request);
  if (!tracked) return internal_error(tracked.error().message());
  if (definition) restore_crd(object, tracked.value());
  return tracked;
}

ObjectPtr Writer::definition_of(const Resource& resource) const {
  return resource.custom ? storage_.get(kCrds, object_key("", resource.storage_id)) : nullptr;
}

void Writer::on_event(const std::string& storage_id, const EventPtr& event) {
  if (storage_id != "services") return;
  if (event->previous) drop_holdings(event->previous->json(), held_);
  if (event->type != EventType::deleted) add_holdings(event->object->json(), held_);
}

Result<void> Writer::complete(const WriteContext& context, const Json* live, Json& object) {
  const Resource& resource = *context.resource;
  if (resource.custom) return {};
  if (resource.storage_id == "services") {
    // Where nobody has it already, the same name gets the same address again: runs can be compared.
    const std::string key = object_key(context.namespace_, string_at(object, {"metadata", "name"}));
    const std::size_t seed = std::hash<std::string>()(key);
    KW_TRY(allocate_service(live, object, held_, seed, context.dry_run));
  }
  if (live == nullptr) {
    builtin::fill_new(resource.storage_id, object, *context.warnings);
    // What a cluster had was admitted there.
    if (!context.saved) {
      KW_TRY(admit_new(storage_, resource, object));
      take_default_class(storage_, resource, object);
    }
  } else {
    builtin::fill_updated(resource.storage_id, *live, object);
  }
  return {};
}

// A dry run asks no etcd. What is too large with its managedFields is kept without them, unless
// they are what the client has asked for.
Result<void> Writer::fit(const WriteContext& context, const Object* live, bool applied,
                         Json& stored) const {
  if (context.dry_run) return {};
  const Resource& resource = *context.resource;
  const std::string ns = resource.type.namespaced ? context.namespace_ : "";
  const std::string key =
      registry_prefix(resource) + "/" + object_key(ns, string_at(stored, {"metadata", "name"}));
  const std::uint64_t replaced = live == nullptr ? 0 : live->version();
  auto checked = check_stored_size(resource, key, stored, replaced);
  if (checked.ok() || applied || stored["metadata"].erase("managedFields") == 0) return checked;
  return check_stored_size(resource, key, stored, replaced);
}

ObjectPtr Writer::store(const WriteContext& context, Json stored, std::optional<Json> shown) {
  if (context.dry_run) return std::make_shared<const Object>(std::move(shown ? *shown : stored));
  return storage_.put(context.resource->storage_id, std::move(stored), std::move(shown));
}

// Of a definition restore_crd has put back what counts, and the schemas of others know no types.
bool Writer::knows_empties(const Resource& resource) {
  return !resource.custom && resource.storage_id != kCrds;
}

Json Writer::take_empties(const Resource& resource, const Json& sent, const Json& written) {
  if (!knows_empties(resource)) return nullptr;
  Json out = lost_empties(sent, written);
  // Fields are owned as empty maps, and those that are not owned any more are not lost.
  if (Json* metadata = base::find(out, {"metadata"})) {
    metadata->erase("managedFields");
    if (metadata->empty()) out.erase("metadata");
  }
  return out.empty() ? Json() : out;
}

void Writer::leave_out(const Resource& resource, Json& object, Json& empties) {
  if (!knows_empties(resource)) return;
  Json written = object;
  if (!empties.is_null()) schema::as_written(*resource.merge, written);
  builtin::hide_empty_lists(written);
  empties = lost_empties(object, written);
  object = std::move(written);
}

void Writer::check_kind(const WriteContext& context, const Json* live, const Json& object,
                        const Json& empties, FieldErrors& errors, FieldErrors* tolerated) {
  const Resource& resource = *context.resource;
  if (empties.is_null()) {
    return validate_kind(resource, live, object, context.subresource, errors, tolerated);
  }
  Json whole = object;
  put_empties(empties, whole);
  validate_kind(resource, live, whole, context.subresource, errors, tolerated);
}

Writer::AsSent Writer::as_sent(const Resource& resource, const Json& sent) {
  return {.shares_labels = builtin::shares_labels(resource.storage_id, sent),
          .overhead = sends_overhead(resource, sent)};
}

void Writer::check_admin_access(const WriteContext& context, const Json* live, const Json& object,
                                FieldErrors& errors) const {
  const std::string asked =
      builtin::asked_admin_access(context.resource->storage_id, live, object, context.subresource);
  if (asked.empty()) return;
  const ObjectPtr ns = storage_.get("namespaces", context.namespace_);
  if (ns && builtin::grants_admin_access(ns->json())) return;
  errors.push_back(schema::field_forbidden(asked, builtin::kNoAdminAccess));
}

Result<Written> Writer::commit_create(const WriteContext& context, Json object, bool tracked,
                                      const AsSent& sent) {
  const Resource& resource = *context.resource;
  KW_TRY(admit_create(context, object));
  KW_TRY(fill_new(context, object));
  const std::string name = string_at(object, {"metadata", "name"});
  Json empties = sent.empties;
  if (!tracked) {
    KW_ASSIGN(Json written, track(context, nullptr, object));
    empties = take_empties(resource, object, written);
    object = std::move(written);
  }
  put_empties(empties, object);
  // What the server fills in belongs to nobody.
  prepare_create(resource, object);
  if (!context.saved) tell_caller(resource, context.caller, object);
  KW_TRY(complete(context, nullptr, object));
  leave_out(resource, object, empties);
  if (sent.shares_labels) builtin::share_labels(object);
  FieldErrors errors;
  check_admin_access(context, nullptr, object, errors);
  if (looks_at_metadata(resource)) validate_metadata(resource, object, errors);
  check_kind(context, nullptr, object, empties, errors);
  if (!looks_at_metadata(resource) && errors.empty()) validate_metadata(resource, object, errors);
  if (!errors.empty()) return invalid(resource.kind_subject(name), errors);
  tell_warnings(context, nullptr, object);
  KW_TRY(check_pod_security(storage_, context, nullptr, object));
  if (!context.saved) {
    KW_TRY(check_admitted(storage_, resource, nullptr, object, sent.overhead));
  }
  const std::string ns = resource.type.namespaced ? context.namespace_ : "";
  const bool has_status = object.contains("status");
  Json stored = to_stored(resource, std::move(object));
  KW_TRY(fit(context, nullptr, tracked, stored));
  // A default of the status is only read: what a create puts has lost its status.
  std::optional<Json> shown;
  if (resource.custom && !has_status && stored.contains("status")) {
    shown = stored;
    stored.erase("status");
  }
  if (const ObjectPtr there = storage_.get(resource.storage_id, object_key(ns, name))) {
    const Error taken = already_exists(resource.subject(name));
    if (!is_dying(there->json())) return taken;
    Json status = status_json(taken);
    status["message"] = "object is being deleted: " + taken.message();
    return error_from_status(status);
  }
  return Written{store(context, std::move(stored), std::move(shown)), true};
}

Result<Written> Writer::create(const WriteContext& context, Json body) {
  const AsSent sent = as_sent(*context.resource, body);
  KW_ASSIGN(Json object, decode(context, std::move(body)));
  drop_repeated_owners(Owners::as_sent, object, *context.warnings);
  return commit_create(context, std::move(object), false, sent);
}

Result<ObjectPtr> Writer::live(const WriteContext& context) const {
  const std::string ns = context.resource->type.namespaced ? context.namespace_ : "";
  ObjectPtr object = storage_.get(context.resource->storage_id, object_key(ns, context.name));
  if (!object) return not_found(context.resource->subject(context.name));
  return object;
}

Result<Written> Writer::commit_update(const WriteContext& context, const ObjectPtr& live,
                                      Json object, bool tracked, Json empties) {
  const Resource& resource = *context.resource;
  const Json before = to_served(resource, live->json());
  put_empties(empties, object);
  prepare_update(resource, before, object, context.subresource);
  keep_server_metadata(before, object);
  // It is not stored; a dry run shows it as it came.
  if (!context.dry_run) object["metadata"].erase("selfLink");
  if (!tracked) {
    KW_ASSIGN(Json written, track(context, &before, object));
    empties = take_empties(resource, object, written);
    object = std::move(written);
  }
  put_empties(empties, object);
  keep_rest(resource, before, object, context.subresource);
  fill_times(resource, before, object, context.subresource, context.now);
  if (context.subresource.empty()) {
    KW_TRY(complete(context, &before, object));
  } else if (!resource.custom && context.subresource == "status") {
    builtin::fill_updated_status(resource.storage_id, before, base::format_rfc3339(context.now),
                                 object);
  } else if (!resource.custom) {
    builtin::drop_disabled_fields(resource.storage_id, &before, object);
  }
  leave_out(resource, object, empties);
  if (counts_changes(resource) && wants_generation(resource, before, object)) {
    object["metadata"]["generation"] =
        base::int_at(before, {"metadata", "generation"}).value_or(0) + 1;
  }
  FieldErrors errors;
  check_admin_access(context, &before, object, errors);
  validate_metadata_update(resource, before, object, context.subresource, errors);
  FieldErrors tolerated;
  // What a cluster had was admitted there, step by step; from no status there is no one step to it.
  const bool had = context.saved && !resource.custom && context.subresource == "status";
  if (!had) check_kind(context, &before, object, empties, errors, &tolerated);
  for (const auto& error : tolerated) context.warnings->push_back(schema::sentence(error));
  if (!errors.empty()) return invalid(resource.kind_subject(context.name), errors);
  tell_warnings(context, &before, object);
  KW_TRY(check_pod_security(storage_, context, &before, object));
  if (context.subresource.empty()) {
    KW_TRY(check_admitted(storage_, resource, &before, object));
    KW_TRY(check_growth(storage_, resource, before, object));
  }
  Json stored = tracked && moves_owners_alone(resource, before, object)
                    ? with_owners_of(object, live->json())
                    : to_stored(resource, std::move(object));
  keep_other_part(resource, live->json(), stored, context.subresource);
  // As it is kept: what one version shows alike may differ there.
  if (schema::keep_times_of_noop(live->json(), stored) &&
      storage_.is_as_put(resource.storage_id, live->key())) {
    return Written{live, false};
  }
  if (is_released(resource, stored)) {
    // The answer shows the object as its last update left it; the deletion has a resourceVersion of
    // its own.
    auto last = std::make_shared<const Object>(std::move(stored));
    if (!context.dry_run) storage_.remove(resource.storage_id, live->key());
    return Written{last, false};
  }
  KW_TRY(fit(context, live.get(), tracked, stored));
  return Written{store(context, std::move(stored)), false};
}

Result<void> Writer::check_version(const WriteContext& context, const Object& live,
                                   const Json& object) const {
  const Resource& resource = *context.resource;
  KW_ASSIGN(const std::uint64_t version, version_of(object));
  if (version == 0 && resource.traits.needs_version) {
    return invalid(
        resource.subject(context.name),
        {field_invalid("metadata.resourceVersion", "0", "must be specified for an update")});
  }
  if (version == 0 || version == live.version()) return {};
  return modified(resource.subject(context.name));
}

Result<void> check_uid(const WriteContext& context, const std::string& live, const Json& object) {
  const std::string uid = string_at(object, {"metadata", "uid"});
  if (uid.empty() || uid == live) return {};
  const Resource& resource = *context.resource;
  const std::string ns = resource.type.namespaced ? context.namespace_ : "";
  return conflict(
      resource.subject(context.name),
      fmt::format("StorageError: invalid object, Code: 4, Key: /registry/{}/{}, ResourceVersion: "
                  "0, AdditionalErrorMsg: Precondition failed: UID in precondition: {}, UID in "
                  "object meta: {}",
                  registry_prefix(resource), object_key(ns, context.name), uid, live));
}

Result<Written> Writer::update(const WriteContext& context, Json body) {
  const Resource& resource = *context.resource;
  KW_ASSIGN(Json object, decode(context, std::move(body)));
  drop_repeated_owners(Owners::as_sent, object, *context.warnings);
  KW_TRY(check_url_name(object, context.name));
  const auto now = live(context);
  if (!now && !resource.traits.creates_on_update) return now.error();
  KW_TRY(check_uid(context, now ? now.value()->uid() : "", object));
  if (now) {
    KW_TRY(check_version(context, *now.value(), object));
    return commit_update(context, now.value(), std::move(object), false);
  }
  KW_TRY(version_of(object));
  object["metadata"].erase("resourceVersion");
  return commit_create(context, std::move(object), false, {});
}

Result<ObjectPtr> Writer::changed(const WriteContext& context, const Change& change) {
  const auto now = live(context);
  if (!now) return ObjectPtr();
  const Resource& resource = *context.resource;
  Json object = to_served(resource, now.value()->json());
  if (!change(object)) return ObjectPtr();
  if (resource.custom) {
    if (!resource.custom->compiled->apply_defaults(object)) return request_too_large();
  } else {
    builtin::apply_defaults(resource.storage_id, object);
  }
  KW_ASSIGN(const Written written,
            commit_update(context, now.value(), std::move(object), context.owners_known));
  return written.object;
}

Result<void> Writer::change(const WriteContext& context, const Change& change) {
  KW_TRY(changed(context, change));
  return {};
}

}  // namespace kubewatch::apiserver
