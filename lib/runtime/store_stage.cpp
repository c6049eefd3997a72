// How a store changes: full states that are staged and flipped in at once, single changes, and what
// is told of them.
#include <algorithm>
#include <utility>

#include "runtime/store_impl.hpp"

namespace kubewatch::runtime {

namespace {

constexpr char kNamespaceMark = '\x02';  // in no label key

GroupIndex::Terms owner_terms(const core::ObjectMeta& meta) {
  GroupIndex::Terms terms;
  for (const auto& owner : meta.owners) {
    if (!owner.uid.empty()) terms.push_back(owner.uid);
  }
  return terms;
}

bool same_object(const Record& record, const core::ObjectMeta& meta) {
  return !record.has_uid() || meta.uid.empty() || record.has_uid(meta.uid);
}

bool unchanged(const Record& record, const core::ObjectMeta& meta) {
  return record.has_uid(meta.uid) && !meta.resource_version.empty() &&
         record.has_resource_version(meta.resource_version);
}

}  // namespace

std::string label_term(const std::string& key, const std::string& value) {
  return key + "=" + value;
}

std::string namespace_term(const std::string& namespace_) {
  return kNamespaceMark + namespace_;
}

GroupIndex::Terms label_terms(const core::ObjectMeta& meta) {
  GroupIndex::Terms terms{namespace_term(meta.namespace_)};
  for (const auto& [key, value] : meta.labels) terms.push_back(label_term(key, value));
  return terms;
}

core::Labels labels_of(const GroupIndex::Terms& terms) {
  core::Labels labels;
  for (const auto& term : terms) {
    if (term.front() == kNamespaceMark) continue;
    const std::size_t equals = term.find('=');
    labels.emplace_back(term.substr(0, equals), term.substr(equals + 1));
  }
  return labels;
}

// ---------------------------------------------------------------- indexes

SlotTerms Store::Impl::terms_of(const core::ObjectMeta& meta, const std::string& json) const {
  SlotTerms terms{label_terms(meta), owner_terms(meta), {}};
  for (const auto& index : named) terms.named.push_back(index.keys_of(json));
  return terms;
}

void Store::Impl::set_terms(SlotId id, SlotTerms terms) {
  // Objects without terms take no place in an index.
  const auto set = [id](GroupIndex& index, GroupIndex::Terms wanted) {
    if (wanted.empty()) {
      index.erase(id);
    } else {
      index.set(id, std::move(wanted));
    }
  };
  set(labels, std::move(terms.labels));
  set(owners, std::move(terms.owners));
  for (std::size_t i = 0; i < named.size(); ++i) set(named[i].index, std::move(terms.named[i]));
}

bool Store::Impl::has_terms(SlotId id, const SlotTerms& terms) const {
  const auto same = [id](const GroupIndex& index, const GroupIndex::Terms& wanted) {
    return wanted.empty() ? !index.contains(id) : index.has(id, wanted);
  };
  if (!same(labels, terms.labels) || !same(owners, terms.owners)) return false;
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (!same(named[i].index, terms.named[i])) return false;
  }
  return true;
}

void Store::Impl::erase_terms(SlotId id) {
  labels.erase(id);
  owners.erase(id);
  for (auto& index : named) index.index.erase(id);
}

// ---------------------------------------------------------------- staging a full state

void Store::Impl::begin(bool compare) {
  for (const SlotId id : staged_order) unstage(id);
  staged_order.clear();
  pending_terms.clear();
  if (hidden()) {
    // From the end: free slots are used again from the last, and so keep the list's order.
    for (SlotId id = slots.limit(); id-- > 0;) {
      if (slots[id].current) drop(id);
    }
  }
  compare_text = compare;
  initializing = true;
  first_list = !ready && slots.current_count() == 0;
  ++mark;
}

// Nobody sees anything yet: no need to stand beside what is seen.
void Store::Impl::stage_first(const PreparedObject& object) {
  RecordPtr record = make_record(object);
  SlotId id = slots.find(object.meta.namespace_, object.meta.name);
  if (id == SlotTable::kNone) {
    id = slots.add_current(object.meta.namespace_, std::move(record));
  } else {
    slots.set_current(id, std::move(record));
  }
  slots[id].mark = mark;
  set_terms(id, terms_of(object.meta, object.json));
  note_new(id, *slots[id].current);
}

