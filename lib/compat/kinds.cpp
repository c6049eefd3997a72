// Looking kinds up.
#include "compat/kinds.hpp"

#include <algorithm>

#include "base/strings.hpp"

namespace kubewatch::compat {
namespace {

bool answers_to(const core::ResourceType& type, const std::string& word) {
  return base::to_lower(type.gvk.kind) == word || type.plural == word || type.singular == word ||
         std::find(type.short_names.begin(), type.short_names.end(), word) !=
             type.short_names.end();
}

}  // namespace

Result<core::ResourceType> find_kind(const client::ResourceMap& resources,
                                     const std::string& api_version, const std::string& kind) {
  const std::string word = base::to_lower(kind);
  for (const core::ResourceType& type : resources.all()) {
    if (!api_version.empty() && type.gvk.api_version() != api_version) continue;
    if (answers_to(type, word)) return type;
  }
  const std::string what =
      "the server has no kind " + kind + (api_version.empty() ? "" : " in " + api_version);
  if (resources.failed_groups.empty()) return Error(ErrorKind::not_found, what);
  return Error(ErrorKind::unavailable, what + ", but not all of its groups answered: " +
                                           base::join(resources.failed_groups, "; "));
}

}  // namespace kubewatch::compat
