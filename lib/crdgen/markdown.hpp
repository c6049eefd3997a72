// A CRD as a reference page in Markdown: its names, versions, columns, and a table of all fields.
// Pure.
#pragma once

#include <string>

#include "base/json.hpp"

namespace kubewatch::crdgen {

std::string markdown_of(const Json& crd);

}  // namespace kubewatch::crdgen
