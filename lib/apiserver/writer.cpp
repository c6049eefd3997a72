#include "apiserver/writer.hpp"

#include <fmt/format.h>

#include "apiserver/convert.hpp"
#include "apiserver/crd.hpp"
#include "apiserver/metadata.hpp"
#include "apiserver/strategy.hpp"
#include "apiserver/typing.hpp"
#include "base/strings.hpp"
#include "schema/managed_fields.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;

std::string excerpt(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most) + " ...";
}

Result<void> check_type(const WriteContext& context, const Json& body) {
  const auto& gvk = context.resource->type.gvk;
  const std::string kind = string_at(body, {"kind"});
  const std::string version = string_at(body, {"apiVersion"});
  if (context.resource->custom && kind.empty()) {
    const std::string text = base::dump_json(body);
    return bad_request(fmt::format(
        "the object provided is unrecognized (must be of type {}): Object 'Kind' is missing in "
        "'{}' ({})",
        gvk.kind, excerpt(text, 1000), excerpt(text, 30)));
  }
  if ((context.resource->custom || !version.empty()) && version != gvk.api_version()) {
    return bad_request(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    version, gvk.api_version()));
  }
  if (kind.empty() || kind == gvk.kind) return {};
  if (context.resource->custom) {
    return invalid({gvk.group, kind, string_at(body, {"metadata", "name"})},
                   {field_invalid("kind", base::dump_json(Json(kind)), "must be " + gvk.kind)});
  }
  return bad_request(
      fmt::format("{} in version \"{}\" cannot be handled as a {}", kind, gvk.version, gvk.kind));
}

// Defaults, unknown fields and embedded resources, as the schema has them.
Result<void> shape_custom(const Resource& resource, Json& body, std::vector<std::string>& unknown) {
  const schema::CompiledSchema& compiled = *resource.custom->compiled;
  compiled.apply_defaults(body);
  auto dropped = compiled.prune(body);
  unknown.insert(unknown.end(), dropped.begin(), dropped.end());
  const auto embedded = compiled.coerce_embedded(body, unknown);
  if (embedded) return {};
  return undecodable(resource.type.gvk, embedded.error().message());
}

bool wants_generation(const Resource& resource, const Json& before, const Json& after) {
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

}  // namespace

Error error_from_status(const Json& status) {
  const Json* details = base::find(status, {"details"});
  return api_error(static_cast<int>(base::int_at(status, {"code"}).value_or(500)),
                   string_at(status, {"reason"}), string_at(status, {"message"}),
                   details == nullptr ? std::nullopt : std::optional<Json>(*details));
}

Result<Json> Writer::decode(const WriteContext& context, Json body,
                            std::vector<std::string>& warnings) {
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
    KW_TRY(shape_custom(resource, body, unknown));
  } else {
    auto dropped = prune_typed(body, resource);
    unknown.insert(unknown.end(), dropped.begin(), dropped.end());
  }
  std::vector<std::string> sentences = context.duplicates;
  for (const auto& path : unknown) sentences.push_back(fmt::format("unknown field \"{}\"", path));
  if (!sentences.empty() && context.validation == FieldValidation::strict) {
    return undecodable(resource.type.gvk, "strict decoding error: " + base::join(sentences, ", "));
  }
  if (context.validation == FieldValidation::warn) {
    warnings.insert(warnings.end(), sentences.begin(), sentences.end());
  }
  for (auto& warning : metadata_warnings(resource, body)) warnings.push_back(std::move(warning));
  KW_TRY(normalise_kind(resource, body));
  if (!resource.custom) KW_TRY(check_typed(body, resource));
  if (resource.storage_id == kCrds) {
    for (auto& warning : crd_warnings(body)) warnings.push_back(std::move(warning));
  }
  Json& metadata = body["metadata"];
  const std::string ns = string_at(metadata, {"namespace"});
  if (resource.type.namespaced && ns.empty()) {
    metadata["namespace"] = context.namespace_;
  } else if (resource.type.namespaced && ns != context.namespace_) {
    return wrong_namespace();
  }
  return body;
}

Result<void> Writer::admit_create(const WriteContext& context, const std::string& name) const {
  const Resource& resource = *context.resource;
  if (resource.custom && resource.custom->terminating) {
    return api_error(405, "MethodNotAllowed",
                     "create not allowed while custom resource definition is terminating",
                     Json{{"group", resource.type.gvk.group}, {"kind", resource.type.plural}});
  }
  if (!resource.type.namespaced) return {};
  const ObjectPtr ns = storage_.get("namespaces", context.namespace_);
  if (!ns) return not_found({"", "namespaces", context.namespace_});
  if (!is_dying(ns->json())) return {};
  const std::string why =
      fmt::format("unable to create new content in namespace {} because it is being terminated",
                  context.namespace_);
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
  const std::string version = string_at(metadata, {"resourceVersion"});
  if (!version.empty() && version != "0") {
    return internal_error("resourceVersion should not be set on objects to be created");
  }
  for (const char* key : {"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds",
                          "selfLink", "generation"}) {
    metadata.erase(key);
  }
  metadata["uid"] = random_.uuid();
  metadata["creationTimestamp"] = base::format_rfc3339(context.now);
  if (context.resource->generation) metadata["generation"] = 1;
  const std::string base_name = string_at(metadata, {"generateName"});
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
  request.ignored = ignored_fields(*context.resource, object, context.subresource);
  request.updated = object;
  request.manager = context.manager;
  request.subresource = context.subresource;
  request.schema = context.resource->merge;
  request.now = context.now;
  auto tracked = schema::track_update(request);
  if (!tracked) return internal_error(tracked.error().message());
  if (context.resource->storage_id == kCrds) keep_status_subresources(object, tracked.value());
  return tracked;
}

