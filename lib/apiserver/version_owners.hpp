// managedFields of objects that two versions show in different fields (autoscalers): each entry
// speaks of the version of its writer, so what a write changes is compared in the version of each
// owner. Wraps lib/schema's book-keeping, which knows one version. No storage, no clock.
#pragma once

#include <string>
#include <vector>

#include "apiserver/registry.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "schema/managed_entries.hpp"
#include "schema/managed_fields.hpp"
#include "schema/typed.hpp"

namespace kubewatch::apiserver {

// For one write through `own`; both must outlive it.
class VersionOwners {
 public:
  VersionOwners(const Registry& registry, const Resource& own) : registry_(registry), own_(own) {}

  // schema::track_update and schema::apply, whose errors they have. `live` of the request may be
  // replaced by what is a copy here.
  Result<Json> track(schema::UpdateRequest request);
  Result<schema::ApplyOutcome> apply(schema::ApplyRequest request);

 private:
  // Keeps the entries of other versions here, and leaves a guard in their place.
  void take_from(Json& object);
  // It owns what they call by the same name, so that an apply does not take that away.
  void guard_common_fields();
  // Drops what the manager applied last in another version and does not apply any more.
  void prune_former(const schema::ApplyRequest& request);
  std::vector<schema::Conflict> conflicts(const schema::ApplyRequest& request,
                                          const Json& after) const;
  // To `after`, with what they still own.
  void give_back(const std::string& subresource, Json& after);

  // Null where the kind is not served in it any more, and nobody can own a field of it.
  ResourcePtr version_of(const schema::ManagedEntry& entry) const;
  Json shown_in(const Resource& version, const Json& object) const;
  schema::Comparison changes_in(const Resource& version, const std::string& subresource,
                                const Json& after) const;

  const Registry& registry_;
  const Resource& own_;
  Json before_;
  Json entries_ = Json::array();  // `others_` borrow from it
  schema::Managed others_;
};

}  // namespace kubewatch::apiserver
