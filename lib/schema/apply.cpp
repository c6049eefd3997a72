// Server-side apply: merge, prune what the manager no longer applies, find conflicts, move
// ownership.
#include <algorithm>

#include "base/json.hpp"
#include "schema/last_applied.hpp"
#include "schema/managed_entries.hpp"
#include "schema/managed_fields.hpp"
#include "schema/typed.hpp"

namespace kubewatch::schema {
namespace {

// "default/web; apps/v1, Kind=Deployment"
std::string object_text(const Json& object) {
  return base::string_at(object, {"metadata", "namespace"}) + "/" +
         base::string_at(object, {"metadata", "name"}) + "; " +
         base::string_at(object, {"apiVersion"}) + ", Kind=" + base::string_at(object, {"kind"});
}

class Apply {
 public:
  explicit Apply(const ApplyRequest& request)
      : request_(request), schema_(request.schema ? *request.schema : deduced_node()) {}

  Result<ApplyOutcome> run();

 private:
  Result<void> check() const;
  Result<void> read_live();
  void own_before_first_apply();
  void merge_and_prune();
  Json pruned(const Json& merged, const FieldSet& last) const;
  // Moves ownership; what stands in the way unless forced.
  ConflictList take_ownership();
  Result<ApplyOutcome> finish();
  bool same_as_live(const Json& object) const;
  bool same_owners_as_live() const;

