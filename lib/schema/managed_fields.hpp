// Server-side apply and the book-keeping of metadata.managedFields for every write, as
// kube-apiserver does them (KEP-555; structured-merge-diff). Pure: objects in, objects out. Used by
// the sandbox.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "schema/field_set.hpp"
#include "schema/managed_entries.hpp"
#include "schema/merge_schema.hpp"

namespace kubewatch::schema {

struct Conflict {
  std::string manager_text;  // "\"mgr\"", with " with subresource ..." and " using v1" as due
  Path path;
};

// Conflicts by manager, of which as many are kept as can be told (kMostTold): each has a whole
// path.
class ConflictList {
 public:
  void add(const std::string& manager_text, const FieldSet& fields);
  bool empty() const { return told_.empty(); }
  std::vector<Conflict> take() { return std::move(told_); }
  std::size_t untold() const { return untold_; }

 private:
  void add_below(const std::string& manager_text, const FieldSet& fields, Path& prefix,
                 std::size_t prefix_bytes);

  std::vector<Conflict> told_;
  std::size_t untold_ = 0;
  std::size_t bytes_ = 0;
};

struct ApplyRequest {
  const Json* live = nullptr;  // null: the object does not exist
  Json applied;                // as sent, apiVersion and kind checked by the caller
  std::string manager;
  std::string subresource;  // "" | "status" | ...
  bool force = false;
  MergeNodePtr schema;
  FieldSet ignored;  // fields this endpoint resets (status on main, all but status on /status)
  // `merged` without what the manager applied `last` and nobody owns any more; `managed` has what
  // it applies now. For objects whose owners speak of other versions too; null: all of this one.
  std::function<Json(const Json& merged, const Managed& managed, const FieldSet& last)> prune;
  WallTime now;
};

struct ApplyOutcome {
  Json object;          // with managedFields; not yet persisted; `ignored` fields not yet reset
  bool changed = true;  // false: nothing but ignored fields would change; times are the old ones
  std::vector<Conflict> conflicts;  // non-empty: refused, `object` is null
  std::size_t untold = 0;           // conflicts beside these
};
// Errors: invalid (managedFields in `applied`, unknown fields, wrong types, duplicate keys in
// associative lists, items without keys, broken managedFields), in the server's words. Manager
// "kubectl" also takes over fields of client-side apply (its last-applied annotation) and keeps
// that annotation in step.
Result<ApplyOutcome> apply(const ApplyRequest& request);

struct UpdateRequest {
  const Json* live = nullptr;  // null: create
  // What an object shows of which nothing was said, and which its creator does not own. Null: {}.
  const Json* nothing = nullptr;
  Json updated;  // the whole new object
  std::string manager;
  std::string subresource;
  MergeNodePtr schema;
  FieldSet ignored;
  WallTime now;
};
// The object with managedFields for an update, create or patch by `manager`. managedFields: [] or
// [{}] in `updated` resets them.
Result<Json> track_update(const UpdateRequest& request);

// After defaulting and resetting: when `updated` differs from `live` in nothing but the times of
// managedFields, the old times are put back and true is returned: nothing needs to be written.
bool keep_times_of_noop(const Json& live, Json& updated);

// The whole 409 Status object for conflicts. `untold`: how many there are beside them.
Json conflict_status(const std::vector<Conflict>& conflicts, std::size_t untold = 0);

}  // namespace kubewatch::schema
