// The documents that say what a server has: aggregated and plain discovery, /version, /openapi.
// Made from the registry; pure.
#pragma once

#include <optional>
#include <string>

#include "apiserver/registry.hpp"
#include "apiserver/request.hpp"

namespace kubewatch::apiserver {

// Answers GET requests on paths that are no resources: /, /api, /apis, /apis/G, /apis/G/V,
// /version, /healthz, /livez, /readyz, /openapi/v2 and v3, and those of the tokens' issuer. Absent
// when the path is none of these.
std::optional<ApiResponse> answer_discovery(const Registry& registry,
                                            const std::vector<std::string>& segments,
                                            const ApiRequest& request, const std::string& address);

// One group version's OpenAPI document in the form of v3: what can be asked for, and all types that
// this names. `of`: whether custom kinds are as v3 or as v2 tells them, which all else is the same
// for (openapi_v2.hpp).
enum class OpenApi { v2, v3 };
Json openapi_document(const Registry& registry, const std::string& group,
                      const std::string& version, OpenApi of = OpenApi::v3);

}  // namespace kubewatch::apiserver