ObjectPtr Writer::store(const WriteContext& context, Json object) {
  if (!context.dry_run) {
    return storage_.put(context.resource->storage_id,
                        to_stored(*context.resource, std::move(object)));
  }
  return std::make_shared<const Object>(to_stored(*context.resource, std::move(object)));
}

Result<Written> Writer::commit_create(const WriteContext& context, Json object, bool tracked) {
  const Resource& resource = *context.resource;
  KW_TRY(fill_new(context, object));
  const std::string name = string_at(object, {"metadata", "name"});
  KW_TRY(admit_create(context, name));
  if (!tracked) {
    KW_ASSIGN(object, track(context, nullptr, object));
  }
  // What the server fills in belongs to nobody.
  prepare_create(resource, object);
  FieldErrors errors;
  validate_metadata(resource, object, errors);
  validate_kind(resource, nullptr, object, "", errors);
  if (!errors.empty()) return invalid(resource.kind_subject(name), errors);
  const std::string ns = resource.type.namespaced ? context.namespace_ : "";
  if (storage_.get(resource.storage_id, object_key(ns, name))) {
    return already_exists(resource.subject(name));
  }
  return Written{store(context, std::move(object)), true, {}};
}

Result<Written> Writer::create(const WriteContext& context, Json body) {
  std::vector<std::string> warnings;
  KW_ASSIGN(Json object, decode(context, std::move(body), warnings));
  KW_ASSIGN(Written written, commit_create(context, std::move(object), false));
  written.warnings = std::move(warnings);
  return written;
}

Result<ObjectPtr> Writer::live(const WriteContext& context) const {
  const std::string ns = context.resource->type.namespaced ? context.namespace_ : "";
  ObjectPtr object = storage_.get(context.resource->storage_id, object_key(ns, context.name));
  if (!object) return not_found(context.resource->subject(context.name));
  return object;
}

Result<Written> Writer::commit_update(const WriteContext& context, const ObjectPtr& live,
                                      Json object, bool tracked) {
  const Resource& resource = *context.resource;
  const Json before = to_served(resource, live->json());
  prepare_update(resource, before, object, context.subresource);
  keep_server_metadata(before, object);
  if (!tracked) {
    KW_ASSIGN(object, track(context, &before, object));
  }
  if (resource.generation && wants_generation(resource, before, object)) {
    object["metadata"]["generation"] =
        base::int_at(before, {"metadata", "generation"}).value_or(0) + 1;
  }
  FieldErrors errors;
  validate_metadata(resource, object, errors);
  validate_metadata_update(before, object, errors);
  validate_kind(resource, &before, object, context.subresource, errors);
  if (!errors.empty()) return invalid(resource.kind_subject(context.name), errors);
  if (schema::keep_times_of_noop(before, object)) return Written{live, false, {}};
  if (is_released(resource, object)) {
    // The answer shows the object as its last update left it; the deletion has a resourceVersion of
    // its own.
    auto last = std::make_shared<const Object>(to_stored(resource, std::move(object)));
    if (!context.dry_run) storage_.remove(resource.storage_id, live->key());
    return Written{last, false, {}};
  }
  return Written{store(context, std::move(object)), false, {}};
}

Result<void> Writer::check_version(const WriteContext& context, const Object& live,
                                   const std::string& version) const {
  const Resource& resource = *context.resource;
  if (version.empty() && needs_version(resource)) {
    return invalid(
        resource.subject(context.name),
        {field_invalid("metadata.resourceVersion", "0", "must be specified for an update")});
  }
  if (version.empty() || version == std::to_string(live.version())) return {};
  return modified(resource.subject(context.name));
}

Result<Written> Writer::update(const WriteContext& context, Json body) {
  const Resource& resource = *context.resource;
  std::vector<std::string> warnings;
  KW_ASSIGN(Json object, decode(context, std::move(body), warnings));
  const std::string name = string_at(object, {"metadata", "name"});
  if (!name.empty() && name != context.name) {
    return wrong_name(name, context.name);
  }
  object["metadata"]["name"] = context.name;
  KW_ASSIGN(const ObjectPtr now, live(context));
  const std::string version = string_at(object, {"metadata", "resourceVersion"});
  const std::string uid = string_at(object, {"metadata", "uid"});
  if (!uid.empty() && uid != now->uid()) {
    return conflict(resource.subject(context.name),
                    fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                                "meta: {}",
                                uid, now->uid()));
  }
  KW_TRY(check_version(context, *now, version));
  KW_ASSIGN(Written written, commit_update(context, now, std::move(object), false));
  written.warnings = std::move(warnings);
  return written;
}

Result<void> Writer::change(const WriteContext& context, const Change& change) {
  const auto now = live(context);
  if (!now) return {};
  Json object = to_served(*context.resource, now.value()->json());
  if (!change(object)) return {};
  KW_TRY(commit_update(context, now.value(), std::move(object), false));
  return {};
}

}  // namespace kubewatch::apiserver
