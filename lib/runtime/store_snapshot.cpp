// Snapshots: each remembers what changed since it was taken, up to the next newer one; what did not
// change it reads from the store itself.
#include <algorithm>

#include "runtime/store_impl.hpp"

namespace kubewatch::runtime {

struct StoreSnapshot::Impl {
  std::shared_ptr<Store::Impl> store;
  SnapshotState state;

  // What differs from the store's present, of this snapshot and all newer ones.
  std::map<core::ObjectKey, const PastObject*> differences() const {
    std::map<core::ObjectKey, const PastObject*> out;
    auto it = std::find(store->snapshots.begin(), store->snapshots.end(), &state);
    for (; it != store->snapshots.end(); ++it) {
      for (const auto& [key, object] : (*it)->past) out.try_emplace(key, &object);
    }
    return out;
  }
  const PastObject* difference(const core::ObjectKey& key) const {
    auto it = std::find(store->snapshots.begin(), store->snapshots.end(), &state);
    for (; it != store->snapshots.end(); ++it) {
      if (const auto found = (*it)->past.find(key); found != (*it)->past.end()) {
        return &found->second;
      }
    }
    return nullptr;
  }
  static std::optional<StoredObject> read(const PastObject& object) {
    if (!object.record) return std::nullopt;
    return object_of_text(decode_record(*object.record, object.dictionary.get()),
                          object.record->reduced());
  }
  // `ids` of the present, and of the past what `wanted` says yes to.
  std::vector<core::ObjectKey> merge(
      const std::vector<SlotId>& ids,
      const std::function<bool(const core::ObjectKey&, const PastObject&)>& wanted) const {
    const auto past = differences();
    std::vector<core::ObjectKey> keys;
    for (auto& key : store->keys_of(ids)) {
      if (past.find(key) == past.end()) keys.push_back(std::move(key));
    }
    for (const auto& [key, object] : past) {
      if (object->record && wanted(key, *object)) keys.push_back(key);
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  }
};

void Store::Impl::note_past(const core::ObjectKey& key, const RecordPtr& before) {
  const auto [it, fresh] = snapshots.back()->past.try_emplace(key);
  if (!fresh) return;
  it->second.record = before;
  if (before) it->second.dictionary = codec.dictionary(before->encoding());
}

std::unique_ptr<StoreSnapshot> Store::snapshot() const {
  if (!impl_->ready) return nullptr;
  auto inside = std::make_unique<StoreSnapshot::Impl>();
  inside->store = impl_;
  inside->state.resource_version = impl_->resource_version;
  inside->state.objects = impl_->slots.current_count();
  impl_->snapshots.push_back(&inside->state);
  return std::unique_ptr<StoreSnapshot>(new StoreSnapshot(std::move(inside)));
}

StoreSnapshot::StoreSnapshot(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

StoreSnapshot::~StoreSnapshot() {
  auto& all = impl_->store->snapshots;
  const auto at = std::find(all.begin(), all.end(), &impl_->state);
  // The next older one looked through this one.
  if (at != all.begin()) {
    for (auto& [key, object] : impl_->state.past) {
      (*std::prev(at))->past.try_emplace(key, std::move(object));
    }
  }
  all.erase(at);
}

const std::string& StoreSnapshot::resource_version() const {
  return impl_->state.resource_version;
}

std::size_t StoreSnapshot::size() const {
  return impl_->state.objects;
}

std::optional<StoredObject> StoreSnapshot::get(const core::ObjectKey& key) const {
  if (const PastObject* past = impl_->difference(key); past != nullptr) return Impl::read(*past);
  const auto id = impl_->store->visible(key);
  if (!id) return std::nullopt;
  return impl_->store->object(*impl_->store->slots[*id].current);
}

std::vector<core::ObjectKey> StoreSnapshot::keys() const {
  std::vector<SlotId> ids;
  for (SlotId id = 0; id < impl_->store->slots.limit(); ++id) ids.push_back(id);
  return impl_->merge(ids, [](const core::ObjectKey&, const PastObject&) { return true; });
}

std::vector<core::ObjectKey> StoreSnapshot::select(
    const core::LabelSelector& selector, const std::optional<std::string>& namespace_) const {
  return impl_->merge(impl_->store->selected(selector, namespace_),
                      [&](const core::ObjectKey& key, const PastObject& object) {
                        if (namespace_ && key.namespace_ != *namespace_) return false;
                        const auto read = Impl::read(object);
                        return read && selector.matches(read->meta.labels);
                      });
}

}  // namespace kubewatch::runtime
