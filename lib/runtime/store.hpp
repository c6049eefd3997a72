// The cache of one watch: compact records, compressed objects, indexes, mark and sweep on relist,
// snapshots, save and load. One writer (its reflector), many readers. Readers see complete states
// only: before the first sync ready() is false and nothing is there. Plain class, no I/O. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/meta.hpp"
#include "core/resource.hpp"
#include "core/selector.hpp"
#include "runtime/store_options.hpp"

namespace kubewatch::runtime {

struct PreparedObject;
struct FieldManager;
struct SnapshotState;

// A copy for the reader: metadata, and the object as compact JSON without what StoreOptions drop.
struct StoredObject {
  core::ObjectMeta meta;
  std::string json;
  std::string managers_text{};  // what is left of managedFields
  // Too deep, too big or broken: only its metadata is here. Nobody should decide by what lacks.
  bool reduced = false;
  // runtime/store_ingest.hpp has the type.
  std::vector<FieldManager> managers() const;
};

enum class ChangeType { added, modified, deleted };

// One net change, told after the store holds it. A same name with a new uid is told as deleted,
// then added.
struct StoreChange {
  ChangeType type = ChangeType::added;
  bool initial = false;   // came from the first list
  bool relisted = false;  // found by a relist after a gap
  bool reduced = false;   // `json` has metadata only: see StoredObject
  core::ObjectMeta meta;  // the new state; for deleted the last known
  std::string json;       // the same
  // Before: absent for added. Labels and owners tell who else is concerned.
  std::optional<core::ObjectMeta> previous_meta;
  std::string previous_json;  // "" for added
};

struct StoreStats {
  std::size_t objects = 0;
  std::uint64_t json_bytes = 0;  // as stored, before compression
  std::uint64_t held_bytes = 0;  // records, compressed objects, dictionaries and indexes
  std::uint64_t relists = 0;
  std::uint64_t dictionaries = 0;  // trained so far
  std::uint64_t unparsable = 0;    // items kept as metadata only, or dropped, and counted
  struct Unparsable {
    std::uint64_t count = 0;
    std::string last;  // "shop/web: nested deeper than 200 levels; kept as metadata only"
  };
};

// Gets the changes one by one, after the store holds all of them. It may read the store, not write
// it. Empty: nobody wants to know, and no change is built (a change costs a decompression or two).
using ChangeSink = std::function<void(StoreChange&&)>;
// The keys under which an object stands in an index; several, or none. The same for the same text.
using IndexKeys = std::function<std::vector<std::string>(const std::string& json)>;

// The store's state at one time, whatever happens to it later: what a run reads. Costs nothing but
// the objects that change while it lives. Keeps the store's content alive; give it up soon.
class StoreSnapshot {
 public:
  ~StoreSnapshot();
  StoreSnapshot(const StoreSnapshot&) = delete;
  StoreSnapshot& operator=(const StoreSnapshot&) = delete;

  const std::string& resource_version() const;
  std::size_t size() const;
  std::optional<StoredObject> get(const core::ObjectKey& key) const;
  // Keys in order.
  std::vector<core::ObjectKey> keys() const;
  std::vector<core::ObjectKey> select(const core::LabelSelector& selector,
                                      const std::optional<std::string>& namespace_ = {}) const;

