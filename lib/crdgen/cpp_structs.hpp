// C++ structs for kinds: every field is std::optional and only what was set is written; the struct
// of the kind carries group, version, kind, plural and scope, so that client::Api takes it. From
// CRDs, and from the schemas of /openapi/v3 for built-in kinds. Pure.
#pragma once

#include <string>

#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::crdgen {

struct CppOptions {
  std::string name_space;  // NAME or NAME::NAME; "" is the kind and version, as in website_v1
  std::string version;     // of a CRD: "" is the stored one
  std::string plural;      // of a built-in kind, which its schema does not tell
  bool namespaced = true;
};

// A header. Errors: not_found (no such version), invalid (the namespace).
Result<std::string> cpp_of_crd(const Json& crd, const CppOptions& options);
// `document` is /openapi/v3/apis/GROUP/VERSION. Errors: not_found (no such kind), unsupported (the
// server tells none of its fields), invalid.
Result<std::string> cpp_of_openapi(const Json& document, const std::string& group,
                                   const std::string& version, const std::string& kind,
                                   const CppOptions& options);

}  // namespace kubewatch::crdgen
