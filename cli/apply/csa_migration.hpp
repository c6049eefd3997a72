// Ownership that client-side apply left behind, handed to the server-side manager: fields that a
// later manifest leaves out are removed then, and there are no conflicts with one's own past. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "schema/field_set.hpp"

namespace kubewatch::cli {

struct Migration {
  Json patch;                         // a JSON patch, good for this resourceVersion alone
  std::vector<std::string> managers;  // whose ownership goes over, each once
  // Leaves that they alone own: what the apply removes where the manifest does not say them.
  std::vector<schema::Path> paths;
};

// Managers that count: kubectl-client-side-apply; before-first-apply where the object has kubectl's
// last-applied annotation; and `more` (--migrate-from). Their updates of the object itself, not of
// subresources, go over to `manager`. Absent: there is nothing to hand over. Errors: invalid
// (broken managedFields).
Result<std::optional<Migration>> plan_migration(const Json& live, const std::string& manager,
                                                const std::vector<std::string>& more);

// What a dry run cannot show, since it migrates nothing: takes out of `after` what would be removed
// because `manager` does not apply it. Defaults of the server's are among it where client-side
// apply made the object. Whether anything was taken out.
bool rehearse(const Migration& migration, const std::string& manager, Json& after);

}  // namespace kubewatch::cli
