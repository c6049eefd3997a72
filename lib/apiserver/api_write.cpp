// The writing verbs of Api: create, update, patch, token, eviction and binding of a Pod. Scales are
// in api_scale.cpp, what takes away in api_delete.cpp.
#include <fmt/format.h>

#include <set>

#include "apiserver/api_target.hpp"
#include "apiserver/duplicate_fields.hpp"
#include "apiserver/go_json_text.hpp"
#include "apiserver/pod_actions.hpp"
#include "apiserver/pod_resize.hpp"
#include "base/random.hpp"
#include "base/strings.hpp"
#include "base/yaml_body.hpp"

namespace kubewatch::apiserver {

namespace {

// Of go-yaml, as one error.
std::string yaml_faults(const std::vector<std::string>& faults) {
  return "yaml: unmarshal errors:\n  " + base::join(faults, "\n  ");
}

// The body of server-side apply. What it says twice is warned of, or refused.
Result<Json> parse_applied(const WriteContext& context, const std::string& text) {
  auto body = base::parse_yaml_body(text);
  if (!body) return bad_request("error decoding YAML: " + body.error().message());
  if (!body->repeated.empty() && context.validation == FieldValidation::strict) {
    return bad_request("error strict decoding YAML: error converting YAML to JSON: " +
                       yaml_faults(body->repeated));
  }
  if (context.validation == FieldValidation::warn) *context.warnings = std::move(body->repeated);
  return body->value.is_null() ? Json::object() : std::move(body->value);
}

// Also what an operation has that no operation has.
std::vector<std::string> faults_of_patch(const std::string& text, core::PatchType type,
                                         const Json& patch) {
  std::vector<std::string> faults = duplicate_fields(text);
  if (type != core::PatchType::json || !patch.is_array()) return faults;
  for (std::string& fault : faults) fault = "json patch " + fault;
  static const std::set<std::string> known = {"op", "path", "from", "value"};
  for (std::size_t i = 0; i < patch.size(); ++i) {
    if (!patch[i].is_object()) continue;
    for (const auto& [key, value] : patch[i].items()) {
      if (known.count(key) != 0) continue;
      faults.push_back(fmt::format("json patch unknown field \"[{}].{}\"", i, key));
    }
  }
  return faults;
}

}  // namespace

Result<Json> parse_patch(WriteContext& context, const std::string& body, core::PatchType type) {
  if (type == core::PatchType::apply) return parse_applied(context, body);
  auto value = parse_go_json(body);
  if (!value) {
    const char* prefix = type == core::PatchType::strategic ? "" : "error decoding patch: ";
    return bad_request(prefix + value.error().message());
  }
  if (context.validation != FieldValidation::ignore) {
    context.faults = faults_of_patch(body, type, *value);
  }
  return value;
}

Result<Json> parse_object(WriteContext& context, const ApiRequest& request,
                          const Resource& resource) {
  const bool told = context.validation != FieldValidation::ignore;
  KW_ASSIGN(Json body, parse_request_body(request, resource, told ? &context.faults : nullptr));
  if (is_yaml(request) && context.validation == FieldValidation::strict &&
      !context.faults.empty()) {
    context.faults = {yaml_faults(context.faults)};
  }
  if (!is_yaml(request)) context.text = request.body;
  return body;
}

Result<Reply> Api::write(const ApiRequest& request, const Target& target, WallTime now) {
  const Resource& resource = *target.resource;
  KW_ASSIGN(const Representation as,
            representation_of(request, resource, target.query, Endpoint::object, target.tables()));
  const bool patching = request.method == "PATCH";
  core::PatchType type = core::PatchType::json;
  if (patching) {
    KW_ASSIGN(type, patch_type(request, resource));
  }
  KW_ASSIGN(WriteContext context,
            write_context(request, target.resource, target.path, target.query, now));
  auto body = patching ? parse_patch(context, request.body, type)
                       : parse_object(context, request, resource);
  if (!body) {
    // The server reads patches when it has the object, which an apply may create.
    if (patching && type != core::PatchType::apply) {
      KW_TRY(writer_.live(context));
    }
    return body.error();
  }
  const auto write_as = [&](const WriteContext& how, Json what) -> Result<Written> {
    if (request.method == "POST") return writer_.create(how, std::move(what));
    if (!patching) return writer_.update(how, std::move(what));
    if (type == core::PatchType::apply) return writer_.apply(how, std::move(what));
    return writer_.patch(how, type, what);
  };
  // The node is asked about what would be written, and so that has to be known before.
  if (context.subresource == "resize") {
    WriteContext asked = context;
    asked.dry_run = true;
    if (const auto resized = write_as(asked, *body)) {
      warnings_ = *context.warnings;
      KW_ASSIGN(const ObjectPtr live, writer_.live(context));
      KW_TRY(admit_resize(storage_, live->json(), resized->object->json()));
    }
  }
  auto written = write_as(context, std::move(*body));
  // Also of what is refused.
  warnings_ = *context.warnings;
  KW_TRY(written);
  Reply reply;
  reply.response = text_response(as, object_text(resource, as, *written->object, now),
                                 written->created ? 201 : 200);
  return reply;
}

// A dry run gives a token as well, as there.
Result<Reply> Api::token(const ApiRequest& request, const Target& target, WallTime now) {
  KW_ASSIGN(const WriteContext context,
            write_context(request, target.resource, target.path, target.query, now));
  Resource as_sent = *target.resource;
  as_sent.type.gvk = {"authentication.k8s.io", "v1", "TokenRequest"};
  KW_ASSIGN(const Json body, parse_request_body(request, as_sent));
  if (storage_.get("namespaces", context.namespace_) == nullptr) {
    return not_found({"", "namespaces", context.namespace_});
  }
  KW_ASSIGN(const ObjectPtr account, writer_.live(context));
  constexpr std::size_t kTokenSecretBytes = 32;
  KW_ASSIGN(const Tokens::Issued issued,
            tokens_.issue(context, *account, body, base::secure_random_hex(kTokenSecretBytes)));
  warnings_ = issued.warnings;
  return Reply{status_response(issued.answer, 201), nullptr};
}

Result<Reply> Api::act_on_pod(const ApiRequest& request, const Target& target, WallTime now) {
  const bool evicting = target.path.subresource == "eviction";
  KW_ASSIGN(WriteContext context, write_context(request, registry_.find("", "v1", "pods"),
                                                target.path, target.query, now));
  Resource as_sent = *context.resource;
  as_sent.type.gvk = evicting ? kEviction : kBinding;
  KW_ASSIGN(const Json body, parse_object(context, request, as_sent));
  const auto done = evicting
                        ? evict_pod(storage_, writer_, context,
                                    registry_.find("policy", "v1", "poddisruptionbudgets"), body)
                        : bind_pod(storage_, context, body);
  // Also of what is refused.
  warnings_ = *context.warnings;
  KW_TRY(done);
  Json answer = success_status();
  answer["code"] = 201;
  return Reply{status_response(answer, 201), nullptr};
}

}  // namespace kubewatch::apiserver
