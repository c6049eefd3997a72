// CustomResourceDefinitions as objects: what the server fills in, what it refuses, and the status
// that makes one usable. Objects in served form; pure. Serving them is registry.hpp.
#pragma once

#include <string>
#include <vector>

#include "apiserver/registry.hpp"
#include "apiserver/status.hpp"
#include "base/json.hpp"
#include "base/time.hpp"

namespace kubewatch::apiserver {

constexpr const char kCrds[] = "customresourcedefinitions.apiextensions.k8s.io";
constexpr const char kCrdFinalizer[] = "customresourcecleanup.apiextensions.k8s.io";

// Refuses shapes that the rest of this room could not read; fills in singular, listKind and
// conversion.
Result<void> normalise_crd(Json& crd);
void prepare_crd(Json& crd);
// `subresources: {status: {}}` is an empty object that means something; the merge schema takes it
// for an empty map and drops it. Puts back what `from` has.
void keep_status_subresources(const Json& from, Json& to);
// What the server says beside its answer: formats that it does not know, and our own limits.
std::vector<std::string> crd_warnings(const Json& crd);
void validate_crd(const Json* live, const Json& crd, FieldErrors& errors);

// The names as the CRD wants them, against all other resources of its group: "" or the reason and
// message of the conflict.
struct NameConflict {
  std::string reason;
  std::string message;
};
NameConflict find_name_conflict(const Registry& registry, const Json& crd);

// status with acceptedNames, NamesAccepted, Established and storedVersions; times of conditions
// that did not change are kept.
Json crd_status(const Json& crd, const NameConflict& conflict, WallTime now);
void set_condition(Json& status, const std::string& type, const std::string& value,
                   const std::string& reason, const std::string& message, WallTime now);
bool is_established(const Json& crd);

}  // namespace kubewatch::apiserver
