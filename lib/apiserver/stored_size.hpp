// How large an object may be: what the server's etcd takes at its own defaults. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "apiserver/resource.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

// `stored` as it is kept, below "/registry/" at `key`; `live`: the resourceVersion that it
// replaces, 0 for a new object. Exact for kinds that are kept as JSON (custom ones, definitions,
// APIServices); the others are kept more compactly, and are taken for a little less than they are.
// Errors: internal, in etcd's words.
Result<void> check_stored_size(const Resource& resource, const std::string& key, const Json& stored,
                               std::uint64_t live);

}  // namespace kubewatch::apiserver
