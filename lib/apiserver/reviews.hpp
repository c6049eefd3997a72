// What is asked about identities and rights, and stored nowhere: SelfSubjectReview and TokenReview
// of authentication.k8s.io, the four access reviews of authorization.k8s.io. Everybody may do
// everything here, and the answers say so. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apiserver/tokens.hpp"

namespace kubewatch::apiserver {

// `segments`: of the path. Absent: it is no review.
std::optional<ApiResponse> answer_review(const ApiRequest& request,
                                         const std::vector<std::string>& segments,
                                         const Tokens& tokens, WallTime now);

}  // namespace kubewatch::apiserver
