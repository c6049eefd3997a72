// The I/O around an ApplySet: reads its parent, widens it before the applies, deletes members that
// were not applied, narrows it afterwards. Owned by the verb; blocks on the session's loop.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/apply/apply_set.hpp"
#include "cli/session.hpp"

namespace kubewatch::cli {

struct Pruned {
  core::ResourceType type;
  core::ObjectKey key;
  std::string uid;
  std::optional<Error> error;  // of its deletion
};

class ApplySetRun {
 public:
  // All that it sends may be sent twice, and is while the server is busy or a connection breaks
  // off, a minute for each: reads, an apply of the parent, a deletion by uid.
  struct Pauses {
    std::function<bool()> stopped;  // ends them; null: never
    // What waits so long, and why; null: nobody is told.
    std::function<void(const std::string& what, const Error& why, Duration pause)> told;
  };
  // Looks at the parent and decides nothing yet. `session` must outlive it. Errors: invalid
  // (another tool's set, a kind that may be no parent), not_found (no such kind; a parent that is
  // neither Secret nor ConfigMap and does not exist), those of the request.
  static Result<ApplySetRun> open(Session& session, const std::string& parent, bool dry_run,
                                  Pauses pauses = {});

  const std::string& id() const { return id_; }
  const std::string& parent_namespace() const { return key_.namespace_; }
  std::string parent_text() const;

  // What another set's parent is called, where it is of this one's kind and namespace and can be
  // read at once; else its id.
  std::string name_of(const std::string& id);

  // Before anything is applied: the parent names everything that was a member or is going to be.
  // Whether another manager's fields had to be taken. Errors: of the request.
  Result<bool> widen(const SetContents& to_be_applied);
  // Members whose uid was not applied, in order of kinds. Errors: of a list, or a kind that cannot
  // be looked through: then nothing may be deleted.
  Result<std::vector<Pruned>> find_obsolete(const std::set<std::string>& applied_uids);
  // Deletes it, if it is still the same object. Fills `error`.
  void remove(Pruned& member);
  // After everything went well: the parent names what is there.
  Result<void> narrow();

 private:
  ApplySetRun(Session& session, bool dry_run, Pauses pauses)
      : session_(&session), dry_run_(dry_run), pauses_(std::move(pauses)) {}
  template <class T>
  Result<T> ask(const std::string& what,
                const std::function<client::PendingPtr(std::function<void(Result<T>)>)>& start);
  Result<void> check_parent_kind();
  Result<void> write_parent(const SetContents& contents, bool force);
  Result<void> list_members(const core::ResourceType& type, const std::string& place,
                            const std::set<std::string>& applied_uids, std::vector<Pruned>& out);

  Session* session_;
  bool dry_run_;
  Pauses pauses_;
  bool answered_ = false;  // the server, whatever it said
  core::ResourceType type_;
  core::ObjectKey key_;
  std::string id_;
  std::map<std::string, std::string> names_;  // of other sets, by id
  SetContents before_;
  SetContents now_;
};

}  // namespace kubewatch::cli
