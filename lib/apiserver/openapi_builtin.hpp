// The schemas of built-in types as kube-apiserver's OpenAPI documents have them, without
// descriptions. Not what objects are checked by: that is schema/merge_schema. Pure.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.hpp"
#include "core/resource.hpp"

namespace kubewatch::apiserver {

// Reads the compiled-in text when it is made, and is made for one document: nothing is kept.
class BuiltinTypes {
 public:
  BuiltinTypes();

  // What documents call a kind: "io.k8s.api.apps.v1.Deployment"; "" where it is not built in.
  std::string name_of(const core::Gvk& gvk) const;
  // Adds the schema of a type, and of all that it refers to, by their names; of a name that is no
  // type nothing.
  void add(const std::string& name, Json& schemas) const;

 private:
  class Maker;
  struct Package {
    std::string handle;
    std::string name;
    std::string api_version;  // of its kinds
  };
  struct Definition {
    const Package* package = nullptr;
    std::string_view name;   // without the package; of a list that of its kind
    std::string_view marks;  // of a list "List"
    std::string_view fields;
    std::string_view raw;  // JSON
  };
  void read_line(std::string_view line);
  const Package* package(std::string_view handle) const;

  std::vector<Package> packages_;  // holds all from the start: definitions point into it
  std::unordered_map<std::string, Definition> definitions_;
};

}  // namespace kubewatch::apiserver
