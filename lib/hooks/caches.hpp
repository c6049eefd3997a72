// What one rule watches, as caches with relations: the objects of `for`, their children, related
// objects, and which object a change concerns. Turns changes into wakes; who runs when is driver's
// business.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/discovery.hpp"
#include "hooks/content_hash.hpp"
#include "hooks/expected_writes.hpp"
#include "hooks/input_list.hpp"
#include "hooks/namespace_selection.hpp"
#include "hooks/ownership.hpp"
#include "hooks/reduced.hpp"
#include "hooks/relations.hpp"
#include "hooks/rule.hpp"
#include "hooks/streams.hpp"
#include "hooks/write_context.hpp"
#include "runtime/owner_index.hpp"
#include "runtime/work_queue.hpp"

namespace kubewatch::hooks {

// What stands for "everything" in a rule without `for`: no object has an empty name.
inline const core::ObjectKey kNoObject{"", ""};

// Who made the change that wakes an object: a run of the object itself (an echo of what it has just
// written, or writes), a run of another object of the rule, or somebody else.
enum class Author { others, rule, itself };

// The state that wakes an object was made while a run of that object patches what it is a state of:
// perhaps by this patch, which its answer will tell.
struct Doubt {
  ChildId id;
  std::string resource_version;
  std::string patcher;  // its uid
};

struct Wake {
  core::ObjectKey key;
  runtime::Reason reason = runtime::Reason::updated;
  std::string reason_object;
  bool debounce = false;
  std::string previous = {};  // the object before, when all of it is known
  Author author = Author::others;
  std::optional<Doubt> doubt = {};
};

// Why an object is not seen any more.
enum class Gone { deleted, deleted_or_left, left };

struct CacheCallbacks {
  std::function<void(Wake)> wake;
  // With its last known state. left: no longer selected, or never matched the filter.
  std::function<void(const runtime::StoredObject&, Gone)> gone;
  // A cache shows this state of a child or of an object itself. True: a write of ours that it did
  // not show before.
  std::function<bool(const ChildId&, const std::string& resource_version)> seen;
  // It dies, held by our finalizer: this is how, by its finalizers.
  std::function<void(const core::ObjectMeta& owner, bool begins)> dying;
  // A cache of related objects shows another state of this one.
  std::function<void(const ChildId&)> related_seen;
  // A run of the object with that uid has left it in this state: the object itself (its status) or
  // another one.
  std::function<bool(const std::string& uid, const ChildId&, const std::string& resource_version)>
      wrote;
  std::function<const PatchMemory&()> patches;
  // A change of an object's own that does not run it: `changed` does not name what it touched.
  std::function<void(const core::ObjectKey& key, const std::string& resource_version)> ignored;
  // Whether any run waits for lists that are whole: else nobody need look for what is mended.
  std::function<bool()> runs_wait;
  // An object whose place in the lists could not be told (a Lack) has one now, or is gone: of which
  // entry of the rule ("/spec/owns/0"), and what it was, of the reason owned_changed or
  // related_changed; "" = nothing has changed of it.
  std::function<void(const std::string& place, runtime::Reason, const std::string& object)> mended;
  // It is gone from what this instance watches, and may be another's (--shard-by label=KEY).
  std::function<void(const core::ObjectMeta& last)> may_have_left_shard;
  std::function<void()> on_ready;  // some stream had its first sync, or is blocked
  std::function<TimePoint()> now;
};

class RuleCaches {
 public:
  // `rule` must outlive it.
  RuleCaches(const Rule& rule, CacheCallbacks callbacks);

  // Finds the kinds. Errors: not_found naming the kinds that are missing; invalid (wrong scope).
  Result<void> resolve(const client::ResourceMap& resources);
  void open(StreamPool& pool);  // precondition: resolved
  bool ready() const;           // all streams had their first sync
  bool blocked() const;         // some kind may not be listed, or is gone
  bool stalled() const;         // some kind could not be listed for a while
  // Of each stream that the rule needs, once; none before open().
  std::vector<WatchFacts> watches() const;
  // Once ready: indexes what is there and wakes every object.
  void build();
  // Every object that this rule would look at after a start. Precondition: built.
  std::vector<core::ObjectKey> known_keys() const;

