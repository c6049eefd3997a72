// managedFields of objects that two versions show in different fields (autoscalers): each entry
// speaks of the version of its writer, so what a write changes is compared in the version of each
// owner. Wraps lib/schema's book-keeping, which knows one version. No storage, no clock.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "apiserver/registry.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "schema/managed_entries.hpp"
#include "schema/managed_fields.hpp"
#include "schema/typed.hpp"

namespace kubewatch::apiserver {

// What a write changes, by apiVersion.
using Changes = std::map<std::string, schema::Comparison>;
using CompareIn = std::function<schema::Comparison(const std::string& api_version)>;
// Compares once for all owners that speak of the same version, as a comparison sees all of the
// object, and clients choose how many owners it has.
Changes changes_by_version(const schema::Managed& owners, const CompareIn& compare_in);

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
  // What the manager applied last in another version is kept in `former_`.
  void take_former(const schema::ApplyRequest& request);
  // schema::ApplyRequest::prune
  Json pruned(const Json& merged, const schema::Managed& managed,
              const schema::FieldSet& last) const;
  // `whole` of `version`, in the form of `own_`, without what is in `last` and nobody owns.
  Json without_lost(const Resource& version, const Json& whole, const schema::Managed& managed,
                    const schema::FieldSet& last) const;
  std::vector<schema::Conflict> conflicts(Changes changes) const;
  // To `after`, with what they still own.
  void give_back(const Changes& changes, Json& after);

  // Null where the kind is not served in it any more, and nobody can own a field of it.
  ResourcePtr version_of(const std::string& api_version) const;
  static Json converted(const Resource& from, const Resource& to, Json object);
  Changes changes(const std::string& subresource, const Json& after) const;

  const Registry& registry_;
  const Resource& own_;
  Json before_;
  Json entries_ = Json::array();  // `others_` borrow from it
  schema::Managed others_;
  schema::ManagedEntry former_;  // of no apiVersion where there is none
};

}  // namespace kubewatch::apiserver
