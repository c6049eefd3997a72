// The patch half of writer.hpp: JSON patch, merge patch, strategic merge patch, server-side apply.
#include <fmt/format.h>

#include <functional>
#include <optional>

#include "apiserver/convert.hpp"
#include "apiserver/crd.hpp"
#include "apiserver/empties.hpp"
#include "apiserver/metadata.hpp"
#include "apiserver/strategy.hpp"
#include "apiserver/version_owners.hpp"
#include "apiserver/writer.hpp"
#include "builtin/defaults.hpp"
#include "builtin/misread.hpp"
#include "builtin/typed_form.hpp"
#include "schema/go_words.hpp"
#include "schema/managed_fields.hpp"
#include "schema/patch.hpp"
#include "schema/times.hpp"
#include "schema/typed.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;

Error patch_refused(const Error& error) {
  if (error.kind() == ErrorKind::too_large) {
    return api_error(413, "RequestEntityTooLarge", error.message(), std::nullopt);
  }
  return api_error(422, "Invalid", "the server rejected our request due to an error in our request",
                   Json::object());
}

std::string go_kind(const Json& object) {
  const std::string version = string_at(object, {"apiVersion"});
  const bool core = version.find('/') == std::string::npos;
  return fmt::format("{}{}, Kind={}", core ? "/" : "", version, string_at(object, {"kind"}));
}

Error patch_invalid(const std::string& shown, const std::string& why) {
  return invalid({"", "", ""}, {field_invalid("patch", schema::go_quoted(shown), why)});
}

Result<void> check_patched_custom(const core::Gvk& gvk, const Json& object,
                                  const ShownPatch& shown) {
  const std::string kind = string_at(object, {"kind"});
  const std::string version = string_at(object, {"apiVersion"});
  if (kind.empty()) {
    return patch_invalid(shown(), fmt::format("Object 'Kind' is missing in '{}'", shown()));
  }
  if (version.empty()) {
    return internal_error(
        "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion "
        "field'");
  }
  FieldErrors errors;
  if (kind != gvk.kind) {
    errors.push_back(field_invalid("kind", schema::go_quoted(kind), "must be " + gvk.kind));
  }
  if (version != gvk.api_version()) {
    errors.push_back(
        field_invalid("apiVersion", schema::go_quoted(version), "must be " + gvk.api_version()));
  }
  if (errors.empty()) return {};
  const auto slash = version.find('/');
  const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
  return invalid({group, kind, string_at(object, {"metadata", "name"})}, errors);
}

// Null where apiVersion and kind are texts or absent, or else what the decoder says of them.
std::optional<std::string> misread_type(const Json& object) {
  for (const char* key : {"apiVersion", "kind"}) {
    const Json* value = base::find(object, {key});
    if (value == nullptr || value->is_null() || value->is_string()) continue;
    return schema::misread_field(schema::json_word(*value), fmt::format(".{}", key), "string");
  }
  return std::nullopt;
}

// Of a built-in kind: why it is not converted to its type.
std::optional<std::string> why_unconverted(const Resource& resource, const Json& object) {
  if (resource.custom) return std::nullopt;
  if (const auto why = builtin::why_unconverted(object)) return why;
  return schema::why_no_times(*resource.merge, object, schema::TimeReader::converter);
}

// As Go reads JSON without a type: a number that 64 bits do not hold loses its last digits.
void read_large_numbers(Json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() >> 63U != 0) {
    value = static_cast<double>(value.get<std::uint64_t>());
  }
  if (!value.is_structured()) return;
  for (Json& below : value) read_large_numbers(below);
}

// As Go names what it reads of an object to know its kind.
constexpr const char* kTypeHead = R"(struct { APIVersion string "json:\"apiVersion,omitempty\""; )"
                                  R"(Kind string "json:\"kind,omitempty\"" })";

// A merge patch that is a list is the whole object afterwards, where nobody looks for fields that
// it says twice.
bool replaces_all(const WriteContext& context, core::PatchType type, const Json& body) {
  return type == core::PatchType::merge && body.is_array() && !context.resource->custom &&
         context.validation == FieldValidation::ignore;
}

// Owners of what was written before anybody applied; of a custom kind its rules see to it.
Result<void> check_ownable(const Resource& resource, const Json& live) {
  if (resource.custom || schema::managed_fields_of(live) != nullptr) return {};
  const auto fits = schema::check_value(*resource.merge, live, true);
  if (fits) return {};
  return internal_error(
      fmt::format("failed to create manager for existing fields: failed to convert new object {} "
                  "to smd typed: {}",
                  told_object(live), fits.error().message()));
}

}  // namespace