  const core::ResourceType& type() const { return for_.type; }
  // In a rule without `for`, kNoObject is there and empty.
  std::optional<runtime::StoredObject> object(const core::ObjectKey& key) const;
  // Cheaper than to look at it.
  bool has_object(const core::ObjectKey& key, std::optional<std::string_view> uid = {}) const;
  std::optional<core::ObjectMeta> object_meta(const core::ObjectKey& key) const;
  std::vector<core::ObjectKey> object_keys() const { return for_.group.keys(); }
  // By the index of labels, whatever the filter says.
  std::vector<core::ObjectKey> selected(const core::LabelSelector& selector) const {
    return for_.group.select(selector);
  }
  // Objects of this rule may come to carry our finalizer.
  bool may_finalize() const { return may_finalize_; }
  // The rule watches this namespace.
  bool covers(const std::string& namespace_) const { return for_.group.covers(namespace_); }
  // Namespaces that the rule does not name any more, and where its finalizer is still on objects:
  // those are guarded as what left a selector is. Readiness does not wait for them.
  void open_left(StreamPool& pool, const std::vector<std::string>& namespaces);
  // A finalize hook there is given children, and those are still being listed. Where all tries have
  // failed for a while nobody waits for them: the run says what it lacks.
  bool lists_children_left(const std::string& namespace_) const;
  // Something there is to be finalized once they are.
  bool cleanup_waits_for_children() const;
  // Nothing of it is on its way.
  bool left_settled() const { return for_.left.ready() || for_.left.blocked(); }
  // Some of it is still being listed. Where all tries have failed for a while nobody waits for it.
  bool left_awaited() const;
  // What could not be listed for so long; not what may not be, which is told otherwise.
  std::vector<WatchFacts> left_unread() const;
  // Seen outside the selection, with our finalizer.
  bool is_guarded_outside(const core::ObjectKey& key) const;
  // `live`, which the server has and the cache has not, is of the selection: the watch of that is
  // behind the one that guards, which nothing orders, and will tell of it.
  bool is_on_its_way(const core::ObjectMeta& meta, const Json& live) const;

  // What a run of the object is given: one list for each `owns` and each `watches`, in order.
  // `owner_namespace`: "" = none.
  std::vector<InputList> owned(const std::string& owner_uid,
                               const std::string& owner_namespace = "") const;
  // An object that no index has: not selected, or gone. Of what is gone nothing can be mended: what
  // its `refs` cannot tell is left out.
  struct Unindexed {
    const std::string& json;
    bool gone = false;
  };
  std::vector<InputList> related(const core::ObjectKey& key,
                                 const std::optional<Unindexed>& unindexed = {}) const;
  // A run of the object has met a Lack. Programs that failed for want of time may not fail now.
  void try_again(const core::ObjectKey& key);

  // What there is outside the selection, with our finalizer.
  std::optional<core::ObjectMeta> guarded_meta(const core::ObjectKey& key) const;
  // Names all that a run of the object would see, by uid and version: equal texts, equal input.
  std::string input_mark(const core::ObjectKey& key, const core::ObjectMeta& meta,
                         const std::string& json) const;

  std::optional<core::ObjectMeta> cached_child(const ChildId& id) const;
  // When `manager` last applied the child, RFC 3339, as the cache has it; "" = never, or not
  // watched.
  std::string applied_at(const ChildId& id, const std::string& manager) const;
  // Of all caches that a run is given objects from and that select what has these labels; a cache
  // with a field selector is not known to.
  std::vector<CacheView> views_of(
      const ChildId& id, const std::vector<std::pair<std::string, std::string>>& labels) const;
  bool deletion_wakes(const ChildId& id, const std::string& object_json) const;
  std::vector<FoundChild> cached_children(const std::string& owner_uid) const;
  // A kind in these caches, for readers of single kinds; valid as long as the caches.
  struct CachedKind {
    const core::ResourceType& type;
    const StreamRule& stream;
    const StreamGroup& group;
    bool all;  // no object of a watched namespace is left out
  };
  std::vector<CachedKind> cached_kinds() const;
  // Of for, owns and writes.
  std::vector<core::ResourceType> writable_kinds() const;
  // Of an `owns` of the rule with a namespaceSelector: whether it means this namespace now.
  bool selects_namespace(const StreamRule& stream, const std::string& name) const;
  // `stale`: where a cache that is behind shows too little, too; that is, of children that no owner
  // reference ties to the owner, but with `referring_too`.
  std::vector<WriteContext::Unwatched> unwatched_places(const Owner& owner, bool stale = false,
                                                        bool referring_too = false) const;
  // An object of which the watch says that it is gone.
  Gone how_gone(const runtime::StoredObject& last) const;
  // The watches of its objects go on for as long, and tell of what is in a namespace that is
  // selected now.
  using OnChange = std::function<void(const runtime::StoreChange&)>;
  HeldStreams hold_objects(StreamPool& pool, const OnChange& on_change) const;
  // Kinds of `writes` that the server did not have yet are looked for again; false: some are still
  // missing. Errors: unavailable (discovery of the group of one failed: it may well exist).
  Result<bool> resolve_writes(const client::ResourceMap& resources);

 private:
  // Before the groups: streams call it until they are closed.
  using Selection = std::unique_ptr<NamespaceSelection>;
  struct For {
    core::ResourceType type;
    Selection selection;  // with a namespaceSelector
    StreamGroup group;
    ReducedKeys reduced;
    StreamGroup guard;  // unselected, metadata only: objects that left the selection
    StreamGroup left;   // as guard, in namespaces that the rule does not name any more
    bool needs_guard = false;
  };
  struct Owned {
    const OwnsRule* rule = nullptr;
    core::ResourceType type;
    Selection selection;  // where children may be made; where they are is watched everywhere
    StreamGroup group;
    // By namespaces that the rule does not name any more, where it finalizes objects.
    std::map<std::string, StreamGroup> left;
    ReducedKeys reduced;
    bool absent = false;  // an optional kind that the server does not have: nothing is opened
    std::string place;    // in the rule: "/spec/owns/0"
  };
  struct Related {
    const WatchesRule* rule = nullptr;
    core::ResourceType type;
    Selection selection;
    StreamGroup group;
    ReducedKeys reduced;
    bool absent = false;
    std::string place;
    Relations relations;  // map: related -> ours; refs: ours -> related
  };

