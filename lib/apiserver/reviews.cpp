// Their shapes are those of kube-apiserver 1.36 for a member of system:masters.
#include "apiserver/reviews.hpp"

#include "apiserver/api_target.hpp"
#include "apiserver/protobuf.hpp"
#include "base/json.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr const char* kMayAll = "the sandbox has no authorization";

Json user_json(const Caller& caller) {
  Json out = {{"username", caller.name}, {"groups", caller.groups}};
  if (!caller.uid.empty()) out["uid"] = caller.uid;
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
  const std::string token = base::string_at(review, {"spec", "token"});
  std::vector<std::string> wanted;
  if (const Json* asked = base::find(review, {"spec", "audiences"}); asked && asked->is_array()) {
    for (const Json& one : *asked) {
      if (one.is_string()) wanted.push_back(one.get<std::string>());
    }
  }
  if (wanted.empty()) wanted = {kApiAudience};
  const auto caller = tokens.caller(token, now, wanted);
  if (!caller) return {{"user", Json::object()}, {"error", "invalid bearer token"}};
  return {{"authenticated", true},
          {"user", user_json(*caller)},
          {"audiences", tokens.meant_for(token, wanted)}};
}

}  // namespace

std::optional<ApiResponse> answer_review(const ApiRequest& request,
                                         const std::vector<std::string>& segments,
                                         const Tokens& tokens, WallTime now) {
  const auto path = parse_resource_path(segments);
  if (request.method != "POST" || !path || !path->name.empty()) return std::nullopt;
  const bool identity = path->group == "authentication.k8s.io";
  if (!identity && path->group != "authorization.k8s.io") return std::nullopt;
  const std::string& kind = path->plural;
  const bool local = kind == "localsubjectaccessreviews";
  if (path->version != "v1" || local == path->namespace_.empty()) return std::nullopt;
  auto review =
      is_protobuf(request.body) ? decode_protobuf(request.body) : base::parse_json(request.body);
  if (!review || !review->is_object()) {
    const Error refused = bad_request("the review is not a JSON object");
    return status_response(status_json(refused), status_code(refused));
  }
  Json& out = *review;
  out["apiVersion"] = path->group + "/v1";
  if (!out["metadata"].is_object()) out["metadata"] = Json::object();
  if (identity && kind == "selfsubjectreviews") {
    out["kind"] = "SelfSubjectReview";
    out["metadata"]["creationTimestamp"] = base::format_rfc3339(now);
    out["status"] = {{"userInfo", user_json(acting(request))}};
  } else if (identity && kind == "tokenreviews") {
    out["kind"] = "TokenReview";
    out["status"] = token_status(out, tokens, now);
  } else if (!identity && kind == "selfsubjectrulesreviews") {
    out["kind"] = "SelfSubjectRulesReview";
    out["status"] = all_rules();
  } else if (!identity && kind == "selfsubjectaccessreviews") {
    out["kind"] = "SelfSubjectAccessReview";
    out["status"] = {{"allowed", true}};
  } else if (!identity && (local || kind == "subjectaccessreviews")) {
    out["kind"] = local ? "LocalSubjectAccessReview" : "SubjectAccessReview";
    out["status"] = {{"allowed", true}, {"reason", kMayAll}};
  } else {
    return std::nullopt;
  }
  return status_response(out, 201);
}

}  // namespace kubewatch::apiserver
