// The inside of a store, shared by the files that implement it: store.cpp (readers and writer),
// store_stage.cpp (full states and changes), store_compact.cpp (dictionaries), store_snapshot.cpp,
// store_file.cpp. Internal to lib/runtime.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/store.hpp"
#include "runtime/store_codec.hpp"
#include "runtime/store_index.hpp"
#include "runtime/store_ingest.hpp"
#include "runtime/store_slots.hpp"

namespace kubewatch::runtime {

// An index that the owner of the store asked for.
struct NamedIndex {
  std::string name;
  IndexKeys keys_of;
  GroupIndex index;
};

// What a slot is found by.
struct SlotTerms {
  GroupIndex::Terms labels;  // and the namespace
  GroupIndex::Terms owners;
  std::vector<GroupIndex::Terms> named;  // one for each NamedIndex
};

// What a snapshot sees instead of the store's present.
struct PastObject {
  RecordPtr record;  // null: was not there
  DictionaryPtr dictionary;
};

struct SnapshotState {
  std::string resource_version;
  std::size_t objects = 0;
  std::map<core::ObjectKey, PastObject> past;  // what changed since, until the next newer snapshot
};

struct Store::Impl {
  // A change that has happened: what was there before; what is there now stands in the slot.
  struct Delta {
    SlotId slot = SlotTable::kNone;  // kNone: deleted
    RecordPtr before;
  };

  explicit Impl(StoreOptions the_options) : options(std::move(the_options)), ingest(options) {}

  const StoreOptions options;
  Ingest ingest;
  StoreCodec codec;
  SlotTable slots;
  GroupIndex labels;
  GroupIndex owners;
  std::vector<NamedIndex> named;

  bool ready = false;
  bool initializing = false;
  bool first_list = false;  // into an empty store: what it brings needs no place beside the old
  bool compare_text = false;
  std::string resource_version;
  std::vector<std::function<void()>> on_ready;
  std::uint32_t mark = 0;
  std::vector<SlotId> staged_order;
  // Of staged objects that are found by other terms than the current ones.
  std::unordered_map<SlotId, SlotTerms> pending_terms;
  std::vector<SnapshotState*> snapshots;  // alive, oldest first

  // --- compression ---
  std::vector<SlotId> to_compact;
  std::size_t train_at = 350;  // objects; fewer do not pay for a dictionary
  std::uint64_t trainings = 0;
  double trained_ratio = 0;  // stored to text, of objects that the dictionary was not trained on
  std::uint64_t window_text = 0, window_stored = 0;  // of objects since the last look
  std::size_t window_objects = 0;
  std::size_t new_since_training = 0;

  std::uint64_t syncs = 0;
  StoreStats::Unparsable unparsable;

  // Nothing of a first list that is not complete is shown.
  bool hidden() const { return initializing && first_list; }

  // --- texts (store.cpp) ---
  // The object's JSON and, behind a separator, its managers if it has any.
  std::string full_text(const Record& record) const;
  std::string text(const Record& record) const;
  std::optional<SlotId> visible(const core::ObjectKey& key) const;
  std::vector<core::ObjectKey> keys_of(const std::vector<SlotId>& ids) const;
  std::vector<SlotId> selected(const core::LabelSelector& selector,
                               const std::optional<std::string>& namespace_) const;

  // --- full states and changes (store_stage.cpp) ---
  SlotTerms terms_of(const core::ObjectMeta& meta, const std::string& json) const;
  void set_terms(SlotId id, SlotTerms terms);
  bool has_terms(SlotId id, const SlotTerms& terms) const;
  void erase_terms(SlotId id);
  void stage(const PreparedObject& object);
  void stage_first(const PreparedObject& object);
  void unstage(SlotId id);
  void begin(bool compare);
  void finish(std::string version, const ChangeSink& tell);
  std::vector<Delta> sweep();
  void flip_staged(std::vector<Delta>& deltas);
  void replace(const PreparedObject& object, const ChangeSink& tell);
  RecordPtr drop(SlotId id);
  void tell_deleted(const Record& before, StoreChange change, const ChangeSink& tell) const;
  void tell_delta(const Delta& delta, bool initial, bool relisted, const ChangeSink& tell) const;
  void tell_all(const ChangeSink& tell) const;

  // --- compression (store_compact.cpp) ---
  RecordPtr make_record(const PreparedObject& object);
  void note_new(SlotId id, const Record& record);
  void take_samples(std::vector<std::string>& samples, std::vector<std::string>& proof) const;
  void train();
  void look_at_ratio(const Record& record);
  RecordPtr recoded(const Record& record) const;
  void recode(SlotId id);
  void forget_dictionaries();
  void note_loaded();

  // --- saved state (store_file.cpp) ---
  Result<void> load_records(const std::function<Result<std::string>()>& next, std::uint64_t count);

  // --- snapshots (store_snapshot.cpp) ---
  // Before a current record is replaced or added.
  void note_past(const core::ObjectKey& key, const RecordPtr& before);
};

inline constexpr char kManagersSeparator = '\0';  // stands in no valid JSON text
// From the full text of a record; absent when it is not JSON, which only a bug can cause.
std::optional<StoredObject> object_of_text(std::string full);

// Terms of the label index.
GroupIndex::Terms label_terms(const core::ObjectMeta& meta);
std::string label_term(const std::string& key, const std::string& value);
std::string namespace_term(const std::string& namespace_);
// Without the namespace.
core::Labels labels_of(const GroupIndex::Terms& terms);

}  // namespace kubewatch::runtime
