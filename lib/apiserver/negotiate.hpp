// Which representation an Accept header asks for: JSON or YAML; the object, a Table, or only its
// metadata.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kubewatch::apiserver {

enum class Format { object, table, partial };
enum class IncludeObject { metadata, none, object };

struct Representation {
  Format format = Format::object;
  bool yaml = false;
  bool pretty = false;
  std::string transform_version = "v1";             // of meta.k8s.io, for tables and metadata
  IncludeObject include = IncludeObject::metadata;  // in table rows
};

enum class Endpoint { object, list, watch };

// Errors: not_acceptable.
Result<Representation> negotiate(std::string_view accept, Endpoint endpoint,
                                 const std::string& go_type);

// Whether the header prefers aggregated discovery (v2 or v2beta1) to the plain documents: "v2",
// "v2beta1" or "". Errors: not_acceptable.
Result<std::string> negotiate_discovery(std::string_view accept);

}  // namespace kubewatch::apiserver
