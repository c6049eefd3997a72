#include "runtime/store.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/store_codec.hpp"
#include "runtime/store_index.hpp"
#include "runtime/store_ingest.hpp"
#include "runtime/store_record.hpp"
#include "runtime/store_slots.hpp"

namespace kubewatch::runtime {

namespace {

constexpr std::size_t kTrainAt = 300;       // objects; fewer do not pay for a dictionary
constexpr std::size_t kTrainSamples = 300;  // more and bigger dictionaries gain nothing (measured)

// Stands in no valid JSON text.
constexpr char kSeparator = '\0';

GroupIndex::Terms label_terms(const core::ObjectMeta& meta) {
  GroupIndex::Terms terms;
  for (const auto& [key, value] : meta.labels) terms.push_back(key + "=" + value);
  return terms;
}

GroupIndex::Terms owner_terms(const core::ObjectMeta& meta) {
  GroupIndex::Terms terms;
  for (const auto& owner : meta.owners) {
    if (!owner.uid.empty()) terms.push_back(owner.uid);
  }
  return terms;
}

core::Labels labels_of(const GroupIndex::Terms& terms) {
  core::Labels labels;
  for (const auto& term : terms) {
    const std::size_t equals = term.find('=');
    labels.emplace_back(term.substr(0, equals), term.substr(equals + 1));
  }
  return labels;
}

bool same_object(const Record& record, const core::ObjectMeta& meta) {
  return record.uid() == meta.uid || record.uid().empty() || meta.uid.empty();
}

bool unchanged(const Record& record, const core::ObjectMeta& meta) {
  return record.uid() == meta.uid && !meta.resource_version.empty() &&
         record.resource_version() == meta.resource_version;
}

ChangeSink collect_into(std::vector<StoreChange>& out) {
  return [&out](StoreChange&& change) { out.push_back(std::move(change)); };
}

}  // namespace

struct Store::Impl {
  // A change that has happened: what was there before; what is there now stands in the slot.
  struct Delta {
    SlotId slot = SlotTable::kNone;  // kNone: deleted
    RecordPtr before;
  };
  struct PendingTerms {
    GroupIndex::Terms labels, owners;
  };

  explicit Impl(const StoreOptions& options) : ingest(options), want_previous(options.previous) {}

  Ingest ingest;
  StoreCodec codec;
  SlotTable slots;
  GroupIndex labels;
  GroupIndex owners;

  bool ready = false;
  bool initializing = false;
  bool compare_text = false;
  const bool want_previous;
  std::string resource_version;
  std::uint32_t mark = 0;
  std::vector<SlotId> staged_order;
  // Of staged objects whose labels or owners differ from the current ones.
  std::unordered_map<SlotId, PendingTerms> pending_terms;

  std::vector<SlotId> to_compact;
  std::size_t train_at = kTrainAt;

  std::uint64_t syncs = 0;
  StoreStats::Unparsable unparsable;

  // The object's JSON and, behind kSeparator, its managers if it has any.
  std::string full_text(const Record& record) const {
    return codec.decompress(record.encoding(), record.bytes(), record.text_size());
  }
  std::string text(const Record& record) const {
    std::string out = full_text(record);
    if (const auto end = out.find(kSeparator); end != std::string::npos) out.resize(end);
    return out;
  }
  std::optional<SlotId> visible(const core::ObjectKey& key) const;
  std::vector<core::ObjectKey> keys_of(std::vector<SlotId> ids) const;

  RecordPtr make_record(const PreparedObject& object);
  void note_new(SlotId id, const Record& record);
  void maybe_train();
  RecordPtr recoded(const Record& record);
  void recode(SlotId id);

  void stage(const PreparedObject& object);
  void unstage(SlotId id);
  void forget_staged();
  void set_terms(SlotId id, GroupIndex::Terms label_set, GroupIndex::Terms owner_set);
  std::vector<Delta> sweep();
  void flip_staged(std::vector<Delta>& deltas);
  void replace(const PreparedObject& object, const ChangeSink& tell);
  RecordPtr drop(SlotId id);

