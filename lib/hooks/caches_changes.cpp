// RuleCaches, second half: what a change in one of the streams means for the objects of the rule.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/log.hpp"
#include "core/object_ref.hpp"
#include "hooks/caches.hpp"
#include "hooks/evaluate.hpp"
#include "hooks/kept_change.hpp"
#include "hooks/next_step.hpp"
#include "hooks/targets.hpp"

namespace kubewatch::hooks {
namespace {

using runtime::ChangeType;
using runtime::Reason;
using runtime::StoreChange;

std::string reference(const core::ResourceType& type, const core::ObjectMeta& meta) {
  return core::object_text(type.gvk, meta.key());
}

// Once in so long, at most, a program that failed for every object is tried again.
constexpr Duration kTryAgain{10000};
constexpr std::size_t kMostNameless = 20;  // their keys may be data

// Absent: what it is for the list cannot be told: the filter fails on it, or only its metadata is
// known.
std::optional<bool> judge(const std::optional<jq::Program>& filter, const std::string& json,
                          bool reduced) {
  if (reduced) return std::nullopt;
  const auto passed = passes(filter, json);
  return passed.ok() ? std::optional(*passed) : std::nullopt;
}

// An object whose filter cannot be evaluated counts as matched: its run says what is wrong.
bool matches(const std::optional<jq::Program>& filter, const std::string& json, bool reduced) {
  return judge(filter, json, reduced).value_or(true);
}

}  // namespace

void RuleCaches::on_object(const StoreChange& change) {
  if (!built_) return;
  const core::ObjectKey key = change.meta.key();
  const bool was_reduced = for_.reduced.note(change);
  callbacks_.seen(child_id(for_.type.gvk, key), change.meta.resource_version);
  if (!for_.group.includes(key.namespace_)) return on_guarded(change);
  note_dying(change);
  if (change.type == ChangeType::deleted) return on_object_deleted(change);
  by_uid_.set(change.meta.uid, key);
  update_refs(key, change.json);
  OwnChange facts;
  facts.added = change.type == ChangeType::added;
  facts.deleting = change.meta.deleting();
  facts.has_finalizer = change.meta.has_finalizer(rule_.finalizer_name);
  facts.matched_now = matches(rule_.for_.filter, change.json, change.reduced);
  if (!facts.added && change.previous_meta) {
    facts.lifecycle_changed = lifecycle_differs(*change.previous_meta, change.meta);
    facts.matched_before = matches(rule_.for_.filter, change.previous_json, was_reduced);
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
            reaction == Reaction::run_debounced, was_reduced ? "" : change.previous_json};
  name_author(wake, change.meta);
  callbacks_.wake(std::move(wake));
}

void RuleCaches::note_dying(const StoreChange& change) {
  if (change.type != ChangeType::deleted && change.meta.deleting() &&
      change.meta.has_finalizer(rule_.finalizer_name)) {
    // Not in the gap before a relist, in which the garbage collector may have been done with it.
    const bool begins =
        !change.relisted && change.previous_meta && !change.previous_meta->deleting();
    callbacks_.dying(change.meta, begins);
  }
}

void RuleCaches::on_object_deleted(const StoreChange& change) {
  forget_relations(change.meta);
  if (!rule_.for_.shard_selector.empty()) callbacks_.may_have_left_shard(change.meta);
  runtime::StoredObject last{change.meta, change.json};
  last.reduced = change.reduced;
  const Gone how = how_gone(last);
  callbacks_.gone(last, how);
}

// A watch with a selector tells of both in the same way.
Gone RuleCaches::how_gone(const runtime::StoredObject& last) const {
  if (!matches(rule_.for_.filter, last.json, last.reduced)) return Gone::left;
  const StreamRule& stream = rule_.for_;
  const bool selects = !stream.label_selector.empty() || !stream.field_selector.empty() ||
                       !stream.shard_selector.empty();
  return selects ? Gone::deleted_or_left : Gone::deleted;
}

void RuleCaches::on_guarded(const StoreChange& change) {
  if (!built_) return;
  note_dying(change);
  const core::ObjectKey key = change.meta.key();
  if (for_.group.contains(key)) return;
  if (change.type == ChangeType::deleted) {
    // Of a watch that selects: what has only lost its labels is guarded on.
    if (is_guarded_outside(key)) {
      return callbacks_.wake({key, Reason::updated, "", false, ""});
    }
    return callbacks_.gone({change.meta, change.json}, Gone::left);
  }
  if (!change.meta.has_finalizer(rule_.finalizer_name)) return;
  if (change.previous_meta && !lifecycle_differs(*change.previous_meta, change.meta)) return;
  callbacks_.wake({key, Reason::updated, "", false, ""});
}

void RuleCaches::on_owned(Owned& owned, const StoreChange& change) {
  if (!built_) return;
  const bool was_reduced = owned.reduced.note(change);
  const bool own =
      callbacks_.seen(child_id(owned.type.gvk, change.meta.key()), change.meta.resource_version);
  const Author author = own ? Author::itself : Author::others;
  const bool deleted = change.type == ChangeType::deleted;
  const auto& filter = owned.rule->stream.filter;
  const auto before = [&] {
    return judge(filter, deleted ? change.json : change.previous_json, was_reduced);
  };
  const auto now = [&] { return judge(filter, change.json, change.reduced); };
  const bool was_there = deleted || !change.previous_json.empty();
  const auto had_failed = [&] { return was_there && !before() && (deleted || now()); };
  // Whatever `on` says: runs wait for it.
  if (callbacks_.runs_wait() && had_failed()) {
    callbacks_.mended(owned.place, Reason::owned_changed, reference(owned.type, change.meta));
  }
  if (deleted ? !owned.rule->on_delete : !owned.rule->on_apply) return;
  const bool concerns = now().value_or(true) || (was_there && before().value_or(true));
  if (!concerns) return;
  const bool unkept =
      !was_reduced && only_unkept_changed(owned.rule->stream, owned.type, change, Relative::owned);
  if (unkept) {
    const auto passes_now = now();
    if (passes_now && passes_now == before()) return;
  }
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
  if (callbacks_.related_seen) {
    callbacks_.related_seen(child_id(related.type.gvk, change.meta.key()));
  }
}

void RuleCaches::take_related(Related& related, const StoreChange& change) {
  if (!built_) return;
  const core::ObjectKey key = change.meta.key();
  const bool was_reduced = related.reduced.note(change);
  const bool there = change.type != ChangeType::deleted;
  const auto judged = [&](const std::string& json, bool reduced) {
    return json.empty() ? std::optional(false) : judge(related.rule->stream.filter, json, reduced);
  };
  const auto before = judged(there ? change.previous_json : change.json, was_reduced);
  const auto now = judged(there ? change.json : "", change.reduced);
  if (!before.value_or(true) && !now.value_or(true)) return;
  const auto map_fails = [&] {
    return related.rule->map && !related.relations.failure_of(key).empty();
  };
  const bool map_failed = map_fails();
  const bool unkept =
      !was_reduced && before && before == now && !map_failed &&
      only_unkept_changed(related.rule->stream, related.type, change, Relative::related);
  std::vector<core::ObjectKey> targets;
  if (unkept) targets = related.relations.targets_of(key);
  const std::vector<core::ObjectKey> concerned = concerned_by(related, change, now.value_or(true));
  // A map may read even a version.
  if (!unkept || map_fails() || targets != related.relations.targets_of(key)) {
    wake_related(related, change, concerned);
  }
  if (!now || map_fails()) return;
  // A map that still fails on another object goes on holding all.
  if (!before || (map_failed && related.relations.any_failure().empty())) {
    callbacks_.mended(related.place, Reason::related_changed, reference(related.type, change.meta));
  }
}

std::vector<core::ObjectKey> RuleCaches::concerned_by(Related& related, const StoreChange& change,
                                                      bool passes_now) {
  const core::ObjectKey key = change.meta.key();
  if (!rule_.has_for) return {kNoObject};
  if (related.rule->map_all) return for_.group.keys();
  if (related.rule->refs) return related.relations.sources_of(key);
  std::vector<core::ObjectKey> concerned = related.relations.targets_of(key);
  if (passes_now) {
    set_mapped(related, change.meta, change.json, change.reduced);
  } else {
    related.relations.forget(key);
  }
  for (const core::ObjectKey& target : related.relations.targets_of(key)) {
    concerned.push_back(target);
  }
  std::sort(concerned.begin(), concerned.end());
  concerned.erase(std::unique(concerned.begin(), concerned.end()), concerned.end());
  return concerned;
}

void RuleCaches::index_object(const runtime::StoredObject& object) {
  by_uid_.set(object.meta.uid, object.meta.key());
  update_refs(object.meta.key(), object.json);
}

void RuleCaches::update_refs(const core::ObjectKey& key, const std::string& json) {
  for (auto& related : related_) {
    if (related->rule->refs) set_refs(*related, key, json);
  }
}

void RuleCaches::set_refs(Related& related, const core::ObjectKey& key, const std::string& json) {
  related.relations.set(key, refs_of(related, key, json), callbacks_.now());
}

Result<std::vector<core::ObjectKey>> RuleCaches::refs_of(const Related& related,
                                                         const core::ObjectKey& key,
                                                         const std::string& json) const {
  const Relating relating{"refs of watches " + related.rule->name,
                          *related.rule->refs,
                          for_.type,
                          false,
                          related.type.namespaced,
                          false};
  return run_relation(relating, key, json);
}

void RuleCaches::set_mapped(Related& related, const core::ObjectMeta& meta, const std::string& json,
                            bool reduced) {
  const core::ObjectKey key = meta.key();
  const Relating relating{"map of watches " + related.rule->name,
                          *related.rule->map,
                          related.type,
                          reduced,
                          for_.type.namespaced,
                          true};
  related.relations.set(key, run_relation(relating, key, json), callbacks_.now());
}

// What `refs` says matters to its own object alone. Of a `map` one failure holds every run: those
// that are left need not be tried then.
void RuleCaches::try_again(const core::ObjectKey& key) {
  const TimePoint now = callbacks_.now();
  const bool maps = !tried_again_ || now - *tried_again_ >= kTryAgain;
  if (maps) tried_again_ = now;
  for (auto& related : related_) {
    Relations& relations = related->relations;
    if (relation_failure(*related, key).empty()) continue;
    if (related->rule->refs) {
      if (const auto object = for_.group.get(key)) set_refs(*related, key, object->json);
    } else if (maps) {
      while (const auto source = relations.tried_longest_ago()) {
        if (!map_again(*related, *source)) break;
      }
    }
    if (!relation_failure(*related, key).empty()) continue;
    callbacks_.mended(related->place, Reason::related_changed, "");
  }
}

// Whether it can be told now where the related object belongs.
bool RuleCaches::map_again(Related& related, const core::ObjectKey& source) {
  Relations& relations = related.relations;
  const auto object = related.group.get(source);
  if (!object) {
    relations.forget(source);
    return true;
  }
  const std::vector<core::ObjectKey> before = relations.targets_of(source);
  set_mapped(related, object->meta, object->json, object->reduced);
  if (!relations.failure_of(source).empty()) return false;
  for (const auto& keys : {before, relations.targets_of(source)}) {
    wake_all(keys, Reason::related_changed, reference(related.type, object->meta), Author::others);
  }
  return true;
}

void RuleCaches::index_related(Related& related) {
  if (!related.rule->map) return;
  for (const core::ObjectKey& key : related.group.keys()) {
    auto object = related.group.get(key);
    if (!object || !matches(related.rule->stream.filter, object->json, object->reduced)) continue;
    set_mapped(related, object->meta, object->json, object->reduced);
  }
}

// A failure is told at once as well: it may concern objects that do not run for now.
Result<std::vector<core::ObjectKey>> RuleCaches::run_relation(const Relating& relating,
                                                              const core::ObjectKey& key,
                                                              const std::string& json) const {
  std::optional<Error> nameless;
  const auto targets = [&]() -> Result<std::vector<core::ObjectKey>> {
    KW_ASSIGN(const std::vector<Json> values, evaluate_text(relating.program, json));
    return read_targets(values, relating.namespaced, key.namespace_,
                        relating.maps ? &nameless : nullptr);
  }();
  if (nameless && targets.ok() && !relating.reduced) {
    warn_of_nameless(relating, key, shown_failure(relating.from.gvk, json, *nameless));
  }
  // Whom it finds in half an object may not be all.
  if (targets.ok() && !relating.reduced) return targets;
  const std::string why = relating.reduced
                              ? why_reduced("it")
                              : shown_failure(relating.from.gvk, json, targets.error());
  Error masked(
      relating.reduced ? ErrorKind::too_large : targets.error().kind(),
      fmt::format("{} fails on {} {} {}: {}", relating.what, relating.from.gvk.api_version(),
                  relating.from.gvk.kind, key.str(), why));
  if (warned_.admit(masked.message(), callbacks_.now())) {
    base::log_warn(masked.message(), {{"controller", rule_.name}});
  }
  return masked;
}

// Once for what is wrong, on whatever objects.
void RuleCaches::warn_of_nameless(const Relating& relating, const core::ObjectKey& key,
                                  const std::string& what) const {
  if (nameless_.size() >= kMostNameless || !nameless_.insert(relating.what + what).second) return;
  base::log_warn(fmt::format("{} {}: so {} {} points at nobody, and so does each other object of "
                             "which this is true",
                             relating.what, what, relating.from.gvk.kind, key.str()),
                 {{"controller", rule_.name}});
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
