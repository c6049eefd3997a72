// What a DELETE may say of how: read from its body, or from its query where it has none. Pure; what
// is done with it is deleter.hpp.
#pragma once

#include <optional>
#include <string>

#include "apiserver/request.hpp"
#include "base/json.hpp"

namespace kubewatch::apiserver {

struct DeleteOptions {
  std::optional<std::string> uid;  // preconditions; an empty one is none that holds
  std::optional<std::string> resource_version;
  std::string propagation;      // "" | Background | Foreground | Orphan
  bool by_orphan_flag = false;  // said by orphanDependents
  bool dry_run = false;
};

// Null is an object that says nothing. Errors: bad_request, invalid_options.
Result<DeleteOptions> delete_options_of(const Json& body);
Result<DeleteOptions> delete_options_of(const Query& query);

}  // namespace kubewatch::apiserver
