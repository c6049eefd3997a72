// RuleCaches, second half: what a change in one of the streams means for the objects of the rule.
#include <algorithm>

#include "base/json.hpp"
#include "base/log.hpp"
#include "hooks/caches.hpp"
#include "hooks/evaluate.hpp"
#include "hooks/next_step.hpp"
#include "hooks/targets.hpp"

namespace kubewatch::hooks {
namespace {

using runtime::ChangeType;
using runtime::Reason;
using runtime::StoreChange;

std::string reference(const core::ResourceType& type, const core::ObjectMeta& meta) {
  return type.gvk.api_version() + " " + type.gvk.kind + " " + meta.key().str();
}

// An object whose filter cannot be evaluated counts as matched: its run says what is wrong.
bool matches(const std::optional<jq::Program>& filter, const std::string& json) {
  const auto passed = passes(filter, json);
  return !passed.ok() || *passed;
}

}  // namespace

void RuleCaches::on_object(const StoreChange& change) {
  if (!built_) return;
  const core::ObjectKey key = change.meta.key();
  callbacks_.seen(child_id(for_.type.gvk, key), change.meta.resource_version);
  if (!for_.group.includes(key.namespace_)) return on_guarded(change);
  if (change.type == ChangeType::deleted) return on_object_deleted(change);
  by_uid_.set(change.meta.uid, key);
  update_refs(key, change.json);
  OwnChange facts;
  facts.added = change.type == ChangeType::added;
  facts.deleting = change.meta.deleting();
  facts.has_finalizer = change.meta.has_finalizer(rule_.finalizer_name);
  facts.matched_now = matches(rule_.for_.filter, change.json);
  if (!facts.added && change.previous_meta) {
    facts.lifecycle_changed = lifecycle_differs(*change.previous_meta, change.meta);
    facts.matched_before = matches(rule_.for_.filter, change.previous_json);
    facts.content_changed =
        !facts.lifecycle_changed && content_.differs(change.previous_json, change.json);
  }
  const Reaction reaction = react(facts);
  if (reaction == Reaction::ignore) {
    if (facts.matched_now && callbacks_.ignored) {
      callbacks_.ignored(key, change.meta.resource_version);
    }
    return;
  }
  Wake wake{key, facts.added ? Reason::created : Reason::updated, "",
            reaction == Reaction::run_debounced, change.previous_json};
  name_author(wake, change.meta);
  callbacks_.wake(std::move(wake));
}

void RuleCaches::on_object_deleted(const StoreChange& change) {
  const core::ObjectKey key = change.meta.key();
  forget_relations(change.meta);
  if (!rule_.for_.shard_selector.empty()) callbacks_.may_have_left_shard(change.meta);
  // It may only have left the selection: the run looks.
  if (for_.needs_guard && change.meta.has_finalizer(rule_.finalizer_name)) {
    callbacks_.wake({key, Reason::updated, "", false, ""});
  } else {
    callbacks_.gone({change.meta, change.json}, how_gone(change.json));
  }
}

// A watch with a selector tells of both in the same way.
Gone RuleCaches::how_gone(const std::string& json) const {
  if (!matches(rule_.for_.filter, json)) return Gone::left;
  const StreamRule& stream = rule_.for_;
  const bool selects = !stream.label_selector.empty() || !stream.field_selector.empty() ||
                       !stream.shard_selector.empty();
  return selects ? Gone::deleted_or_left : Gone::deleted;
}

void RuleCaches::on_guarded(const StoreChange& change) {
  if (!built_) return;
  const core::ObjectKey key = change.meta.key();
  if (for_.group.contains(key)) return;
  if (change.type == ChangeType::deleted) {
    return callbacks_.gone({change.meta, change.json}, Gone::left);
  }
  if (!change.meta.has_finalizer(rule_.finalizer_name)) return;
  if (change.previous_meta && !lifecycle_differs(*change.previous_meta, change.meta)) return;
  callbacks_.wake({key, Reason::updated, "", false, ""});
}

void RuleCaches::on_owned(const Owned& owned, const StoreChange& change) {
  if (!built_) return;
  const bool own =
      callbacks_.seen(child_id(owned.type.gvk, change.meta.key()), change.meta.resource_version);
  const Author author = own ? Author::itself : Author::others;
  const bool deleted = change.type == ChangeType::deleted;
  if (deleted ? !owned.rule->on_delete : !owned.rule->on_apply) return;
  const bool concerns =
      matches(owned.rule->stream.filter, change.json) ||
      (!change.previous_json.empty() && matches(owned.rule->stream.filter, change.previous_json));
  if (!concerns) return;
  if (!rule_.has_for) {
    if (!is_child_of(change.meta, rule_.name, "")) return;
    return wake_all({kNoObject}, Reason::owned_changed, reference(owned.type, change.meta), author);
  }
  std::vector<std::string> uids;
  if (const auto* uid = change.meta.label(kOwnerUidLabel)) uids.push_back(*uid);
  if (change.previous_meta) {
    if (const auto* uid = change.previous_meta->label(kOwnerUidLabel)) uids.push_back(*uid);
  }
  std::vector<core::ObjectKey> keys;
  for (const std::string& uid : uids) {
    const core::ObjectKey* key = by_uid_.find(uid);
    if (key != nullptr && (keys.empty() || keys.front() != *key)) keys.push_back(*key);
  }
  wake_all(keys, Reason::owned_changed, reference(owned.type, change.meta), author);
}

void RuleCaches::forget_relations(const core::ObjectMeta& meta) {
  by_uid_.remove(meta.uid, meta.key());
  for (auto& related : related_) {
    if (related->rule->refs) related->relations.forget(meta.key());
  }
}

void RuleCaches::on_related(Related& related, const StoreChange& change) {
  if (related.group.includes(change.meta.namespace_)) take_related(related, change);
}

void RuleCaches::take_related(Related& related, const StoreChange& change) {
  if (!built_) return;
  const core::ObjectKey key = change.meta.key();
  const bool there = change.type != ChangeType::deleted;
  const bool passes_now = there && matches(related.rule->stream.filter, change.json);
  const std::string& before_json = there ? change.previous_json : change.json;
  const bool passed_before =
      !before_json.empty() && matches(related.rule->stream.filter, before_json);
  if (!passes_now && !passed_before) return;
  if (!rule_.has_for) return wake_related(related, change, {kNoObject});
  if (related.rule->map_all) return wake_related(related, change, for_.group.keys());
  if (related.rule->refs) {
    return wake_related(related, change, related.relations.sources_of(key));
  }
  std::vector<core::ObjectKey> concerned = related.relations.targets_of(key);
  const bool in_doubt = !related.relations.any_failure().empty();
  if (passes_now) {
    related.relations.set(key, mapped(related, change.meta, change.json));
  } else {
    related.relations.forget(key);
  }
  // Every list was incomplete, and what was not pruned for that is due.
  if (in_doubt && related.relations.any_failure().empty()) {
    return wake_related(related, change, for_.group.keys());
  }
  for (const core::ObjectKey& target : related.relations.targets_of(key)) {
    concerned.push_back(target);
  }
  std::sort(concerned.begin(), concerned.end());
  concerned.erase(std::unique(concerned.begin(), concerned.end()), concerned.end());
  wake_related(related, change, concerned);
}

void RuleCaches::index_object(const runtime::StoredObject& object) {
  by_uid_.set(object.meta.uid, object.meta.key());
  update_refs(object.meta.key(), object.json);
}

void RuleCaches::update_refs(const core::ObjectKey& key, const std::string& json) {
  for (auto& related : related_) {
    if (!related->rule->refs) continue;
    related->relations.set(
        key, run_relation("refs of watches " + related->rule->name, *related->rule->refs, json,
                          related->type.namespaced, key));
  }
}

void RuleCaches::index_related(Related& related) {
  if (!related.rule->map) return;
  for (const core::ObjectKey& key : related.group.keys()) {
    auto object = related.group.get(key);
    if (!object || !matches(related.rule->stream.filter, object->json)) continue;
    related.relations.set(key, mapped(related, object->meta, object->json));
  }
}

Result<std::vector<core::ObjectKey>> RuleCaches::mapped(const Related& related,
                                                        const core::ObjectMeta& meta,
                                                        const std::string& json) {
  return run_relation("map of watches " + related.rule->name, *related.rule->map, json,
                      for_.type.namespaced, meta.key());
}

// A failure is told at once as well: it may concern objects that do not run for now.
Result<std::vector<core::ObjectKey>> RuleCaches::run_relation(const std::string& what,
                                                              const jq::Program& program,
                                                              const std::string& json,
                                                              bool namespaced,
                                                              const core::ObjectKey& key) {
  const auto targets = [&]() -> Result<std::vector<core::ObjectKey>> {
    KW_ASSIGN(const std::vector<Json> values, evaluate_text(program, json));
    return read_targets(values, namespaced, key.namespace_);
  }();
  if (targets.ok()) return targets;
  SecretMask mask;
  mask.add_json(json);
  Error masked(targets.error().kind(),
               what + " failed on " + key.str() + ": " + mask.mask(targets.error().render()));
  if (warned_.admit(masked.message(), callbacks_.now())) {
    base::log_warn(masked.message(), {{"controller", rule_.name}});
  }
  return masked;
}

// In a rule without `for` all is kNoObject's.
const core::ObjectKey* RuleCaches::object_of(const std::string& uid) const {
  return rule_.has_for ? by_uid_.find(uid) : &kNoObject;
}

// The object whose run has left the other one in this state, as its owner or by a patch.
const core::ObjectKey* RuleCaches::writer_of(const ChildId& id,
                                             const core::ObjectMeta& meta) const {
  const std::string* owner = rule_.has_for ? meta.label(kOwnerUidLabel) : nullptr;
  const std::string uid = owner != nullptr ? *owner : "";
  if (callbacks_.wrote(uid, id, meta.resource_version)) return object_of(uid);
  const std::string* patcher = callbacks_.patches().left_by(id, meta.resource_version);
  return patcher != nullptr ? object_of(*patcher) : nullptr;
}

// Of a change of the object itself: a run of it has left it in this state, or one of another object
// has, by a patch or by what its hook sends through the gateway.
void RuleCaches::name_author(Wake& wake, const core::ObjectMeta& meta) const {
  const ChildId id = child_id(for_.type.gvk, wake.key);
  const std::string& version = meta.resource_version;
  if (callbacks_.wrote(meta.uid, id, version)) {
    wake.author = Author::itself;
    return;
  }
  const PatchMemory& patches = callbacks_.patches();
  if (const std::string* patcher = patches.left_by(id, version)) {
    wake.author = *patcher == meta.uid ? Author::itself : Author::rule;
    return;
  }
  const std::vector<std::string> patching = patches.patching(id);
  if (std::find(patching.begin(), patching.end(), meta.uid) != patching.end()) {
    wake.doubt = Doubt{id, version, meta.uid};
  }
}

void RuleCaches::wake_related(const Related& related, const StoreChange& change,
                              const std::vector<core::ObjectKey>& keys) {
  const ChildId id = child_id(related.type.gvk, change.meta.key());
  const std::string& version = change.meta.resource_version;
  const std::string what = reference(related.type, change.meta);
  const core::ObjectKey* writer = writer_of(id, change.meta);
  std::map<core::ObjectKey, std::string> patching;
  if (writer == nullptr) {
    for (std::string& uid : callbacks_.patches().patching(id)) {
      if (const core::ObjectKey* key = object_of(uid)) patching[*key] = std::move(uid);
    }
  }
  for (const core::ObjectKey& key : keys) {
    if (!has_object(key)) continue;
    Wake wake{key, Reason::related_changed, what, !rule_.has_for};
    if (writer != nullptr) wake.author = *writer == key ? Author::itself : Author::rule;
    if (const auto it = patching.find(key); it != patching.end()) {
      wake.doubt = Doubt{id, version, it->second};
    } else if (!patching.empty()) {
      wake.author = Author::rule;  // as far as is known now
    }
    callbacks_.wake(std::move(wake));
  }
}

void RuleCaches::wake_all(const std::vector<core::ObjectKey>& keys, Reason reason,
                          const std::string& reason_object, Author author) {
  for (const core::ObjectKey& key : keys) {
    if (has_object(key)) callbacks_.wake({key, reason, reason_object, false, "", author});
  }
}

}  // namespace kubewatch::hooks
