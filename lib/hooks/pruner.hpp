// Deletes children that are not wanted any more: those a run stopped printing, and before the
// finalizer goes those that Kubernetes would not remove by itself. Finds them by labels, reads each
// again, deletes under uid and resourceVersion preconditions.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/in_flight.hpp"
#include "hooks/write_context.hpp"

namespace kubewatch::hooks {

enum class PruneMode {
  unprinted,    // only what is still applied by our field manager
  all,          // `children: none`, finalizing as well: everything that we wrote
  unreferenced  // finalizing: everything of this owner that the garbage collector leaves behind
};

struct PruneReport {
  std::size_t deleted = 0;
  std::vector<std::string> names;  // of what was deleted
  bool needs_guard = false;        // a child stays that goes only with our finalizer on the owner
  bool orphaned = false;           // the owner died with its children to stay: nothing was deleted
  std::vector<Error> failures;
};

class Pruner {
 public:
  using Done = std::function<void(PruneReport)>;
  Pruner(WriteContext& context, Owner owner);
  using Child = std::pair<ChildId, core::ResourceType>;
  // `guarded`: of those to keep, which are looked at for needs_guard.
  void start(PruneMode mode, const std::vector<ChildId>& keep, const std::vector<Child>& guarded,
             Done done);
  // Finalizing. Of a dying owner children are looked at first, for whether it was deleted with its
  // children to stay: nobody may have been there to see it.
  struct Dying {
    WallTime since;       // when it was deleted
    bool unsure = false;  // it was said, and may have been taken back: children that still refer to
                          // it say so
  };
  void clean_up(PruneMode mode, const std::optional<Dying>& dying, Done done);

 private:
  void list_next();
  void list_page(const WriteContext::Unwatched& place, std::string continue_token);
  void collect();
  void look_at_references();
  void look_next();
  bool lost() const { return lost_ || (lost_created_ && !applied_seen_); }
  void looked_at(const ChildId& id, const Result<Json>& answer);
  void check_next();
  void finish();
  void remove(const core::ResourceType& type, const core::ObjectMeta& meta);
  void fail(Error error, const std::string& what);

  WriteContext& context_;
  Owner owner_;
  PruneMode mode_ = PruneMode::unprinted;
  std::set<ChildId> keep_;
  Done done_;
  bool finalizing_ = false;
  bool all_ = false;            // looks where caches may be behind, too
  bool referring_too_ = false;  // and where all children refer to the owner
  std::deque<WriteContext::Unwatched> places_;
  std::deque<Child> candidates_;
  std::optional<Dying> dying_;
  std::deque<Child> looks_;
  std::deque<Child> seem_to_refer_;  // by the cache
  bool refers_ = false;              // a child of a dying owner, to it
  bool applied_seen_ = false;        // one that is applied
  bool lost_ = false;                // such a one had a reference and has none any more
  bool lost_created_ = false;        // one that was only created has none
  std::size_t conflicts_ = 0;
  PruneReport report_;
  client::InFlight requests_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

// Whether an existing object may be pruned. Pure.
bool is_prunable(const Json& object, const core::ObjectMeta& meta, const Rule& rule,
                 const Owner& owner, PruneMode mode);

}  // namespace kubewatch::hooks
