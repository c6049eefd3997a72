// The documents that say what a server has: aggregated and plain discovery, /version, /openapi/v3.
// Made from the registry; pure.
#pragma once

#include <optional>
#include <string>

#include "apiserver/registry.hpp"
#include "apiserver/request.hpp"

namespace kubewatch::apiserver {

// Answers GET requests on paths that are no resources: /, /api, /apis, /apis/G, /apis/G/V,
// /version, /healthz, /livez, /readyz, /openapi/v3, and those of the tokens' issuer. Absent when
// the path is none of these.
std::optional<ApiResponse> answer_discovery(const Registry& registry,
                                            const std::vector<std::string>& segments,
                                            const ApiRequest& request, const std::string& address);

// One group version's OpenAPI document: what can be asked for, and all types that this names.
Json openapi_document(const Registry& registry, const std::string& group,
                      const std::string& version);

}  // namespace kubewatch::apiserver