void Store::Impl::stage(const PreparedObject& object) {
  if (hidden()) return stage_first(object);
  SlotId id = slots.find(object.meta.namespace_, object.meta.name);
  if (id != SlotTable::kNone && slots[id].current && unchanged(*slots[id].current, object.meta) &&
      (!compare_text || text(*slots[id].current) == object.json)) {
    unstage(id);
    slots[id].mark = mark;
    return;
  }
  RecordPtr record = make_record(object);
  const RecordPtr kept = record;
  auto terms = terms_of(object.meta, object.json);
  if (id == SlotTable::kNone) {
    id = slots.add_staged(object.meta.namespace_, std::move(record));
    staged_order.push_back(id);
  } else {
    if (slots.staged(id) == nullptr) staged_order.push_back(id);
    slots.set_staged(id, std::move(record));
  }
  slots[id].mark = mark;
  // Readers skip slots without a current record, so a new object can be indexed at once.
  pending_terms.erase(id);
  if (!slots[id].current) {
    set_terms(id, std::move(terms));
  } else if (!has_terms(id, terms)) {
    pending_terms[id] = std::move(terms);
  }
  note_new(id, *kept);
}

// Takes a staged record away again; the slot goes when nothing else is in it.
void Store::Impl::unstage(SlotId id) {
  if (slots.staged(id) == nullptr) return;
  pending_terms.erase(id);
  if (!slots[id].current) erase_terms(id);
  slots.set_staged(id, nullptr);
}

RecordPtr Store::Impl::drop(SlotId id) {
  if (!snapshots.empty()) note_past(slots.key(id), slots[id].current);
  erase_terms(id);
  return slots.set_current(id, nullptr);
}

// What the new full state did not show is gone.
std::vector<Store::Impl::Delta> Store::Impl::sweep() {
  std::vector<Delta> deltas;
  for (SlotId id = 0; id < slots.limit(); ++id) {
    if (!slots[id].current || slots[id].mark == mark || slots.staged(id) != nullptr) continue;
    deltas.push_back({SlotTable::kNone, drop(id)});
  }
  return deltas;
}

void Store::Impl::flip_staged(std::vector<Delta>& deltas) {
  for (const SlotId id : staged_order) {
    if (slots.staged(id) == nullptr) continue;
    if (!snapshots.empty()) note_past(slots.key(id), slots[id].current);
    if (const auto terms = pending_terms.find(id); terms != pending_terms.end()) {
      set_terms(id, std::move(terms->second));
    }
    deltas.push_back({id, slots.flip(id)});
  }
  staged_order = {};
  pending_terms.clear();
}

void Store::Impl::finish(std::string version, const ChangeSink& tell) {
  const bool initial = !ready;
  const bool first = hidden();
  auto deltas = sweep();
  flip_staged(deltas);
  ready = true;
  initializing = false;
  resource_version = std::move(version);
  ++syncs;
  if (first && tell) tell_all(tell);
  for (auto& delta : deltas) {
    if (tell) tell_delta(delta, initial, !initial, tell);
    delta.before = nullptr;
  }
  for (const auto& waiting : std::exchange(on_ready, {})) waiting();
}

// ---------------------------------------------------------------- single changes

void Store::Impl::replace(const PreparedObject& object, const ChangeSink& tell) {
  SlotId id = slots.find(object.meta.namespace_, object.meta.name);
  if (id != SlotTable::kNone && unchanged(*slots[id].current, object.meta)) return;
  if (!object.meta.resource_version.empty()) resource_version = object.meta.resource_version;
  RecordPtr record = make_record(object);
  Delta delta;
  if (!snapshots.empty()) {
    note_past(object.meta.key(), id == SlotTable::kNone ? RecordPtr() : slots[id].current);
  }
  if (id == SlotTable::kNone) {
    id = slots.add_current(object.meta.namespace_, std::move(record));
  } else {
    delta.before = slots.set_current(id, std::move(record));
  }
  delta.slot = id;
  slots[id].mark = mark;
  set_terms(id, terms_of(object.meta, object.json));
  note_new(id, *slots[id].current);
  if (tell) tell_delta(delta, false, false, tell);
}

// ---------------------------------------------------------------- telling

void Store::Impl::tell_deleted(const Record& before, StoreChange change,
                               const ChangeSink& tell) const {
  change.type = ChangeType::deleted;
  change.json = text(before);
  if (auto meta = core::parse_meta(change.json); meta.ok()) change.meta = std::move(*meta);
  if (options.previous) {
    change.previous_meta = change.meta;
    change.previous_json = change.json;
  }
  tell(std::move(change));
}

