// What a manifest would come to own without its author meaning it: fields that the server keeps,
// nulls and empty values, defaults that nobody owned. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::cli {

// Drops what the server keeps: resourceVersion, uid, creationTimestamp, generation, managedFields,
// selfLink, deletionTimestamp, deletionGracePeriodSeconds, kubectl's last-applied annotation, and
// status unless `keep_status`. Gives the paths of what was there.
std::vector<std::string> strip_server_fields(Json& manifest, bool keep_status);
// The same paths, nothing dropped.
std::vector<std::string> server_fields_of(const Json& manifest, bool keep_status);

// Fields that `manager` owns after the apply, that nobody owned before and that had the same value
// then: the server's own, most of them defaults. At most `most` paths, in the form of conflicts.
std::vector<std::string> taken_defaults(const Json& before, const Json& after,
                                        const std::string& manager, std::size_t most);

}  // namespace kubewatch::cli
