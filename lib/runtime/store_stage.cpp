// How a store changes: full states that are staged and flipped in at once, single changes, and what
// is told of them.
#include <algorithm>
#include <utility>

#include "runtime/store_impl.hpp"

namespace kubewatch::runtime {

namespace {

bool same_object(const Record& record, const core::ObjectMeta& meta) {
  return !record.has_uid() || meta.uid.empty() || record.has_uid(meta.uid);
}

bool unchanged(const Record& record, const core::ObjectMeta& meta) {
  return record.has_uid(meta.uid) && !meta.resource_version.empty() &&
         record.has_resource_version(meta.resource_version);
}

}  // namespace

// ---------------------------------------------------------------- indexes

Terms terms_of(const core::ObjectMeta& meta) {
  Terms terms;
  terms.reserve(1 + 2 * meta.labels.size() + meta.owners.size());
  terms.push_back(term_of(TermKind::namespace_, meta.namespace_));
  for (const auto& [key, value] : meta.labels) {
    terms.push_back(term_of(TermKind::label_key, key));
    terms.push_back(term_of(TermKind::label, key, value));
  }
  for (const auto& owner : meta.owners) {
    if (!owner.uid.empty()) terms.push_back(term_of(TermKind::owner, owner.uid));
  }
  normalise(terms);
  return terms;
}

Terms NamedIndex::terms_of(const std::string& json) const {
  Terms terms;
  for (const auto& key : keys_of(json)) terms.push_back(term_of(TermKind::named, key));
  normalise(terms);
  return terms;
}

void Store::Impl::index(SlotId id, const Record* before, const Record& now, const std::string& json,
                        const core::ObjectMeta& meta) {
  if (before == nullptr || before->terms() != now.terms()) {
    if (before != nullptr) {
      const auto old = core::parse_kept_meta(text(*before));
      if (old.ok()) terms.erase(id, terms_of(*old));
    }
    terms.insert(id, terms_of(meta));
  }
  for (NamedIndex& other : named) {
    const Terms was = before == nullptr ? Terms() : other.terms_of(text(*before));
    Terms is = other.terms_of(json);
    if (was == is) continue;
    other.index.erase(id, was);
    other.index.insert(id, is);
  }
}

void Store::Impl::unindex(SlotId id, const Record& before) {
  const std::string json = text(before);
  if (const auto old = core::parse_kept_meta(json); old.ok()) terms.erase(id, terms_of(*old));
  for (NamedIndex& other : named) other.index.erase(id, other.terms_of(json));
}

// ---------------------------------------------------------------- staging a full state

void Store::Impl::begin(bool compare) {
  for (const SlotId id : staged_order) unstage(id);
  staged_order.clear();
  unreadable = false;
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

// Into its slot, a new one where it has none; what stood there.
RecordPtr Store::Impl::put(SlotId id, const PreparedObject& object) {
  RecordPtr record = make_record(id, object);
  RecordPtr before;
  if (id == SlotTable::kNone) {
    id = slots.add_current(object.meta.namespace_, std::move(record));
  } else {
    before = slots.set_current(id, std::move(record));
  }
  slots[id].mark = mark;
  index(id, before.get(), *slots[id].current, object.json, object.meta);
  note_new(id, *slots[id].current);
  return before;
}

// Nobody sees anything yet: no need to stand beside what is seen. False: it was here already.
bool Store::Impl::stage_first(const PreparedObject& object) {
  return !put(slots.find(object.meta.namespace_, object.meta.name), object);
}

bool Store::Impl::stage(const PreparedObject& object) {
  if (hidden()) return stage_first(object);
  SlotId id = slots.find(object.meta.namespace_, object.meta.name);
  const bool fresh = id == SlotTable::kNone || slots[id].mark != mark;
  if (id != SlotTable::kNone && slots[id].current && unchanged(*slots[id].current, object.meta) &&
      (!compare_text || text(*slots[id].current) == object.json)) {
    unstage(id);
    slots[id].mark = mark;
    return fresh;
  }
  const RecordPtr record = make_record(id, object);
  const RecordPtr before = id == SlotTable::kNone ? nullptr : RecordPtr::share(slots.staged(id));
  if (!before) {
    if (id == SlotTable::kNone) {
      id = slots.add_staged(object.meta.namespace_, record);
    } else {
      slots.set_staged(id, record);
    }
    staged_order.push_back(id);
  } else {
    slots.set_staged(id, record);
  }
  slots[id].mark = mark;
  // Readers skip slots without a current record, so a new object can be indexed at once.
  if (!slots[id].current) index(id, before.get(), *record, object.json, object.meta);
  note_new(id, *record);
  return fresh;
}

// Takes a staged record away again; the slot goes when nothing else is in it.
void Store::Impl::unstage(SlotId id) {
  const Record* staged = slots.staged(id);
  if (staged == nullptr) return;
  if (!slots[id].current) unindex(id, *staged);
  slots.set_staged(id, nullptr);
}

RecordPtr Store::Impl::drop(SlotId id) {
  if (!snapshots.empty()) note_past(slots.key(id), slots[id].current);
  unindex(id, *slots[id].current);
  return slots.set_current(id, nullptr);
}

// What the new full state did not show is gone.
std::vector<Store::Impl::Delta> Store::Impl::sweep() {
  std::vector<Delta> deltas;
  if (unreadable) return deltas;
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
    deltas.push_back({id, slots.flip(id)});
    const Record* before = deltas.back().before.get();
    const Record& now = *slots[id].current;
    // What is new was indexed when it came.
    if (before == nullptr || (before->terms() == now.terms() && named.empty())) continue;
    const std::string json = text(now);
    if (const auto meta = core::parse_kept_meta(json); meta.ok())
      index(id, before, now, json, *meta);
  }
  staged_order = std::vector<SlotId>();
}

void Store::Impl::finish(std::string version, const ChangeSink& tell) {
  const bool initial = !ready;
  const bool first = hidden();
  auto deltas = sweep();
  flip_staged(deltas);
  ready = true;
  initializing = false;
  resource_version = std::move(version);
  held_as = described;
  undone_past = false;
  ++syncs;
  if (first && tell) tell_all(tell);
  for (auto& delta : deltas) {
    if (tell) tell_delta(delta, initial, !initial, tell);
    delta.before = nullptr;
  }
  for (const auto& waiting : std::exchange(on_ready, {})) waiting();
}

// ---------------------------------------------------------------- single changes

void Store::Impl::replace(PreparedObject object, const ChangeSink& tell) {
  const SlotId id = slots.find(object.meta.namespace_, object.meta.name);
  if (id != SlotTable::kNone && unchanged(*slots[id].current, object.meta)) return;
  if (!object.meta.resource_version.empty()) resource_version = object.meta.resource_version;
  if (!snapshots.empty()) {
    note_past(object.meta.key(), id == SlotTable::kNone ? RecordPtr() : slots[id].current);
  }
  const RecordPtr before = put(id, object);
  if (!tell) return;
  StoreChange change;
  change.meta = std::move(object.meta);
  change.json = std::move(object.json);
  change.reduced = !object.reduced.empty();
  tell_now(std::move(change), before.get(), tell);
}

// ---------------------------------------------------------------- telling

void Store::Impl::tell_deleted(const Record& before, StoreChange change,
                               const ChangeSink& tell) const {
  change.type = ChangeType::deleted;
  change.json = text(before);
  change.reduced = before.reduced();
  if (auto meta = core::parse_kept_meta(change.json); meta.ok()) change.meta = std::move(*meta);
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
  change.json = text(*slots[delta.slot].current);
  change.reduced = slots[delta.slot].current->reduced();
  // Parsed once already; it cannot fail, and a change without metadata would be worse than none.
  auto meta = core::parse_kept_meta(change.json);
  if (!meta.ok()) return;
  change.meta = std::move(*meta);
  tell_now(std::move(change), delta.before.get(), tell);
}

// `change` holds what is there now.
void Store::Impl::tell_now(StoreChange change, const Record* before, const ChangeSink& tell) const {
  if (before != nullptr && !same_object(*before, change.meta)) {
    StoreChange gone;
    gone.initial = change.initial;
    gone.relisted = change.relisted;
    tell_deleted(*before, std::move(gone), tell);
  } else if (before != nullptr) {
    change.type = ChangeType::modified;
    if (options.previous) {
      change.previous_json = text(*before);
      if (auto previous = core::parse_kept_meta(change.previous_json); previous.ok()) {
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

bool Store::init_apply(const PreparedObject& object) {
  return impl_->stage(object);
}

Result<void> Store::init_apply(std::string_view object_json) {
  KW_ASSIGN(const auto object, prepare(object_json));
  impl_->stage(object);
  return {};
}

void Store::init_unreadable() {
  impl_->unreadable = true;
}

void Store::finish_init(std::string resource_version, const ChangeSink& tell) {
  impl_->finish(std::move(resource_version), tell);
}

void Store::apply(PreparedObject object, const ChangeSink& tell) {
  if (impl_->initializing) {
    impl_->stage(object);
  } else {
    impl_->replace(std::move(object), tell);
  }
}

Result<void> Store::apply(std::string_view object_json, const ChangeSink& tell) {
  KW_ASSIGN(auto object, prepare(object_json));
  apply(std::move(object), tell);
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
    if (auto previous = core::parse_kept_meta(change.previous_json); previous.ok()) {
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