void Store::Impl::tell_delta(const Delta& delta, bool initial, bool relisted,
                             const ChangeSink& tell) const {
  StoreChange change;
  change.initial = initial;
  change.relisted = relisted;
  if (delta.slot == SlotTable::kNone) return tell_deleted(*delta.before, std::move(change), tell);
  const Record& now = *slots[delta.slot].current;
  change.json = text(now);
  // Parsed once already; it cannot fail, and a change without metadata would be worse than none.
  auto meta = core::parse_meta(change.json);
  if (!meta.ok()) return;
  change.meta = std::move(*meta);
  if (delta.before && !same_object(*delta.before, change.meta)) {
    StoreChange gone;
    gone.initial = initial;
    gone.relisted = relisted;
    tell_deleted(*delta.before, std::move(gone), tell);
  } else if (delta.before) {
    change.type = ChangeType::modified;
    if (options.previous) {
      change.previous_json = text(*delta.before);
      if (auto previous = core::parse_meta(change.previous_json); previous.ok()) {
        change.previous_meta = std::move(*previous);
      }
    }
  }
  tell(std::move(change));
}

// The first state, object by object in the order in which it came.
void Store::Impl::tell_all(const ChangeSink& tell) const {
  for (SlotId id = 0; id < slots.limit(); ++id) {
    if (slots[id].current) tell_delta({id, nullptr}, true, false, tell);
  }
}

// ---------------------------------------------------------------- the writer's interface

void Store::begin_init(bool compare_text) {
  impl_->begin(compare_text);
}

void Store::init_apply(const PreparedObject& object) {
  impl_->stage(object);
}

Result<void> Store::init_apply(std::string_view object_json) {
  KW_ASSIGN(const auto object, prepare(object_json));
  impl_->stage(object);
  return {};
}

void Store::finish_init(std::string resource_version, const ChangeSink& tell) {
  impl_->finish(std::move(resource_version), tell);
}

void Store::apply(const PreparedObject& object, const ChangeSink& tell) {
  if (impl_->initializing) return impl_->stage(object);
  impl_->replace(object, tell);
}

Result<void> Store::apply(std::string_view object_json, const ChangeSink& tell) {
  KW_ASSIGN(const auto object, prepare(object_json));
  apply(object, tell);
  return {};
}

void Store::remove(const PreparedObject& object, const ChangeSink& tell) {
  Impl& impl = *impl_;
  const SlotId id = impl.slots.find(object.meta.namespace_, object.meta.name);
  if (impl.initializing) {
    if (id == SlotTable::kNone) return;
    impl.slots[id].mark = impl.mark - 1;
    if (impl.hidden()) {
      impl.drop(id);
    } else {
      impl.unstage(id);
    }
    return;
  }
  if (!object.meta.resource_version.empty()) {
    impl.resource_version = object.meta.resource_version;
  }
  if (id == SlotTable::kNone || !same_object(*impl.slots[id].current, object.meta)) return;
  const RecordPtr before = impl.drop(id);
  if (!tell) return;
  if (!object.reduced.empty()) return impl.tell_deleted(*before, {}, tell);
  // The event's object is the last state there was, newer than ours.
  StoreChange change;
  change.type = ChangeType::deleted;
  change.meta = object.meta;
  change.json = object.json;
  if (impl.options.previous) {
    change.previous_json = impl.text(*before);
    if (auto previous = core::parse_meta(change.previous_json); previous.ok()) {
      change.previous_meta = std::move(*previous);
    }
  }
  tell(std::move(change));
}

Result<void> Store::remove(std::string_view object_json, const ChangeSink& tell) {
  KW_ASSIGN(const auto object, prepare(object_json));
  remove(object, tell);
  return {};
}

void Store::bookmark(std::string resource_version) {
  if (impl_->initializing || resource_version.empty()) return;
  impl_->resource_version = std::move(resource_version);
}

namespace {

ChangeSink collect_into(std::vector<StoreChange>& out) {
  return [&out](StoreChange&& change) { out.push_back(std::move(change)); };
}

}  // namespace

std::vector<StoreChange> Store::finish_init(std::string resource_version) {
  std::vector<StoreChange> changes;
  finish_init(std::move(resource_version), collect_into(changes));
  return changes;
}

Result<std::vector<StoreChange>> Store::apply(std::string_view object_json) {
  std::vector<StoreChange> changes;
  KW_TRY(apply(object_json, collect_into(changes)));
  return changes;
}

Result<std::vector<StoreChange>> Store::remove(std::string_view object_json) {
  std::vector<StoreChange> changes;
  KW_TRY(remove(object_json, collect_into(changes)));
  return changes;
}

}  // namespace kubewatch::runtime