std::string told_object(const Json& configuration) {
  return fmt::format("({}/{}; {})", string_at(configuration, {"metadata", "namespace"}),
                     string_at(configuration, {"metadata", "name"}), go_kind(configuration));
}

Result<void> check_configuration(const core::Gvk& gvk, const Json& configuration) {
  if (!configuration.is_object() && !configuration.is_null()) {
    return bad_request(
        "error decoding YAML: error unmarshaling JSON: while decoding JSON: " +
        schema::misread_value(schema::json_word(configuration), "map[string]interface {}"));
  }
  if (string_at(configuration, {"apiVersion"}) != gvk.api_version() ||
      string_at(configuration, {"kind"}) != gvk.kind) {
    return bad_request("invalid object type: " + go_kind(configuration));
  }
  const Json* managed = base::find(configuration, {"metadata", "managedFields"});
  if (managed != nullptr && !managed->is_null()) {
    return bad_request("metadata.managedFields must be nil");
  }
  return {};
}

Result<void> check_patched_type(const WriteContext& context, const Json& object,
                                const ShownPatch& shown) {
  const core::Gvk& gvk = context.resource->type.gvk;
  if (const auto why = misread_type(object)) {
    return patch_invalid(shown(), "couldn't get version/kind; json parse error: " + *why);
  }
  if (context.resource->custom) return check_patched_custom(gvk, object, shown);
  const std::string kind = string_at(object, {"kind"});
  const std::string version = string_at(object, {"apiVersion"});
  // It is read as a type of no version then, which has no metadata.
  if (version.empty()) return check_url_name(Json::object(), context.name);
  if (version == gvk.api_version() && (kind.empty() || kind == gvk.kind)) return {};
  return patch_invalid(shown(), fmt::format("no kind \"{}\" is registered for version \"{}\" in "
                                            "scheme \"pkg/runtime/scheme.go:111\"",
                                            kind.empty() ? gvk.kind : kind, version));
}

Result<Json> patched(const Resource& resource, core::PatchType type, const Json& live,
                     const Json& patch) {
  const bool strategic = type == core::PatchType::strategic;
  // As Go reads null: nothing is said.
  if (patch.is_null() && type != core::PatchType::merge) return live;
  if (patch.is_null()) return bad_request("Invalid JSON Patch");
  if (type == core::PatchType::json ? !patch.is_array() : !patch.is_object()) {
    return bad_request(
        (strategic ? "" : "error decoding patch: ") +
        schema::misread_value(schema::json_word(patch), type == core::PatchType::json
                                                            ? "[]handlers.jsonPatchOp"
                                                            : "map[string]interface {}"));
  }
  if (type == core::PatchType::json) {
    if (const auto why = schema::why_no_operations(patch)) {
      return bad_request("error decoding patch: " + *why);
    }
    auto result = schema::json_patch(live, patch);
    if (!result) return patch_refused(result.error());
    return result;
  }
  if (type == core::PatchType::merge) return schema::merge_patch(live, patch);
  auto result = schema::strategic_patch(live, patch, resource.merge);
  if (result) return result;
  if (result.error().kind() == ErrorKind::invalid) return bad_request(result.error().message());
  return internal_error(result.error().message());
}

std::string shown_patch(core::PatchType type, const Json& patch, const Json& result) {
  return type == core::PatchType::strategic ? schema::go_text(patch) : base::dump_json(result);
}

Error as_patch_error(const Error& error, const std::string& shown) {
  const auto why = why_undecodable(error);
  return why ? patch_invalid(shown, *why) : error;
}

Result<Written> Writer::patch(const WriteContext& context, core::PatchType type, const Json& sent) {
  const Resource& resource = *context.resource;
  Json read;
  if (type == core::PatchType::strategic) {
    read = sent;
    read_large_numbers(read);
  }
  const Json& body = type == core::PatchType::strategic ? read : sent;
  KW_ASSIGN(const ObjectPtr now, live(context));
  if (replaces_all(context, type, body)) {
    return patch_invalid(base::dump_json(body), "couldn't get version/kind; json parse error: " +
                                                    schema::misread_value("array", kTypeHead));
  }
  KW_ASSIGN(Json object, patched(resource, type, to_served(resource, now->json()), body));
  const ShownPatch shown = [&]() -> std::string {
    // Who may only patch a part of a Secret does not see the rest of it.
    if (resource.storage_id == "secrets" && type != core::PatchType::strategic) return "";
    const auto again = patched(resource, type, to_served(resource, now->json()), body);
    return again ? shown_patch(type, body, *again) : "";
  };
  if (type != core::PatchType::strategic) {
    KW_TRY(check_patched_type(context, object, shown));
  } else if (const auto misread = misread_type(object)) {
    return patch_invalid(shown(), *misread);
  } else {
    // The server patches its own type then, which has a kind already: the patch's is not looked at.
    object["apiVersion"] = resource.type.gvk.api_version();
    object["kind"] = resource.type.gvk.kind;
    if (const auto why = why_unconverted(resource, object)) return patch_invalid(shown(), *why);
    schema::convert_numbers(*resource.merge, object);
    builtin::to_typed_form(object);
  }
  auto decoded = decode(context, std::move(object));
  if (!decoded) return as_patch_error(decoded.error(), shown());
  object = std::move(*decoded);
  drop_repeated_owners(Owners::patched, object, *context.warnings);
  KW_TRY(check_url_name(object, context.name));
  KW_TRY(check_version(context, *now, object));
  return commit_update(context, now, std::move(object), false);
}

