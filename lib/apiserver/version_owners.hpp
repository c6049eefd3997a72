// managedFields of objects that versions show or type differently (autoscalers, custom kinds): each
// entry speaks of the version of its writer, so what a write changes is compared in the version of
// each owner, where it has to fit. Wraps lib/schema's book-keeping, which knows one version. No
// storage, no clock.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/object.hpp"
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

// Whether an object may have owners of other versions than this one; null objects have none.
bool has_other_owners(const Resource& own, const Json* object);

// For one write through `own`; both must outlive it.
class VersionOwners {
 public:
  // `definition`: of a custom kind; null of a built-in one.
  VersionOwners(const Registry& registry, const Resource& own, ObjectPtr definition = nullptr)
      : registry_(registry), own_(own), definition_(std::move(definition)) {}

  // schema::track_update and schema::apply, whose errors they have. `live` of the request may be
  // replaced by what is a copy here. An update that does not fit the version of an owner leaves
  // nobody an owner, as there.
  Result<Json> track(schema::UpdateRequest request);
  // Errors also: internal_error, in the server's words, where the object does not fit the version
  // of an owner.
  Result<schema::ApplyOutcome> apply(schema::ApplyRequest request);

 private:
  // Keeps the entries of other versions here, and leaves a guard in their place.
  void take_from(Json& object);
  // What the manager applied last in another version is kept in `former_`.
  void take_former(const schema::ApplyRequest& request);
  // Of a custom kind: whether an object of `own_` fits a version, or those of all other owners.
  Result<void> check_fits(const std::string& api_version, const Json& object) const;
  Result<void> check_fits_others(const Json& object) const;
  // All that it is converted to on the way to what is written. Errors: internal_error.
  Result<void> check_merged(const Json& merged, const schema::FieldSet& last) const;
  // schema::ApplyRequest::prune
  Json pruned(const Json& merged, const schema::Managed& managed,
              const schema::FieldSet& last) const;
  // `whole` of `version`, in the form of `own_`, without what is in `last` and nobody owns.
  Json without_lost(const Resource& version, const Json& whole, const schema::Managed& managed,
                    const schema::FieldSet& last) const;
  std::vector<schema::Conflict> conflicts(Changes changes) const;
  // To `after`, with what they still own.
  void give_back(const Changes& changes, Json& after);

  // Null where there is no such version any more, and nobody can own a field of it.
  ResourcePtr version_of(const std::string& api_version) const;
  static Json converted(const Resource& from, const Resource& to, Json object);
  Changes changes(const std::string& subresource, const Json& after) const;

  const Registry& registry_;
  const Resource& own_;
  ObjectPtr definition_;
  mutable std::map<std::string, ResourcePtr> unserved_;  // by apiVersion
  std::optional<Error> unfit_;                           // why an apply ends
  Json before_;
  Json entries_ = Json::array();  // `others_` borrow from it
  schema::Managed others_;
  schema::ManagedEntry former_;  // of no apiVersion where there is none
};

}  // namespace kubewatch::apiserver
