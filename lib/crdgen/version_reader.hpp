// The keys of one version of a TypeDefinitions document to an entry of spec.versions. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crdgen/node.hpp"
#include "crdgen/type_expander.hpp"

namespace kubewatch::crdgen {

// Keys that a version has, and a document of one version as well.
const std::vector<std::string>& version_keys();

struct VersionDefaults {
  std::optional<std::size_t> max_description;  // 0: descriptions are dropped
};

struct ReadVersion {
  Json version;
  std::optional<bool> storage;  // absent: not said
};

// `name_key` is "name" in a list of versions and "version" in the document itself.
ReadVersion read_version(const Node& node, const std::string& name_key, TypeExpander& types,
                         const VersionDefaults& defaults);

// The first `limit` bytes, cut between characters and marked; 0 limit: "".
std::string capped(const std::string& text, std::size_t limit);

}  // namespace kubewatch::crdgen
