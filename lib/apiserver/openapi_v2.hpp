// The one document of /openapi/v2, made of the documents of v3 when somebody asks for it and kept
// nowhere: it is a hundred times what an idle server has to say. Left out of it is what v2 cannot
// say (alternatives, null) and what the server does not say there either (defaults). Pure.
#pragma once

#include <string>

#include "apiserver/registry.hpp"
#include "base/json.hpp"

namespace kubewatch::apiserver {

// Of v3, or of a definition of a custom kind, in place; whatever it refers to is a definition
// afterwards. Doing it twice changes nothing.
void to_openapi_v2(Json& schema);
// The operations on one path.
Json openapi_v2_path(const Json& v3);

enum class OpenApiEncoding { json, protobuf };
std::string openapi_v2_document(const Registry& registry, OpenApiEncoding encoding);

}  // namespace kubewatch::apiserver
