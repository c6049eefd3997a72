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
  // Kinds came or went: references that named an unknown kind are looked at again.
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
  void enqueue_owner(const Json& reference, const Object& dependent);
  void enqueue_unblocked_owners(const Object& before, const Object& after);
  void remember_gone(const Object& owner);
  bool is_gone(const Json& reference, const Object& dependent) const;
  void look_at(const Id& id, WallTime now);
  void collect_dependents(const Id& id, const Object& owner, WallTime now);
  void orphan_dependents(const Id& id, const Object& owner, WallTime now);
  void judge_owners(const Id& id, const Object& object, WallTime now);
  void remove_finalizer(const Id& id, const char* finalizer, WallTime now);
  void drop_owners(const Id& id, const std::set<std::string>& uids, WallTime now);
  bool has_waiting_dependent(const std::string& uid) const;
  void unblock_owners(const Id& id, WallTime now);
  WriteContext context_of(const Id& id, WallTime now) const;

  Storage& storage_;
  Registry& registry_;
  Writer& writer_;
  std::map<std::string, std::set<Id>> dependents_;  // by owner uid
  // Owners that were seen to go, by uid, as long as somebody refers to them: their kind may be gone
  // as well before that somebody is looked at.
  std::map<std::string, Place> gone_;
  std::set<Id> waiting_for_kind_;
  std::deque<Id> queue_;
  std::set<Id> queued_;
};

}  // namespace kubewatch::apiserver