  static std::vector<core::ObjectKey> related_keys(const Related& related,
                                                   const core::ObjectKey& key);
  static std::string relation_failure(const Related& related, const core::ObjectKey& key);
  static std::optional<Lack> lack_of(const Related& related, const core::ObjectKey& key);
  static bool watches(const Owned& owned, const ChildId& id);

  void on_object(const runtime::StoreChange& change);
  void note_dying(const runtime::StoreChange& change);
  void on_object_deleted(const runtime::StoreChange& change);
  void on_guarded(const runtime::StoreChange& change);
  void open_selection(StreamPool& pool, const StreamRule& rule, Selection& out,
                      std::function<void(const std::string&)> joined,
                      std::function<void(const std::string&)> left);
  StreamSpec guard_spec() const;
  void open_for(StreamPool& pool);
  void wake_left();
  std::optional<core::ObjectMeta> meta_outside(const core::ObjectKey& key) const;
  StreamSpec owned_spec(const Owned& owned) const;
  void open_owned(StreamPool& pool, Owned& owned);
  void open_left_children(StreamPool& pool, Owned& owned, const std::string& namespace_);
  void on_left_children(const std::string& namespace_);
  void open_related(StreamPool& pool, Related& related);
  bool any_group(bool (StreamGroup::*is)() const) const;  // of the kinds and of their selections
  void on_namespace_joined(const std::string& name);
  void on_namespace_left(const std::string& name);
  void on_related_namespace(Related& related, const std::string& name, bool joined);
  void forget_relations(const core::ObjectMeta& meta);
  void on_owned(Owned& owned, const runtime::StoreChange& change);
  void on_related(Related& related, const runtime::StoreChange& change);
  void take_related(Related& related, const runtime::StoreChange& change);
  std::vector<core::ObjectKey> concerned_by(Related& related, const runtime::StoreChange& change,
                                            bool passes_now);
  void index_object(const runtime::StoredObject& object);
  void update_refs(const core::ObjectKey& key, const std::string& json);
  void set_refs(Related& related, const core::ObjectKey& key, const std::string& json);
  Result<std::vector<core::ObjectKey>> refs_of(const Related& related, const core::ObjectKey& key,
                                               const std::string& json) const;
  void set_mapped(Related& related, const core::ObjectMeta& meta, const std::string& json,
                  bool reduced);
  bool map_again(Related& related, const core::ObjectKey& source);
  void index_related(Related& related);
  std::vector<core::ObjectKey> children_of(const StreamGroup& group,
                                           const std::string& owner_uid) const;
  struct Relating {
    std::string what;  // "map of watches config"
    const jq::Program& program;
    const core::ResourceType& from;  // the kind of what it is run on
    bool reduced;                    // of that only the metadata is known
    bool namespaced;                 // the kind that it points at is
    bool maps;                       // by `map`: one object's data must not hold all of ours
  };
  Result<std::vector<core::ObjectKey>> run_relation(const Relating& relating,
                                                    const core::ObjectKey& key,
                                                    const std::string& json) const;
  void warn_of_nameless(const Relating& relating, const core::ObjectKey& key,
                        const std::string& what) const;
  std::vector<std::string> owns_namespaces(const OwnsRule& owns, bool namespaced) const;
  const core::ObjectKey* object_of(const std::string& uid) const;
  const core::ObjectKey* writer_of(const ChildId& id, const core::ObjectMeta& meta) const;
  void name_author(Wake& wake, const core::ObjectMeta& meta) const;
  void wake_related(const Related& related, const runtime::StoreChange& change,
                    const std::vector<core::ObjectKey>& keys);
  void wake_all(const std::vector<core::ObjectKey>& keys, runtime::Reason reason,
                const std::string& reason_object, Author author);

  const Rule& rule_;
  CacheCallbacks callbacks_;
  core::ResourceType namespace_type_;
  ContentHash content_;
  For for_;
  std::vector<std::unique_ptr<Owned>> owned_;
  std::vector<std::unique_ptr<Related>> related_;
  std::vector<std::pair<core::ResourceType, std::vector<std::string>>> writes_;
  std::vector<const WritesRule*> missing_writes_;  // the server had no such kind when last asked
  runtime::OwnerIndex by_uid_;
  mutable OncePer warned_{Duration{3600000}};
  mutable std::set<std::string> nameless_;  // what was told of maps that give no name
  std::optional<TimePoint> tried_again_;
  bool opened_ = false;
  bool built_ = false;
  bool may_finalize_ = false;
  bool left_waits_ = false;  // opened, and not woken yet
};

}  // namespace kubewatch::hooks
