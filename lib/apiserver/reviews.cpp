// Their shapes and rules are those of kube-apiserver 1.36, its answers those to a member of
// system:masters.
#include "apiserver/reviews.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "apiserver/api_target.hpp"
#include "apiserver/body_kind.hpp"
#include "apiserver/metadata.hpp"
#include "apiserver/typing.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "builtin/checks.hpp"
#include "builtin/misread.hpp"
#include "builtin/typed_form.hpp"
#include "core/object_rules.hpp"
#include "core/selector.hpp"
#include "schema/go_words.hpp"
#include "schema/managed_fields.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr const char* kMayAll = "the sandbox has no authorization";
constexpr const char* kIdentityGroup = "authentication.k8s.io";
constexpr const char* kRightsGroup = "authorization.k8s.io";

using base::string_at;

Json user_json(const Caller& caller) {
  Json out = {{"username", caller.name}, {"groups", caller.groups}};
  if (!caller.uid.empty()) out["uid"] = caller.uid;
  if (!caller.extra.empty()) out["extra"] = caller.extra;
  return out;
}

Json all_rules() {
  const Json all = Json::array({"*"});
  return {
      {"resourceRules", Json::array({{{"verbs", all}, {"apiGroups", all}, {"resources", all}}})},
      {"nonResourceRules", Json::array({{{"verbs", all}, {"nonResourceURLs", all}}})},
      {"incomplete", false}};
}

Json token_status(const Json& review, const Tokens& tokens, WallTime now) {
  const std::string token = string_at(review, {"spec", "token"});
  std::vector<std::string> wanted;
  if (const Json* asked = base::find(review, {"spec", "audiences"}); asked && asked->is_array()) {
    for (const Json& one : *asked) {
      if (one.is_string()) wanted.push_back(one.get<std::string>());
    }
  }
  if (wanted.empty()) wanted = {kApiAudience};
  const auto caller = tokens.caller(token, now, wanted);
  // What was sent as the status stays where there is nothing to say.
  Json out = review.value("status", Json());
  if (!out.is_object()) out = Json::object();
  out.erase("authenticated");
  if (!caller) {
    if (!out.contains("user")) out["user"] = Json::object();
    out["error"] = "invalid bearer token";
    return out;
  }
  out["authenticated"] = true;
  out["user"] = user_json(*caller);
  out["audiences"] = tokens.meant_for(token, wanted);
  return out;
}

// One of them, as its endpoint has it; null where the path names none.
ResourcePtr review_resource(const ResourcePath& path) {
  static const std::map<std::pair<std::string, std::string>, std::string> kinds = {
      {{kIdentityGroup, "selfsubjectreviews"}, "SelfSubjectReview"},
      {{kIdentityGroup, "tokenreviews"}, "TokenReview"},
      {{kRightsGroup, "subjectaccessreviews"}, "SubjectAccessReview"},
      {{kRightsGroup, "selfsubjectaccessreviews"}, "SelfSubjectAccessReview"},
      {{kRightsGroup, "localsubjectaccessreviews"}, "LocalSubjectAccessReview"},
      {{kRightsGroup, "selfsubjectrulesreviews"}, "SelfSubjectRulesReview"}};
  const auto known = kinds.find({path.group, path.plural});
  if (known == kinds.end() || path.version != "v1") return nullptr;
  Resource out;
  out.type.gvk = {path.group, path.version, known->second};
  out.type.plural = path.plural;
  out.type.namespaced = path.plural == "localsubjectaccessreviews";
  out.storage_id = path.plural + "." + path.group;
  out.storage_gvk = out.type.gvk;
  out.go_type = path.group.substr(0, path.group.find('.')) + "." + known->second;
  out.merge = schema::builtin_merge_schema(out.type.gvk);
  if (!out.merge) return nullptr;
  return std::make_shared<const Resource>(std::move(out));
}

// The review as it was sent, by its type.
Result<Json> read_review(WriteContext& context, const ApiRequest& request) {
  const Resource& resource = *context.resource;
  KW_ASSIGN(Json body, parse_object(context, request, resource));
  KW_TRY(check_body_kind(resource, body));
  body["apiVersion"] = resource.type.gvk.api_version();
  body["kind"] = resource.type.gvk.kind;
  std::vector<std::string> unknown;
  KW_TRY(normalise_metadata(resource, body, unknown));
  builtin::drop_unknown(body, unknown);
  KW_TRY(read_typed(body, resource));
  KW_ASSIGN(const auto told, field_warnings(context, unknown));
  context.warnings->insert(context.warnings->end(), told.begin(), told.end());
  Json& metadata = body["metadata"];
  for (const char* key : {"uid", "creationTimestamp", "deletionTimestamp",
                          "deletionGracePeriodSeconds", "selfLink"}) {
    metadata.erase(key);
  }
  if (metadata.value("generation", Json()) == 0) metadata.erase("generation");
  if (!resource.type.namespaced) return body;
  const std::string space = string_at(metadata, {"namespace"});
  if (!space.empty() && space != context.namespace_) return wrong_namespace();
  metadata["namespace"] = context.namespace_;
  return body;
}

