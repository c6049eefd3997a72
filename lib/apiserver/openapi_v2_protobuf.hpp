// OpenAPI v2 as the protobuf that client-go asks for (gnostic's openapi.v2.Document), as far as
// openapi_v2 makes it. Parts are encoded one by one, so that a document is never held whole in
// another form. What is in it is openapi_v2's. Pure.
#pragma once

#include <map>
#include <string>

#include "base/json.hpp"

namespace kubewatch::apiserver {

// A message Schema, and a message PathItem, of the same in JSON. Members that these messages do not
// have are left out.
std::string schema_message(const Json& schema);
std::string path_message(const Json& path);
// A message Document of the messages of its paths and definitions, by their names.
std::string document_message(const Json& info, const std::map<std::string, std::string>& paths,
                             const std::map<std::string, std::string>& definitions);

}  // namespace kubewatch::apiserver
