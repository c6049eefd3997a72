// One list that a run is given: the children of a kind, or the matches of one `watches`, and how
// far the list can be trusted. Filled by RuleCaches, written down by invocation.
#pragma once

#include <string>
#include <vector>

#include "core/resource.hpp"

namespace kubewatch::hooks {

struct InputList {
  std::string name;  // of the `watches`; "" = children
  core::Gvk gvk;
  std::vector<std::string> objects{};  // raw JSON each
  // Up to which the list is exact. Of watches in several namespaces: that of the one furthest
  // behind.
  std::string resource_version{};
  // False: the filter failed on objects, which are left out, or the map on objects, which may
  // belong here.
  bool complete = true;
  std::string why_incomplete{};  // for people
  bool absent = false;           // the kind is optional, and the server has none
  // An object of which the cache has only metadata, "v1 ConfigMap shop/a"; no hook may see it.
  std::string reduced{};
};

}  // namespace kubewatch::hooks