 private:
  friend class Store;
  struct Impl;
  explicit StoreSnapshot(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class Store {
 public:
  explicit Store(StoreOptions options = {});
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  // --- readers ---
  bool ready() const;
  // Called once, when the first sync is done and its sink was told, or a cache is loaded; at once
  // when it is.
  void on_ready(std::function<void()> callback);
  // The resourceVersion up to which the content is exact; moves with events and bookmarks.
  const std::string& resource_version() const;
  std::size_t size() const;
  // Both without unpacking it.
  bool contains(const core::ObjectKey& key) const;
  bool contains(const core::ObjectKey& key, std::string_view uid) const;
  std::optional<StoredObject> get(const core::ObjectKey& key) const;
  // Those that are kept reduced, in order.
  std::vector<core::ObjectKey> reduced() const;
  std::optional<core::ObjectMeta> get_meta(const core::ObjectKey& key) const;
  std::optional<StoredObject> find_uid(const std::string& uid) const;
  // Keys in order. namespace_: absent = all; "" = objects without one.
  std::vector<core::ObjectKey> keys() const;
  std::vector<core::ObjectKey> keys_in(const std::string& namespace_) const;
  std::vector<core::ObjectKey> keys_with_label(const std::string& label,
                                               const std::string& value) const;
  std::vector<core::ObjectKey> keys_owned_by(const std::string& owner_uid) const;
  std::vector<core::ObjectKey> select(const core::LabelSelector& selector,
                                      const std::optional<std::string>& namespace_ = {}) const;
  // Of an index that add_index() made; empty for an unknown one.
  std::vector<core::ObjectKey> keys_indexed(const std::string& index, const std::string& key) const;
  // Absent until ready().
  std::unique_ptr<StoreSnapshot> snapshot() const;
  // Walks the indexes: for reports, not for each event.
  StoreStats stats() const;
  const StoreStats::Unparsable& unparsable() const;

  // --- the owner ---
  // What it holds is of another version of the kind than what is listed next: by load(), by
  // retype(). What is saved until then is of that version too.
  bool of_another_version() const;
  // The server's data went back: until the next full state what it holds is of a past that the
  // server does not have. It is saved as such, and load() knows it again.
  void note_undone_past();
  bool of_undone_past() const;
  // The same objects under another version: what comes from now on is of that.
  void retype(const core::Gvk& type);
  // An index by what `keys_of` reads of each object, now and later; it is asked once for each
  // change. A known name is replaced.
  void add_index(const std::string& name, IndexKeys keys_of);
  // All of it as bytes, in pieces; `about` tells what was watched (kind, namespace, selectors).
  // They hold the objects: a file of them is for its owner only (0600). Errors: not ready; those of
  // `sink`.
  Result<void> save(const std::string& about,
                    const std::function<Result<void>(std::string_view)>& sink) const;
  // What save() wrote with the same `about` and the same options, into a store that is not ready:
  // then it is, at the saved resourceVersion. On an error nothing is changed. Errors: invalid (cut
  // short, damaged, of another version, of another watch).
  Result<void> load(const std::string& about, std::string_view bytes);
  // The present state, each object as added and initial.
  void tell_all(const ChangeSink& tell) const;

  // --- the writer; each tells the net changes, in order ---
  // Starts a new full state; what an unfinished one had staged is forgotten. `compare_text`: an
  // equal resourceVersion proves nothing (the server was restored from a backup).
  void begin_init(bool compare_text = false);
  // Staged until finish_init; an object with an unchanged uid and resourceVersion is only marked as
  // seen. Errors here and below: invalid, when not even metadata can be read; counted, the store is
  // unchanged.
  Result<void> init_apply(std::string_view object_json);
  // The full state shows an object that cannot be named: what else it does not show may be that
  // one, so that nothing is swept at its end.
  void init_unreadable();
  void finish_init(std::string resource_version, const ChangeSink& tell);
  // Between begin_init and finish_init (a streaming list) these two stage as well and tell nothing.
  Result<void> apply(std::string_view object_json, const ChangeSink& tell);
  Result<void> remove(std::string_view object_json, const ChangeSink& tell);
  void bookmark(std::string resource_version);

  // The same in two steps, for a writer that must look at the metadata in between; and counting
  // what prepare() refuses is done there.
  Result<PreparedObject> prepare(std::string_view object_json);
  // False: this full state had it before.
  bool init_apply(const PreparedObject& object);
  void apply(PreparedObject object, const ChangeSink& tell);
  void remove(const PreparedObject& object, const ChangeSink& tell);

  // The same, collected.
  std::vector<StoreChange> finish_init(std::string resource_version);
  Result<std::vector<StoreChange>> apply(std::string_view object_json);
  Result<std::vector<StoreChange>> remove(std::string_view object_json);

  // Compresses some records that are not at their best, the newest changes first, and says how many
  // it has left at most. The loop calls it in slices; 0 only counts.
  std::size_t compact_some(std::size_t max_records);

 private:
  friend class StoreSnapshot;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace kubewatch::runtime
