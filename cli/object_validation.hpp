// Objects against CRDs as the API server would take them: defaults, then shape, values, lists and
// rules; unknown fields are told. No I/O.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/compiled_schema.hpp"

namespace kubewatch::cli {

class ObjectValidation {
 public:
  // Each must pass check_is_crd.
  explicit ObjectValidation(const std::vector<Json>& crds);

  // Whether one of the CRDs serves the object's apiVersion and kind.
  bool knows(const Json& object) const;
  // What the server would refuse on create, a sentence each; on update where `old` is given.
  std::vector<std::string> check(const Json& object, const Json* old = nullptr) const;
  // Paths that it would drop: kubectl apply is warned of them.
  std::vector<std::string> unknown_fields(const Json& object) const;
  // CRDs whose schema cannot be read, and why.
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  struct Kind {
    std::shared_ptr<const schema::CompiledSchema> schema;
    bool namespaced = true;
  };
  const Kind* kind_of(const Json& object) const;

  std::map<std::string, Kind> kinds_;  // by "apiVersion kind"
  std::vector<std::string> broken_;
};

}  // namespace kubewatch::cli
