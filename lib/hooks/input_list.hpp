// One list that a run is given: the children of a kind, or the matches of one `watches`, how far it
// can be trusted, and what it may lack. Filled by RuleCaches, written down by invocation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/resource.hpp"

namespace kubewatch::hooks {

// An expression of the rule fails on an object, so whether that belongs to a list cannot be told,
// or half an object belongs to it. No hook runs on such a list.
struct Lack {
  std::string why;         // for people: the expression, the object and its kind, the error
  std::string expression;  // where in the rule: "/spec/watches/0/map"; "/content": half an object
};

struct InputList {
  std::string name;  // of the `watches`; "" = children
  core::Gvk gvk;
  std::vector<std::string> objects{};  // raw JSON each
  // Up to which the list is exact. Of watches in several namespaces: that of the one furthest
  // behind.
  std::string resource_version{};
  std::optional<Lack> lack{};  // of several the first
  bool absent = false;         // the kind is optional, and the server has none
  std::string file{};          // where a hook with `lists: files` reads the objects
};

}  // namespace kubewatch::hooks
