#include "runtime/store.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/store_impl.hpp"

namespace kubewatch::runtime {

// ---------------------------------------------------------------- texts and keys

std::vector<FieldManager> StoredObject::managers() const {
  return parse_managers(managers_text);
}

std::string why_reduced(const std::string& object) {
  const IngestLimits limits;
  return fmt::format(
      "of {} only the metadata is kept: it is bigger than {} MiB, nested deeper than {} levels, or "
      "broken",
      object, limits.max_bytes >> 20U, limits.max_depth);
}

std::optional<StoredObject> object_of_text(std::string full, bool reduced) {
  StoredObject object;
  object.reduced = reduced;
  object.json = std::move(full);
  if (const auto end = object.json.find(kManagersSeparator); end != std::string::npos) {
    object.managers_text = object.json.substr(end + 1);
    object.json.resize(end);
  }
  auto meta = core::parse_kept_meta(object.json);
  if (!meta.ok()) return std::nullopt;
  object.meta = std::move(*meta);
  return object;
}

std::optional<SlotId> Store::Impl::visible(const core::ObjectKey& key) const {
  if (hidden()) return std::nullopt;
  const SlotId id = slots.find(key.namespace_, key.name);
  if (id == SlotTable::kNone || !slots[id].current) return std::nullopt;
  return id;
}

std::vector<core::ObjectKey> Store::Impl::keys_of(const std::vector<SlotId>& ids) const {
  std::vector<core::ObjectKey> keys;
  if (hidden()) return keys;
  keys.reserve(ids.size());
  for (const SlotId id : ids) {
    if (slots[id].current) keys.push_back(slots.key(id));
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

namespace {

using Ids = std::vector<SlotId>;

Ids with_term(const TermIndex& index, Term term) {
  Ids ids;
  if (const SlotSet* found = index.find(term); found != nullptr) found->collect(ids);
  return ids;
}

Ids with_any(const TermIndex& index, const core::LabelRequirement& requirement) {
  Ids all;
  for (const auto& value : requirement.values) {
    const Ids one = with_term(index, term_of(TermKind::label, requirement.key, value));
    Ids both;
    std::set_union(all.begin(), all.end(), one.begin(), one.end(), std::back_inserter(both));
    all = std::move(both);
  }
  return all;
}

Ids both_of(const Ids& a, const Ids& b) {
  Ids out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

Ids first_only(const Ids& a, const Ids& b) {
  Ids out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

// By the index alone; what compares numbers, and so needs the labels themselves, is let through.
Ids narrowed(const TermIndex& index, Ids ids, const core::LabelRequirement& requirement) {
  const auto with_key = [&] {
    return with_term(index, term_of(TermKind::label_key, requirement.key));
  };
  switch (requirement.op) {
    case core::SelectorOperator::in: return both_of(ids, with_any(index, requirement));
    case core::SelectorOperator::not_in: return first_only(ids, with_any(index, requirement));
    case core::SelectorOperator::not_exists: return first_only(ids, with_key());
    default: return both_of(ids, with_key());
  }
}

bool compares(const core::LabelSelector& selector) {
  const auto& all = selector.requirements();
  return std::any_of(all.begin(), all.end(), [](const core::LabelRequirement& requirement) {
    return requirement.op == core::SelectorOperator::greater ||
           requirement.op == core::SelectorOperator::less;
  });
}

}  // namespace

std::vector<core::ObjectKey> Store::Impl::keys_with(Term term) const {
  return keys_of(with_term(terms, term));
}

std::vector<SlotId> Store::Impl::selected(const core::LabelSelector& selector,
                                          const std::optional<std::string>& namespace_) const {
  Ids ids;
  if (namespace_) {
    ids = with_term(terms, term_of(TermKind::namespace_, *namespace_));
  } else {
    for (SlotId id = 0; id < slots.limit(); ++id) {
      if (slots.used(id)) ids.push_back(id);
    }
  }
  for (const auto& requirement : selector.requirements()) {
    ids = narrowed(terms, std::move(ids), requirement);
  }
  if (!compares(selector)) return ids;
  const auto fails = [&](SlotId id) {
    if (!slots[id].current) return true;
    const auto meta = core::parse_kept_meta(text(*slots[id].current));
    return !meta.ok() || !selector.matches(meta->labels);
  };
  ids.erase(std::remove_if(ids.begin(), ids.end(), fails), ids.end());
  return ids;
}

// ---------------------------------------------------------------- readers

bool Store::of_another_version() const {
  return impl_->ready && impl_->held_as != impl_->described;
}

void Store::note_undone_past() {
  impl_->undone_past = true;
}

bool Store::of_undone_past() const {
  return impl_->ready && impl_->undone_past;
}

void Store::retype(const core::Gvk& type) {
  impl_->options.type = type;
  impl_->described = Impl::describe(impl_->options);
  impl_->ingest = Ingest(impl_->options);
}

Store::Store(StoreOptions options) : impl_(std::make_shared<Impl>(std::move(options))) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

bool Store::ready() const {
  return impl_->ready;
}

void Store::on_ready(std::function<void()> callback) {
  if (impl_->ready) return callback();
  impl_->on_ready.push_back(std::move(callback));
}

const std::string& Store::resource_version() const {
  return impl_->resource_version;
}

std::size_t Store::size() const {
  return impl_->hidden() ? 0 : impl_->slots.current_count();
}

bool Store::contains(const core::ObjectKey& key) const {
  return impl_->visible(key).has_value();
}

bool Store::contains(const core::ObjectKey& key, std::string_view uid) const {
  const auto id = impl_->visible(key);
  return id && impl_->slots[*id].current->has_uid(uid);
}

std::optional<StoredObject> Store::get(const core::ObjectKey& key) const {
  const auto id = impl_->visible(key);
  if (!id) return std::nullopt;
  return impl_->object(*impl_->slots[*id].current);
}

std::optional<core::ObjectMeta> Store::get_meta(const core::ObjectKey& key) const {
  auto object = get(key);
  if (!object) return std::nullopt;
  return std::move(object->meta);
}

std::optional<StoredObject> Store::find_uid(const std::string& uid) const {
  if (impl_->hidden()) return std::nullopt;
  const SlotId id = impl_->slots.find_uid(uid);
  if (id == SlotTable::kNone) return std::nullopt;
  return impl_->object(*impl_->slots[id].current);
}

std::vector<core::ObjectKey> Store::keys() const {
  std::vector<SlotId> ids;
  for (SlotId id = 0; id < impl_->slots.limit(); ++id) ids.push_back(id);
  return impl_->keys_of(ids);
}

std::vector<core::ObjectKey> Store::reduced() const {
  if (impl_->slots.reduced_count() == 0) return {};
  std::vector<SlotId> ids;
  for (SlotId id = 0; id < impl_->slots.limit(); ++id) {
    if (impl_->slots[id].current && impl_->slots[id].current->reduced()) ids.push_back(id);
  }
  return impl_->keys_of(ids);
}

std::vector<core::ObjectKey> Store::keys_in(const std::string& namespace_) const {
  return impl_->keys_with(term_of(TermKind::namespace_, namespace_));
}

std::vector<core::ObjectKey> Store::keys_with_label(const std::string& label,
                                                    const std::string& value) const {
  return impl_->keys_with(term_of(TermKind::label, label, value));
}

std::vector<core::ObjectKey> Store::keys_owned_by(const std::string& owner_uid) const {
  return impl_->keys_with(term_of(TermKind::owner, owner_uid));
}

std::vector<core::ObjectKey> Store::select(const core::LabelSelector& selector,
                                           const std::optional<std::string>& namespace_) const {
  return impl_->keys_of(impl_->selected(selector, namespace_));
}

std::vector<core::ObjectKey> Store::keys_indexed(const std::string& index,
                                                 const std::string& key) const {
  for (const auto& known : impl_->named) {
    if (known.name == index) {
      return impl_->keys_of(with_term(known.index, term_of(TermKind::named, key)));
    }
  }
  return {};
}

StoreStats Store::stats() const {
  StoreStats stats;
  stats.objects = size();
  stats.json_bytes = impl_->slots.current_text();
  stats.held_bytes =
      impl_->slots.bytes() + impl_->terms.bytes() + impl_->codec.bytes() +
      (impl_->to_compact.capacity() + impl_->plain_changes.capacity()) * sizeof(SlotId);
  for (const auto& index : impl_->named) stats.held_bytes += index.index.bytes();
  stats.relists = impl_->syncs > 0 ? impl_->syncs - 1 : 0;
  stats.dictionaries = impl_->trainings;
  stats.unparsable = impl_->unparsable.count;
  return stats;
}

const StoreStats::Unparsable& Store::unparsable() const {
  return impl_->unparsable;
}

// ---------------------------------------------------------------- the owner

void Store::add_index(const std::string& name, IndexKeys keys_of) {
  Impl& impl = *impl_;
  NamedIndex fresh{name, std::move(keys_of), {}};
  for (SlotId id = 0; id < impl.slots.limit(); ++id) {
    // What is staged and new counts now; what will replace an object gets its keys then.
    const Record* record =
        impl.slots[id].current ? impl.slots[id].current.get() : impl.slots.staged(id);
    if (record != nullptr) fresh.index.insert(id, fresh.terms_of(impl.text(*record)));
  }
  const auto known = std::find_if(impl.named.begin(), impl.named.end(),
                                  [&](const NamedIndex& index) { return index.name == name; });
  const auto at = static_cast<std::size_t>(known - impl.named.begin());
  if (known == impl.named.end()) impl.named.push_back(NamedIndex{});
  impl.named[at] = std::move(fresh);
}

void Store::tell_all(const ChangeSink& tell) const {
  if (tell && !impl_->hidden()) impl_->tell_all(tell);
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

}  // namespace kubewatch::runtime
