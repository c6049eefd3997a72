// Owner references: removes objects whose owners are gone, and carries out foreground and orphan
// deletion. What kube-controller-manager does beside the real server. Fed with events; works in
// steps; no I/O, no clock.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "apiserver/registry.hpp"
#include "apiserver/storage.hpp"
#include "apiserver/writer.hpp"

namespace kubewatch::apiserver {

class GarbageCollector {
 public:
  GarbageCollector(Storage& storage, Registry& registry, Writer& writer)
      : storage_(storage), registry_(registry), writer_(writer) {}

  void on_event(const std::string& storage_id, const EventPtr& event);
  // Kinds came, changed or went: what waits for that is looked at again.
  void on_kinds_changed();
  // Looks at one object; false when there is nothing to do.
  bool step(WallTime now);

 private:
  using Id = std::pair<std::string, std::string>;  // storage id, key
  // What a reference to an owner has to say besides its uid.
  struct Place {
    std::string group;
    std::string kind;
    std::string namespace_;
    std::string name;
  };

  void index(const Id& id, const Object* before, const Object* after);
  void enqueue(const Id& id);
  void enqueue_dependents(const std::string& owner_uid);
  void enqueue_waiting_owners(const Object& dependent);
  void remember_gone(const Object& owner);
  bool is_gone(const Json& reference, const Object& dependent) const;
  // These are false where the object has to wait: for its dependents, for the kind of an owner, or
  // because something had to be written and was refused. An object may not fit its schema any more,
  // or is not served.
  bool look_at(const Id& id, const Object& object, WallTime now);
  bool collect_dependents(const Id& id, const Object& owner, WallTime now);
  bool orphan_dependents(const Id& id, const Object& owner, WallTime now);
  bool judge_owners(const Id& id, const Object& object, WallTime now);
  bool change(const Id& id, WallTime now, const Writer::Change& change);
  bool remove_finalizer(const Id& id, const char* finalizer, WallTime now);
  bool drop_owners(const Id& id, const std::set<std::string>& uids, WallTime now);
  bool unblock_owners(const Id& id, WallTime now);
  bool has_waiting_dependent(const std::string& uid) const;
  WriteContext context_of(const Id& id, WallTime now) const;

  Storage& storage_;
  Registry& registry_;
  Writer& writer_;
  std::map<std::string, std::set<Id>> dependents_;  // by owner uid
  // Those of them that hold up the owner's deletion in the foreground: the owner is looked at again
  // for each that goes, and must not look at all the others.
  std::map<std::string, std::set<Id>> blockers_;
  // Owners that were seen to go, by uid, as long as somebody refers to them: their kind may be gone
  // as well before that somebody is looked at.
  std::map<std::string, Place> gone_;
  // Objects that wait, also to be served again, by uid: until kinds change, or they or their
  // dependents do. Nothing else makes a difference, so no time is waited.
  std::map<std::string, Id> waiting_;
  std::set<Id> refused_;  // could not be changed as they are: until they or kinds change
  std::deque<Id> queue_;
  std::set<Id> queued_;
};

}  // namespace kubewatch::apiserver
