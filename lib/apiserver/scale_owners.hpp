// Who owns the replicas of an object, told as the owners of its Scale and back, as the real server
// does it: a Scale is tracked like any object, alone, and what it says of its replicas replaces
// what was said of the object's. Pure.
#pragma once

#include <map>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "schema/field_set.hpp"

namespace kubewatch::apiserver {

// Where each version of a resource, by apiVersion, has the replicas; empty: it has no Scale.
using ReplicaPaths = std::map<std::string, schema::Path>;

// ".spec.replicas" as a path.
schema::Path replica_path(const std::string& json_path);

// managedFields of the Scale of an object that has these; null where nobody owns its replicas.
// Errors: invalid.
Result<Json> owners_of_scale(const Json* owners, const ReplicaPaths& paths);
// managedFields of the object after a write of its Scale, whose owners are `scale` by now; the
// Scale was written in `version` of the object. Errors: invalid.
Result<Json> owners_with_scale(const Json* owners, const Json* scale, const ReplicaPaths& paths,
                               const std::string& version);

}  // namespace kubewatch::apiserver
