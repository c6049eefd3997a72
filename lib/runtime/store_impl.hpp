// The inside of a store, shared by the files that implement it: store.cpp (readers and writer),
// store_stage.cpp (full states and changes), store_encode.cpp (texts), store_compact.cpp
// (dictionaries), store_snapshot.cpp, store_file.cpp. Internal to lib/runtime.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/store.hpp"
#include "runtime/store_codec.hpp"
#include "runtime/store_ingest.hpp"
#include "runtime/store_slots.hpp"
#include "runtime/term_index.hpp"

namespace kubewatch::runtime {

// An index that the owner of the store asked for.
struct NamedIndex {
  std::string name;
  IndexKeys keys_of;
  TermIndex index;

  Terms terms_of(const std::string& json) const;
};

// What a snapshot sees instead of the store's present.
struct PastObject {
  RecordPtr record;          // null: was not there
  DictionaryPtr dictionary;  // of the record, and of its base
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

  explicit Impl(StoreOptions the_options)
      : options(std::move(the_options)), described(describe(options)), ingest(options) {}

  StoreOptions options;
  std::string described;  // them, as far as what is kept of an object depends on them
  // `described` at the last full state: of which version the objects are, which may be another
  // than what is listed next.
  std::string held_as;
  bool undone_past = false;  // until the next full state
  Ingest ingest;
  StoreCodec codec;
  SlotTable slots;
  TermIndex terms;  // labels, namespaces, owners
  std::vector<NamedIndex> named;

  bool ready = false;
  bool initializing = false;
  bool first_list = false;  // into an empty store: what it brings needs no place beside the old
  bool compare_text = false;
  std::string resource_version;
  std::vector<std::function<void()>> on_ready;
  std::uint32_t mark = 0;
  std::vector<SlotId> staged_order;
  bool unreadable = false;                // an object of the full state that is coming
  std::vector<SnapshotState*> snapshots;  // alive, oldest first

  // --- compression ---
  std::vector<SlotId> to_compact;
  // Changed since they were encoded, and kept as they came: encoding costs less when it is done to
  // many at once, while its code and tables are at hand.
  std::vector<SlotId> plain_changes;
  std::size_t plain_bytes = 0;
  std::size_t train_at = 350;  // objects; fewer do not pay for a dictionary
  std::uint64_t trainings = 0;
  double trained_ratio = 0;  // stored to text, of objects that the dictionary was not trained on
  std::uint64_t window_text = 0, window_stored = 0;  // of objects since the last look
  std::size_t window_objects = 0;
  std::size_t new_since_training = 0;

  // The text of the base that was needed last: siblings come one after the other.
  mutable RecordPtr last_base;
  mutable std::string last_base_text;
  std::string work_text;  // of the object that becomes a record

  std::uint64_t syncs = 0;
  StoreStats::Unparsable unparsable;

  // Nothing of a first list that is not complete is shown.
  bool hidden() const { return initializing && first_list; }

  // --- readers (store.cpp) ---
  std::optional<SlotId> visible(const core::ObjectKey& key) const;
  std::vector<core::ObjectKey> keys_of(const std::vector<SlotId>& ids) const;
  std::vector<core::ObjectKey> keys_with(Term term) const;
  std::vector<SlotId> selected(const core::LabelSelector& selector,
                               const std::optional<std::string>& namespace_) const;

  // --- records and texts (store_encode.cpp) ---
  // For the slot `id`, kNone where the object has none yet.
  RecordPtr make_record(SlotId id, const PreparedObject& object);
  // The same object, encoded as well as the codec can now.
  RecordPtr recoded(SlotId id, const Record& record) const;
  void encode(SlotId id, const std::string& owner_uid, std::string_view marked,
              Record::Content& content) const;
  // The object's JSON and, behind a separator, its managers if it has any.
  std::string full_text(const Record& record) const;
  std::string text(const Record& record) const;
  std::optional<StoredObject> object(const Record& record) const;
  // As it was encoded: with marks in the place of what the record says itself.
  std::string marked_text(const Record& record) const;
  // Of a record without a base, as it was encoded. Until another one's is asked for.
  const std::string& text_of_base(const RecordPtr& base) const;
  RecordPtr find_base(SlotId id, const std::string& owner_uid) const;
  std::optional<std::string> patch_to(const RecordPtr& base, std::string_view marked) const;

  // --- full states and changes (store_stage.cpp) ---
  // Puts the slot under what finds `now`, which took the place of `before` (null: of nothing).
  void index(SlotId id, const Record* before, const Record& now, const std::string& json,
             const core::ObjectMeta& meta);
  void unindex(SlotId id, const Record& before);
  bool stage(const PreparedObject& object);
  RecordPtr put(SlotId id, const PreparedObject& object);
  bool stage_first(const PreparedObject& object);
  void unstage(SlotId id);
  void begin(bool compare);
  void finish(std::string version, const ChangeSink& tell);
  std::vector<Delta> sweep();
  void flip_staged(std::vector<Delta>& deltas);
  void replace(PreparedObject object, const ChangeSink& tell);
  RecordPtr drop(SlotId id);
  void tell_deleted(const Record& before, StoreChange change, const ChangeSink& tell) const;
  void tell_delta(const Delta& delta, bool initial, bool relisted, const ChangeSink& tell) const;
  void tell_now(StoreChange change, const Record* before, const ChangeSink& tell) const;
  void tell_all(const ChangeSink& tell) const;

  // --- compression (store_compact.cpp) ---
  void note_new(SlotId id, const Record& record);
  // A change of that size is kept plain until all that wait are encoded.
  bool may_wait(std::size_t text_size) const;
  void encode_changes();
  void take_samples(std::vector<std::string>& samples, std::vector<std::string>& proof,
                    std::vector<std::string>& patches) const;
  void train();
  void look_at_ratio(const Record& record);
  void recode(SlotId id);
  void forget_dictionaries();
  void note_loaded();

  // --- saved state (store_file.cpp) ---
  static std::string describe(const StoreOptions& options);
  Result<void> load_records(const std::function<Result<PreparedObject>()>& next,
                            std::uint64_t count);

  // --- snapshots (store_snapshot.cpp) ---
  // Before a current record is replaced or added.
  void note_past(const core::ObjectKey& key, const RecordPtr& before);
};

// A record's text by itself, without the store. "" when it cannot be decoded, which only a bug can
// cause.
std::string decode_record(const Record& record, const Dictionary* dictionary);
// A patch is kept where it is smaller than the text by this factor.
inline constexpr std::size_t kAlike = 3;
inline constexpr char kManagersSeparator = '\0';  // stands in no valid JSON text
// From the full text of a record; absent when it is not JSON, which only a bug can cause.
std::optional<StoredObject> object_of_text(std::string full, bool reduced);

// What finds an object, but for the named indexes.
Terms terms_of(const core::ObjectMeta& meta);

}  // namespace kubewatch::runtime
