// CustomResourceDefinitions as objects: what the server fills in, what it refuses, and the status
// that makes one usable. Objects in served form; pure. Serving them is registry.hpp.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "apiserver/status.hpp"
#include "base/json.hpp"
#include "base/time.hpp"

namespace kubewatch::apiserver {

constexpr const char kCrds[] = "customresourcedefinitions.apiextensions.k8s.io";
constexpr const char kCrdFinalizer[] = "customresourcecleanup.apiextensions.k8s.io";

// Of a definition in the form of the server's type: refuses shapes that the rest of this room could
// not read; fills in singular, listKind, conversion and what a status always says.
Result<void> normalise_crd(Json& crd);
void prepare_crd(Json& crd);
// A definition that the merge schema has gone over lacks what is empty and yet means something:
// puts back the status subresources and empty `dependencies` of `from`, and what a status always
// says.
void restore_crd(const Json& from, Json& to);
void validate_crd(const Json* live, const Json& crd, const std::string& subresource,
                  FieldErrors& errors);

// Names that definitions of one group hold, the one that is looked at included.
struct TakenNames {
  std::set<std::string> resources;  // plural, singular and short names
  std::set<std::string> kinds;      // of objects and of lists
  void add(const Json& crd);
  // Each of them is one of the other's.
  bool within(const TakenNames& other) const;
};

// What becomes of the names that a definition wants: those it may have, and "" or the reason and
// message of a conflict.
struct AcceptedNames {
  Json names;
  std::string reason;
  std::string message;
};
AcceptedNames choose_names(const Json& crd, const TakenNames& taken);

// status with acceptedNames, NamesAccepted, Established and storedVersions; times of conditions
// that did not change are kept.
Json crd_status(const Json& crd, const TakenNames& taken, WallTime now);
void set_condition(Json& status, const std::string& type, const std::string& value,
                   const std::string& reason, const std::string& message, WallTime now);
bool is_established(const Json& crd);

}  // namespace kubewatch::apiserver
