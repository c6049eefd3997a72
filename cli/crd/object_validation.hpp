// Objects against CRDs as the API server would take them: defaults, then shape, values, lists and
// rules; unknown fields are told. No I/O.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apiserver/resource.hpp"
#include "base/json.hpp"
#include "schema/compiled_schema.hpp"

namespace kubewatch::cli {

class ObjectValidation {
 public:
  // Each must pass check_is_crd.
  explicit ObjectValidation(const std::vector<Json>& crds);

  // Whether one of the CRDs is of the object's group and kind, served in its version or not.
  bool knows_kind(const Json& object) const;
  // What the server would refuse on create, a sentence each; with `old`, which is what it has
  // stored, what it would refuse of an update of that. A status that has an endpoint of its own is
  // not written by either, and is not looked at. `tolerated`, if not null: rules that are broken as
  // they were before, of which it warns.
  std::vector<std::string> check(const Json& object, const Json* old = nullptr,
                                 std::vector<std::string>* tolerated = nullptr) const;
  // What that endpoint would refuse of the status.
  std::vector<std::string> check_status(const Json& object, const Json* old = nullptr) const;
  // Paths that it would drop: kubectl apply is warned of them.
  std::vector<std::string> unknown_fields(const Json& object) const;
  // CRDs whose schema cannot be read, and why.
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  // An object as the server has read it.
  struct Read {
    Json object;
    std::vector<std::string> unknown;
    std::vector<std::string> problems;  // of those that end the request
  };
  const apiserver::Resource* kind_of(const Json& object) const;
  static Read read(const apiserver::Resource& kind, const Json& object);
  static Json read_old(const apiserver::Resource& kind, const Json& old, const Json& object);

  std::map<std::string, apiserver::Resource> kinds_;  // by "apiVersion kind"
  std::set<std::string> by_webhook_;                  // of them
  std::set<std::string> group_kinds_;                 // "group kind"
  std::vector<std::string> broken_;
};

}  // namespace kubewatch::cli