Result<Json> with_manager(const WriteContext& context, const Json& review) {
  const core::Gvk& gvk = context.resource->type.gvk;
  const Json nothing = builtin::empty_object(gvk.api_version(), gvk.kind);
  schema::UpdateRequest update;
  update.nothing = &nothing;
  update.updated = review;
  update.manager = context.manager;
  update.schema = context.resource->merge;
  update.now = context.now;
  auto tracked = schema::track_update(update);
  if (!tracked) return internal_error(tracked.error().message());
  return tracked;
}

bool has_items(const Json& object, const char* key) {
  const Json* list = base::find(object, {key});
  return list != nullptr && !list->empty();
}

// An operator that nobody knows may be one of a newer server.
void check_requirement(const Json& requirement, bool labels, const std::string& field,
                       FieldErrors& errors) {
  const std::string key = string_at(requirement, {"key"});
  const std::string op = string_at(requirement, {"operator"});
  const bool values = has_items(requirement, "values");
  if (!labels && key.empty()) errors.push_back(field_required(field + ".key", "must be specified"));
  if ((op == "In" || op == "NotIn") && !values) {
    errors.push_back(
        field_required(field + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
  }
  if ((op == "Exists" || op == "DoesNotExist") && values) {
    errors.push_back(field_forbidden(
        field + ".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  }
  if (!labels) return;
  for (const auto& problem : builtin::qualified_problems(key)) {
    errors.push_back(field_invalid(field + ".key", schema::go_quoted(key), problem));
  }
  std::size_t index = 0;
  const Json all = requirement.value("values", Json::array());
  for (const Json& value : all) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    const std::string place = fmt::format("{}.values[{}]", field, index++);
    if (const std::string problem = core::check_label_value(text); !problem.empty()) {
      errors.push_back(field_invalid(place, schema::go_quoted(text), problem));
    }
  }
}

void check_selector(const Json& attributes, const char* key, FieldErrors& errors) {
  const Json* selector = base::find(attributes, {key});
  if (selector == nullptr) return;
  const std::string field = std::string("spec.resourceAttributes.") + key;
  const std::string raw = string_at(*selector, {"rawSelector"});
  const bool listed = has_items(*selector, "requirements");
  if (!raw.empty() && listed) {
    errors.push_back(field_invalid(field + ".rawSelector", schema::go_quoted(raw),
                                   "may not specified at the same time as requirements"));
  }
  if (raw.empty() && !listed) {
    errors.push_back(field_required(
        field + ".requirements",
        fmt::format("when {} is specified, requirements or rawSelector is required", field)));
  }
  std::size_t index = 0;
  const Json requirements = selector->value("requirements", Json::array());
  for (const Json& one : requirements) {
    check_requirement(one, std::string_view(key) == "labelSelector",
                      fmt::format("{}.requirements[{}]", field, index++), errors);
  }
}

// Of the requirements of a selector in an access review, what the server can read.
struct ReadRequirements {
  int read = 0;
  bool failed = false;
};

bool is_read_field(const Json& requirement) {
  const std::string op = string_at(requirement, {"operator"});
  const Json* values = base::find(requirement, {"values"});
  return (op == "In" || op == "NotIn") && values != nullptr && values->size() == 1;
}

// The rest of what could be wrong was refused before.
bool is_read_label(const Json& requirement) {
  static const std::set<std::string> known = {"In", "NotIn", "Exists", "DoesNotExist"};
  return known.count(string_at(requirement, {"operator"})) != 0;
}

ReadRequirements read_requirements(const Json& attributes, const char* key) {
  ReadRequirements out;
  const Json* selector = base::find(attributes, {key});
  if (selector == nullptr) return out;
  const bool labels = std::string_view(key) == "labelSelector";
  const std::string raw = string_at(*selector, {"rawSelector"});
  if (!raw.empty()) {
    out.failed =
        labels ? !core::LabelSelector::parse(raw).ok() : !core::FieldSelector::parse(raw).ok();
  }
  const Json requirements = selector->value("requirements", Json::array());
  for (const Json& one : requirements) {
    const bool read = labels ? is_read_label(one) : is_read_field(one);
    out.read += read ? 1 : 0;
    out.failed = out.failed || !read;
  }
  return out;
}

// "" = all could be read.
std::string evaluation_error(const Json& review) {
  const Json* attributes = base::find(review, {"spec", "resourceAttributes"});
  if (attributes == nullptr) return "";
  std::vector<std::string> out;
  for (const char* key : {"fieldSelector", "labelSelector"}) {
    const ReadRequirements found = read_requirements(*attributes, key);
    if (!found.failed) continue;
    out.push_back(fmt::format("spec.resourceAttributes.{} {}ignored due to parse error", key,
                              found.read > 0 ? "partially " : ""));
  }
  return base::join(out, "; ");
}

// Of an access review.
Result<void> check_access(const Resource& resource, const Json& review) {
  FieldErrors errors;
  const Json& spec = review.at("spec");
  const Json* attributes = base::find(spec, {"resourceAttributes"});
  const Json* path = base::find(spec, {"nonResourceAttributes"});
  const std::string path_field = "spec.nonResourceAttributes";
  const std::string shown = path == nullptr
                                ? "null"
                                : fmt::format("{{\"Path\":{},\"Verb\":{}}}",
                                              schema::go_quoted(string_at(*path, {"path"})),
                                              schema::go_quoted(string_at(*path, {"verb"})));
  if (attributes != nullptr && path != nullptr) {
    errors.push_back(field_invalid(path_field, shown,
                                   "cannot be specified in combination with resourceAttributes"));
  }
  if (attributes == nullptr && path == nullptr) {
    errors.push_back(field_invalid(
        "spec.resourceAttributes", shown,
        "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
  }
  const bool self = resource.type.plural == "selfsubjectaccessreviews";
  if (!self && string_at(spec, {"user"}).empty() && !has_items(spec, "groups")) {
    errors.push_back(
        field_invalid("spec.user", "\"\"", "at least one of user or group must be specified"));
  }
  if (attributes != nullptr) {
    check_selector(*attributes, "fieldSelector", errors);
    check_selector(*attributes, "labelSelector", errors);
  }
  const bool local = resource.type.namespaced;
  Json told = review.at("metadata");
  told.erase("managedFields");
  if (local) told.erase("namespace");
  if (!told.empty()) {
    errors.push_back(field_invalid("metadata", metadata_text(review.at("metadata")),
                                   local ? "must be empty except for namespace" : "must be empty"));
  }
  if (local && attributes != nullptr) {
    const std::string space = string_at(*attributes, {"namespace"});
    if (space != string_at(review, {"metadata", "namespace"})) {
      errors.push_back(field_invalid("spec.resourceAttributes.namespace", schema::go_quoted(space),
                                     "must match metadata.namespace"));
    }
  }
  if (local && path != nullptr) {
    errors.push_back(field_invalid(path_field, shown, "disallowed on this kind of request"));
  }
  if (errors.empty()) return {};
  return invalid({resource.type.gvk.group, "", ""}, errors);
}

// The server makes some of them anew and answers to others in place.
Result<Json> answered(const WriteContext& context, const Json& review, const ApiRequest& request,
                      const Tokens& tokens) {
  const std::string& plural = context.resource->type.plural;
  Json fresh = {{"apiVersion", review.at("apiVersion")},
                {"kind", review.at("kind")},
                {"metadata", Json::object()}};
  if (plural == "selfsubjectreviews") {
    fresh["metadata"]["creationTimestamp"] = base::format_rfc3339(context.now);
    fresh["status"] = {{"userInfo", user_json(acting(request))}};
    return fresh;
  }
  if (plural == "selfsubjectrulesreviews") {
    if (string_at(review, {"spec", "namespace"}).empty()) {
      return bad_request("no namespace on request");
    }
    fresh["spec"] = Json::object();
    fresh["status"] = all_rules();
    return fresh;
  }
  KW_ASSIGN(Json out, with_manager(context, review));
  if (plural == "tokenreviews") {
    if (string_at(out, {"spec", "token"}).empty()) {
      return bad_request("token is required for TokenReview in authentication");
    }
    out["status"] = token_status(out, tokens, context.now);
    return out;
  }
  KW_TRY(check_access(*context.resource, out));
  out["status"] = {{"allowed", true}};
  if (plural != "selfsubjectaccessreviews") out["status"]["reason"] = kMayAll;
  if (const std::string why = evaluation_error(out); !why.empty()) {
    out["status"]["evaluationError"] = why;
  }
  return out;
}

Result<ApiResponse> respond(const ApiRequest& request, const ResourcePtr& resource,
                            const ResourcePath& path, const Tokens& tokens, WallTime now,
                            std::vector<std::string>& warnings) {
  KW_ASSIGN(const Query query, parse_query(request.query));
  const auto as = representation_of(request, *resource, query, Endpoint::object, false);
  if (!as && !refuses_form(as.error())) return as.error();
  KW_ASSIGN(WriteContext context, write_context(request, resource, path, query, now));
  auto review = read_review(context, request);
  warnings = *context.warnings;
  KW_TRY(review);
  KW_ASSIGN(Json answer, answered(context, *review, request, tokens));
  KW_TRY(as);
  return text_response(*as, object_text(*resource, *as, Object(std::move(answer)), now), 201);
}

}  // namespace

std::optional<ApiResponse> answer_review(const ApiRequest& request,
                                         const std::vector<std::string>& segments,
                                         const Tokens& tokens, WallTime now) {
  const auto path = parse_resource_path(segments);
  if (request.method != "POST" || !path || !path->name.empty()) return std::nullopt;
  const ResourcePtr resource = review_resource(*path);
  if (!resource || resource->type.namespaced == path->namespace_.empty()) return std::nullopt;
  std::vector<std::string> warnings;
  auto answer = respond(request, resource, *path, tokens, now, warnings);
  ApiResponse out =
      answer ? std::move(*answer)
             : plain_response(request, status_json(answer.error()), status_code(answer.error()));
  add_warnings(warnings, out);
  return out;
}

}  // namespace kubewatch::apiserver