Result<Written> Writer::apply(const WriteContext& context, Json configuration) {
  const Resource& resource = *context.resource;
  KW_TRY(check_configuration(resource.type.gvk, configuration));
  const std::string told = told_object(configuration);
  // Only what is no object at all is left out: empty maps and nulls are owned like all else, and
  // are dropped after the merge.
  Json& metadata = configuration["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (!resource.type.namespaced && metadata.is_object()) metadata.erase("namespace");
  const auto found = live(context);
  if (!found && !context.subresource.empty()) return found.error();
  const std::string uid = string_at(configuration, {"metadata", "uid"});
  if (!found && !uid.empty()) {
    return conflict(resource.subject(context.name),
                    fmt::format("uid mismatch: the provided object specified uid {}, and no "
                                "existing object was found",
                                uid));
  }
  Json before;
  if (found) {
    before = to_served(resource, found.value()->json());
    KW_TRY(check_ownable(resource, before));
  }
  schema::ApplyRequest request;
  request.live = found ? &before : nullptr;
  request.applied = configuration;
  request.manager = context.manager;
  request.subresource = context.subresource;
  request.force = context.force;
  request.schema = resource.merge;
  request.ignored = ignored_fields(resource, found ? before : configuration, context.subresource);
  request.now = context.now;
  const bool others = has_other_owners(resource, request.live);
  auto outcome =
      others ? VersionOwners(registry_, resource, definition_of(resource)).apply(std::move(request))
             : schema::apply(request);
  if (!outcome && outcome.error().status() != nullptr) return outcome.error();
  if (!outcome) {
    return internal_error(
        fmt::format("failed to create typed patch object {}: {}", told, outcome.error().message()));
  }
  if (!outcome->conflicts.empty()) {
    return error_from_status(schema::conflict_status(outcome->conflicts, outcome->untold));
  }
  // Only what may be merged is read as an object of its kind.
  if (const auto why = why_unconverted(resource, configuration)) {
    return internal_error(
        fmt::format("failed to convert new object {} to proper version: unable to convert "
                    "unstructured object to {}: {}",
                    told, go_kind(configuration), *why));
  }
  if (resource.storage_id == kCrds) {
    const bool versions = base::find(configuration, {"spec", "versions"}) != nullptr;
    restore_crd(versions ? configuration : before, outcome->object);
  }
  if (found && !outcome->changed) {
    // A schema may have changed since, and defaults are only shown until somebody writes.
    if (resource.custom) return commit_update(context, found.value(), std::move(before), true);
    tell_warnings(context, &before, before);
    return Written{found.value(), false};
  }
  AsSent sent = as_sent(resource, configuration);
  // Defaults see what is empty, too.
  Json empties;
  if (knows_empties(resource)) {
    empties = lost_empties(configuration, outcome->object, resource.merge.get());
    put_empties(empties, outcome->object);
  }
  if (!resource.custom) {
    schema::convert_numbers(*resource.merge, outcome->object);
    builtin::to_typed_form(outcome->object);
  }
  Json managed = outcome->object.at("metadata").value("managedFields", Json());
  KW_ASSIGN(Json object, decode(context, std::move(outcome->object), true));
  if (!managed.is_null()) object["metadata"]["managedFields"] = std::move(managed);
  leave_out(resource, object, empties);
  KW_TRY(check_url_name(object, context.name));
  if (found) {
    KW_TRY(check_version(context, *found.value(), object));
  } else {
    KW_TRY(version_of(object));
    object["metadata"].erase("resourceVersion");
  }
  if (found) {
    return commit_update(context, found.value(), std::move(object), true, std::move(empties));
  }
  sent.empties = std::move(empties);
  return commit_create(context, std::move(object), true, sent);
}

}  // namespace kubewatch::apiserver
