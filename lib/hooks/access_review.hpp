// The question whether this process has a right, as the server is asked it
// (authorization.k8s.io/v1 SelfSubjectAccessReview). No I/O.
#pragma once

#include <optional>

#include "base/json.hpp"
#include "core/resource.hpp"
#include "hooks/rbac.hpp"

namespace kubewatch::hooks {

const core::ResourceType& access_review_type();
// To be created; the answer is read by allowed_by.
Json access_review(const Right& right);
// Absent: the answer does not say.
std::optional<bool> allowed_by(const Json& answer);

}  // namespace kubewatch::hooks
