// The defaults of the built-in kinds, and what the server puts into their objects by itself. By
// storage_id ("deployments.apps"), objects in served form. Not what needs other objects or state:
// addresses and ports of Services are apiserver/service_ips.hpp's. Pure; any JSON may come, null is
// absent.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::builtin {

// What reading an object does to it: typed_form.hpp, then its defaults. Idempotent.
void apply_defaults(const std::string& storage_id, Json& object);

// What a new object gets that has its defaults, its name, its uid and its creationTimestamp, and no
// status but that of its endpoint: by rules of its kind and by admission. Not the finalizers and
// taints that a controller would have to take away again. Warnings of what it was taken from cannot
// be told of the result.
void fill_new(const std::string& storage_id, Json& object, std::vector<std::string>& warnings);

// Whether an object as it was sent takes the labels of its template by default, which are the same
// map to the server: what fill_new adds to the one stands in the other.
bool shares_labels(const std::string& storage_id, const Json& sent);
void share_labels(Json& object);

// As fill_new, for an update of `live`; both have their defaults.
void fill_updated(const std::string& storage_id, const Json& live, Json& object);

// The same for an update of the status, which has the spec of `live` by now. `now` is RFC 3339.
void fill_updated_status(const std::string& storage_id, const Json& live, const std::string& now,
                         Json& object);

}  // namespace kubewatch::builtin
