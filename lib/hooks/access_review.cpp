#include "hooks/access_review.hpp"

namespace kubewatch::hooks {

const core::ResourceType& access_review_type() {
  static const core::ResourceType review = [] {
    core::ResourceType type;
    type.gvk = {"authorization.k8s.io", "v1", "SelfSubjectAccessReview"};
    type.plural = "selfsubjectaccessreviews";
    type.namespaced = false;
    return type;
  }();
  return review;
}

Json access_review(const Right& right) {
  const auto slash = right.resource.find('/');
  Json attributes = {
      {"verb", right.verb}, {"group", right.group}, {"resource", right.resource.substr(0, slash)}};
  if (slash != std::string::npos) attributes["subresource"] = right.resource.substr(slash + 1);
  if (!right.namespace_.empty()) attributes["namespace"] = right.namespace_;
  if (!right.name.empty()) attributes["name"] = right.name;
  return {{"apiVersion", access_review_type().gvk.api_version()},
          {"kind", access_review_type().gvk.kind},
          {"spec", {{"resourceAttributes", std::move(attributes)}}}};
}

std::optional<bool> allowed_by(const Json& answer) {
  const Json* allowed = base::find(answer, {"status", "allowed"});
  if (allowed == nullptr || !allowed->is_boolean()) return std::nullopt;
  return allowed->get<bool>();
}

}  // namespace kubewatch::hooks