  const ApplyRequest& request_;
  const MergeNode& schema_;
  Json live_ = Json::object();  // without managedFields
  Managed managed_;
  std::string self_;
  Json object_;
};

Result<void> Apply::check() const {
  const Json* sent = managed_fields_of(request_.applied);
  if (sent != nullptr && !sent->is_null()) {
    return Error(ErrorKind::invalid, "metadata.managedFields must be nil");
  }
  return check_for_merge(schema_, request_.applied)
      .with_context("failed to create typed patch object (" + object_text(request_.applied) + ")");
}

Result<void> Apply::read_live() {
  if (request_.live == nullptr) return {};
  Result<Managed> managed = decode_managed(managed_fields_of(*request_.live));
  if (!managed.ok())
    return std::move(managed).error().with_context("failed to decode managed fields");
  managed_ = std::move(*managed);
  live_ = without_managed(*request_.live);
  if (managed_.empty()) own_before_first_apply();
  reconcile_entries(schema_, managed_);
  return {};
}

// Fields of an object that nobody was recorded for belong to a manager that stands for its past.
void Apply::own_before_first_apply() {
  Comparison all = compare(schema_, Json::object(), live_);
  all.exclude(request_.ignored);
  ManagedEntry entry;
  entry.manager = "before-first-apply";
  entry.api_version = base::string_at(request_.applied, {"apiVersion"});
  entry.subresource = request_.subresource;
  entry.time = entry_time(request_.subresource, request_.now);
  entry.fields = std::move(all.added);
  entry.fields.merge_in(all.modified);
  strip_identity_fields(entry.fields);
  std::string identity = entry.identity();
  if (!entry.fields.empty()) managed_.emplace(std::move(identity), std::move(entry));
}

void Apply::merge_and_prune() {
  Json merged = merge_value(schema_, live_, request_.applied);
  ManagedEntry entry;
  entry.manager = request_.manager.empty() ? "unknown" : request_.manager;
  entry.applied = true;
  entry.api_version = base::string_at(request_.applied, {"apiVersion"});
  entry.subresource = request_.subresource;
  entry.fields = to_field_set(schema_, request_.applied);
  if (!request_.ignored.empty()) {
    entry.fields = entry.fields.recursive_difference(request_.ignored);
  }
  self_ = entry.identity();
  ManagedEntry& own = managed_[self_];
  entry.time = own.time;
  const Json* original = own.api_version == entry.api_version ? own.original : nullptr;
  const FieldSet last = std::exchange(own, std::move(entry)).fields;
  if (request_.prune) {
    object_ = request_.prune(merged, managed_, last);
  } else {
    // The common case, nothing dropped since last time, needs no pruning.
    object_ = last.is_subset_of(own.fields) ? std::move(merged) : pruned(merged, last);
  }
  strip_identity_fields(own.fields);
  if (own.fields == last) own.original = original;
}

// Takes away what this manager applied last time, but not this time, unless somebody else owns it.
Json Apply::pruned(const Json& merged, const FieldSet& last) const {
  FieldSet owned;
  for (const auto& [identity, entry] : managed_) owned.merge_in(entry.fields);
  const FieldSet all = with_named_parents(schema_, to_field_set(schema_, merged));
  const FieldSet mine = with_named_parents(schema_, last);
  const auto what_is_left = [&](const Json& value) {
    return with_named_parents(schema_, to_field_set(schema_, value));
  };
  // First all of it goes, then what is owned comes back, then what never was this manager's.
  FieldSet keep = what_is_left(remove_items(schema_, merged, mine));
  keep.merge_in(with_named_parents(schema_, owned));
  const FieldSet left = what_is_left(remove_items(schema_, merged, all.difference(keep)));
  return remove_items(schema_, merged, all.difference(left).intersect(mine));
}

ConflictList Apply::take_ownership() {
  ConflictList conflicts;
  if (managed_.size() < 2) return conflicts;
  Comparison changes = compare(schema_, live_, object_);
  changes.exclude(request_.ignored);
  FieldSet taken = std::move(changes.modified);
  taken.merge_in(changes.added);
  std::map<std::string, FieldSet> contested;
  for (const auto& [identity, entry] : managed_) {
    if (identity == self_) continue;
    contested[identity] = entry.fields.intersect(taken);
  }
  const bool any = std::any_of(contested.begin(), contested.end(),
                               [](const auto& one) { return !one.second.empty(); });
  if (any && !request_.force) {
    FieldSet allowed;
    if (request_.manager == "kubectl" && request_.live != nullptr) {
      allowed = fields_of_client_side_apply(schema_, live_);
    }
    for (const auto& [identity, both] : contested) {
      conflicts.add(managed_[identity].text(), allowed.empty() ? both : both.difference(allowed));
    }
    if (!conflicts.empty()) return conflicts;
  }
  for (auto& [identity, both] : contested) {
    managed_[identity].subtract(both);
    managed_[identity].subtract(changes.removed);
  }
  return {};
}

bool Apply::same_as_live(const Json& object) const {
  if (request_.live == nullptr) return false;
  if (object == live_) return true;
  if (request_.ignored.empty()) return false;
  Comparison changes = compare(schema_, live_, object);
  changes.exclude(request_.ignored);
  return changes.empty();
}

bool Apply::same_owners_as_live() const {
  const Json* before = managed_fields_of(*request_.live);
  const bool untouched =
      before != nullptr && before->is_array() && before->size() == managed_.size() &&
      std::all_of(managed_.begin(), managed_.end(),
                  [](const auto& entry) { return entry.second.original != nullptr; });
  if (untouched) return true;
  const Json after = encode_managed(managed_);
  return same_owners(before, &after);
}

Result<ApplyOutcome> Apply::finish() {
  // Also by what is not written in the end: nulls, lists and maps with nothing in them.
  const bool differs = object_ != live_;
  as_written(schema_, object_);
  if (differs) {
    managed_[self_].time = entry_time(request_.subresource, request_.now);
    managed_[self_].original = nullptr;
  }
  drop_empty(managed_);
  if (request_.manager == "kubectl") sync_last_applied(request_.applied, object_);
  ApplyOutcome outcome;
  outcome.changed = !(same_as_live(object_) && same_owners_as_live());
  outcome.object = std::move(object_);
  if (outcome.changed) {
    set_managed(outcome.object, managed_);
  } else if (const Json* before = managed_fields_of(*request_.live)) {
    outcome.object["metadata"]["managedFields"] = *before;
  }
  return outcome;
}

Result<ApplyOutcome> Apply::run() {
  KW_TRY(check());
  KW_TRY(read_live());
  merge_and_prune();
  ConflictList conflicts = take_ownership();
  if (!conflicts.empty()) {
    ApplyOutcome refused;
    refused.conflicts = conflicts.take();
    refused.untold = conflicts.untold();
    return refused;
  }
  return finish();
}

}  // namespace

Result<ApplyOutcome> apply(const ApplyRequest& request) {
  return Apply(request).run();
}

}  // namespace kubewatch::schema