  void tell_deleted(const Record& before, StoreChange change, const ChangeSink& tell) const;
  void tell_delta(const Delta& delta, bool initial, bool relisted, const ChangeSink& tell) const;
};

// ---------------------------------------------------------------- reading

std::optional<SlotId> Store::Impl::visible(const core::ObjectKey& key) const {
  const SlotId id = slots.find(key.namespace_, key.name);
  if (id == SlotTable::kNone || !slots[id].current) return std::nullopt;
  return id;
}

std::vector<core::ObjectKey> Store::Impl::keys_of(std::vector<SlotId> ids) const {
  std::vector<core::ObjectKey> keys;
  keys.reserve(ids.size());
  for (const SlotId id : ids) {
    if (slots[id].current) keys.push_back(slots.key(id));
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

// ---------------------------------------------------------------- records and their compression

RecordPtr Store::Impl::make_record(const PreparedObject& object) {
  const Record::Identity identity{object.meta.name, object.meta.uid, object.meta.resource_version};
  // Before there is a dictionary records stay plain: compact_some() knows which ones are left.
  std::string text = object.json;
  if (!object.managers.empty()) text.append(1, kSeparator).append(object.managers);
  const Encoded encoded = codec.trained() ? codec.compress(text) : Encoded{Encoding::plain, text};
  return Record::make(identity, text.size(), encoded);
}

void Store::Impl::note_new(SlotId id, const Record& record) {
  if (codec.trained() || record.encoding() != Encoding::plain) return;
  // A busy object stands in the list once per change: bounded by forgetting the doubles.
  if (to_compact.size() > 2 * std::size_t{slots.limit()} + 64) {
    std::sort(to_compact.begin(), to_compact.end());
    to_compact.erase(std::unique(to_compact.begin(), to_compact.end()), to_compact.end());
  }
  to_compact.push_back(id);
  maybe_train();
}

void Store::Impl::maybe_train() {
  if (codec.trained() || slots.used_count() < train_at) return;
  std::vector<std::string> samples;
  for (SlotId id = 0; id < slots.limit() && samples.size() < kTrainSamples; ++id) {
    const Slot& slot = slots[id];
    if (slot.staged) {
      samples.push_back(full_text(*slot.staged));
    } else if (slot.current) {
      samples.push_back(full_text(*slot.current));
    }
  }
  if (!codec.train(samples)) {
    train_at *= 4;
    return;
  }
  to_compact.clear();
  for (SlotId id = 0; id < slots.limit(); ++id) {
    if (slots.used(id)) to_compact.push_back(id);
  }
}

RecordPtr Store::Impl::recoded(const Record& record) {
  const std::string whole = full_text(record);
  const Encoded encoded = codec.compress(whole);
  return Record::make({record.name(), record.uid(), record.resource_version()}, whole.size(),
                      encoded);
}

void Store::Impl::recode(SlotId id) {
  const Encoding best = codec.trained() ? Encoding::dictionary : Encoding::zstd;
  if (const Record* now = slots[id].current.get(); now != nullptr && now->encoding() != best) {
    slots.set_current(id, recoded(*now));
  }
  if (const Record* next = slots[id].staged.get(); next != nullptr && next->encoding() != best) {
    slots.set_staged(id, recoded(*next));
  }
}

// ---------------------------------------------------------------- staging a full state

void Store::Impl::set_terms(SlotId id, GroupIndex::Terms label_set, GroupIndex::Terms owner_set) {
  labels.set(id, std::move(label_set));
  owners.set(id, std::move(owner_set));
}

void Store::Impl::stage(const PreparedObject& object) {
  SlotId id = slots.find(object.meta.namespace_, object.meta.name);
  if (id != SlotTable::kNone && slots[id].current && unchanged(*slots[id].current, object.meta) &&
      (!compare_text || text(*slots[id].current) == object.json)) {
    unstage(id);
    slots[id].mark = mark;
    return;
  }
  RecordPtr record = make_record(object);
  const Record& kept = *record;
  auto label_set = label_terms(object.meta);
  auto owner_set = owner_terms(object.meta);
  if (id == SlotTable::kNone) {
    id = slots.add_staged(object.meta.namespace_, std::move(record));
    staged_order.push_back(id);
  } else {
    if (!slots[id].staged) staged_order.push_back(id);
    slots.set_staged(id, std::move(record));
  }
  slots[id].mark = mark;
  // Readers skip slots without a current record, so a new object can be indexed at once.
  pending_terms.erase(id);
  if (!slots[id].current) {
    set_terms(id, std::move(label_set), std::move(owner_set));
  } else if (!labels.has(id, label_set) || !owners.has(id, owner_set)) {
    pending_terms[id] = {std::move(label_set), std::move(owner_set)};
  }
  note_new(id, kept);
}

// Takes a staged record away again; the slot goes when nothing else is in it.
void Store::Impl::unstage(SlotId id) {
  if (!slots[id].staged) return;
  pending_terms.erase(id);
  if (!slots[id].current) {
    labels.erase(id);
    owners.erase(id);
  }
  slots.set_staged(id, nullptr);
}

void Store::Impl::forget_staged() {
  for (const SlotId id : staged_order) unstage(id);
  staged_order.clear();
  pending_terms.clear();
}

RecordPtr Store::Impl::drop(SlotId id) {
  labels.erase(id);
  owners.erase(id);
  return slots.set_current(id, nullptr);
}

// What the new full state did not show is gone.
std::vector<Store::Impl::Delta> Store::Impl::sweep() {
  std::vector<Delta> deltas;
  for (SlotId id = 0; id < slots.limit(); ++id) {
    if (!slots[id].current || slots[id].staged || slots[id].mark == mark) continue;
    deltas.push_back({SlotTable::kNone, drop(id)});
  }
  return deltas;
}

void Store::Impl::flip_staged(std::vector<Delta>& deltas) {
  for (const SlotId id : staged_order) {
    if (!slots[id].staged) continue;
    if (const auto terms = pending_terms.find(id); terms != pending_terms.end()) {
      set_terms(id, std::move(terms->second.labels), std::move(terms->second.owners));
    }
    deltas.push_back({id, slots.flip(id)});
  }
  staged_order.clear();
  staged_order.shrink_to_fit();
  pending_terms.clear();
}

// ---------------------------------------------------------------- single changes

void Store::Impl::replace(const PreparedObject& object, const ChangeSink& tell) {
  SlotId id = slots.find(object.meta.namespace_, object.meta.name);
  if (id != SlotTable::kNone && unchanged(*slots[id].current, object.meta)) return;
  RecordPtr record = make_record(object);
  const Record& kept = *record;
  Delta delta;
  if (id == SlotTable::kNone) {
    id = slots.add_staged(object.meta.namespace_, std::move(record));
  } else {
    slots.set_staged(id, std::move(record));
  }
  delta.slot = id;
  delta.before = slots.flip(id);
  slots[id].mark = mark;
  set_terms(id, label_terms(object.meta), owner_terms(object.meta));
  note_new(id, kept);
  if (!object.meta.resource_version.empty()) resource_version = object.meta.resource_version;
  if (tell) tell_delta(delta, false, false, tell);
}

// ---------------------------------------------------------------- telling

void Store::Impl::tell_deleted(const Record& before, StoreChange change,
                               const ChangeSink& tell) const {
  change.type = ChangeType::deleted;
  change.json = text(before);
  if (auto meta = core::parse_meta(change.json); meta.ok()) change.meta = std::move(*meta);
  if (want_previous) {
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
    if (want_previous) {
      change.previous_json = text(*delta.before);
      if (auto previous = core::parse_meta(change.previous_json); previous.ok()) {
        change.previous_meta = std::move(*previous);
      }
    }
  }
  tell(std::move(change));
}

// ---------------------------------------------------------------- Store

Store::Store(StoreOptions options) : impl_(std::make_unique<Impl>(options)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

bool Store::ready() const {
  return impl_->ready;
}
const std::string& Store::resource_version() const {
  return impl_->resource_version;
}
std::size_t Store::size() const {
  return impl_->slots.current_count();
}

bool Store::contains(const core::ObjectKey& key) const {
  return impl_->visible(key).has_value();
}

std::optional<StoredObject> Store::get(const core::ObjectKey& key) const {
  const auto id = impl_->visible(key);
  if (!id) return std::nullopt;
  StoredObject object;
  object.json = impl_->full_text(*impl_->slots[*id].current);
  if (const auto end = object.json.find(kSeparator); end != std::string::npos) {
    object.managers_text = object.json.substr(end + 1);
    object.json.resize(end);
  }
  auto meta = core::parse_meta(object.json);
  if (!meta.ok()) return std::nullopt;
  object.meta = std::move(*meta);
  return object;
}

std::vector<FieldManager> StoredObject::managers() const {
  return parse_managers(managers_text);
}

std::optional<core::ObjectMeta> Store::get_meta(const core::ObjectKey& key) const {
  auto object = get(key);
  if (!object) return std::nullopt;
  return std::move(object->meta);
}

std::vector<core::ObjectKey> Store::keys() const {
  std::vector<SlotId> ids;
  for (SlotId id = 0; id < impl_->slots.limit(); ++id) ids.push_back(id);
  return impl_->keys_of(std::move(ids));
}

std::vector<core::ObjectKey> Store::keys_with_label(const std::string& label,
                                                    const std::string& value) const {
  std::vector<SlotId> ids;
  impl_->labels.collect(label + "=" + value, ids);
  return impl_->keys_of(std::move(ids));
}

std::vector<core::ObjectKey> Store::keys_owned_by(const std::string& owner_uid) const {
  std::vector<SlotId> ids;
  impl_->owners.collect(owner_uid, ids);
  return impl_->keys_of(std::move(ids));
}

std::vector<core::ObjectKey> Store::select(const core::LabelSelector& selector) const {
  std::vector<SlotId> ids;
  impl_->labels.collect_if(
      [&](const GroupIndex::Terms& terms) { return selector.matches(labels_of(terms)); }, ids);
  return impl_->keys_of(std::move(ids));
}

StoreStats Store::stats() const {
  StoreStats stats;
  stats.objects = size();
  stats.json_bytes = impl_->slots.current_text();
  stats.held_bytes = impl_->slots.bytes() + impl_->labels.bytes() + impl_->owners.bytes() +
                     impl_->codec.bytes() + impl_->to_compact.capacity() * sizeof(SlotId);
  stats.relists = impl_->syncs > 0 ? impl_->syncs - 1 : 0;
  stats.unparsable = impl_->unparsable.count;
  return stats;
}

const StoreStats::Unparsable& Store::unparsable() const {
  return impl_->unparsable;
}

Result<PreparedObject> Store::prepare(std::string_view object_json) {
  auto prepared = impl_->ingest.prepare(object_json);
  if (!prepared.ok()) {
    ++impl_->unparsable.count;
    impl_->unparsable.last =
        fmt::format("an object of {} bytes: {}", object_json.size(), prepared.error().message());
  } else if (!prepared->reduced.empty()) {
    ++impl_->unparsable.count;
    impl_->unparsable.last =
        fmt::format("{}: {}; kept as metadata only", prepared->meta.key().str(), prepared->reduced);
  }
  return prepared;
}

void Store::begin_init(bool compare_text) {
  impl_->forget_staged();
  impl_->compare_text = compare_text;
  impl_->initializing = true;
  ++impl_->mark;
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
  auto deltas = impl_->sweep();
  impl_->flip_staged(deltas);
  const bool initial = !impl_->ready;
  impl_->ready = true;
  impl_->initializing = false;
  impl_->resource_version = std::move(resource_version);
  ++impl_->syncs;
  if (!tell) return;
  for (auto& delta : deltas) {
    impl_->tell_delta(delta, initial, !initial, tell);
    delta.before.reset();
  }
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
    return impl.unstage(id);
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
  if (impl.want_previous) {
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

void Store::bookmark(std::string resource_version) {
  if (impl_->initializing || resource_version.empty()) return;
  impl_->resource_version = std::move(resource_version);
}

bool Store::compact_some(std::size_t max_records) {
  auto& left = impl_->to_compact;
  for (std::size_t done = 0; done < max_records && !left.empty(); ++done) {
    const SlotId id = left.back();
    left.pop_back();
    if (impl_->slots.used(id)) impl_->recode(id);
  }
  if (left.empty()) left.shrink_to_fit();
  return !left.empty();
}

}  // namespace kubewatch::runtime
