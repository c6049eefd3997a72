// What this process remembers of its own writes, per owner: children and the state they were left
// in, so that an unchanged child costs no request; and which child is being written for whom right
// now. Lost at a restart without harm: labels on the server tell the same. Pure.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"
#include "core/resource.hpp"
#include "hooks/once_per.hpp"
#include "hooks/ownership.hpp"
#include "hooks/patch_memory.hpp"
#include "hooks/rival_alarm.hpp"

namespace kubewatch::hooks {

struct KnownChild {
  core::ResourceType type;
  std::uint64_t manifest_hash = 0;  // 0: not known (found by labels)
  std::string resource_version;     // after our last apply; "" = not known
  bool guess = false;               // it was about to be written, and may not be there
};

struct StatusMemory {
  std::uint64_t hash = 0;
  std::string resource_version;  // of the owner when it last was as we want it
  std::string written_version;   // of the owner after our last write of its status
  bool shows_error = false;      // we wrote our error condition, and none since that takes it back
  std::uint64_t error = 0;       // hash of the message of that one
};

class ChildMemory {
 public:
  // Beyond so many owners the one whose run ended longest ago is forgotten.
  explicit ChildMemory(std::size_t max_owners = 100000) : max_owners_(max_owners) {}

  // Around each run of an owner: meanwhile it is not forgotten to make room. `gone`: it died during
  // its run, and what the run still remembered of it goes as well.
  void begin_run(const std::string& owner_uid);
  void end_run(const std::string& owner_uid, bool gone);
  std::size_t owners() const { return owners_.size(); }

  void remember(const std::string& owner_uid, const ChildId& id, KnownChild child);
  // Before a write of it is sent: the answer may be lost, and then nothing else tells of the child.
  void note_guess(const std::string& owner_uid, const ChildId& id, const core::ResourceType& type);
  const KnownChild* find(const std::string& owner_uid, const ChildId& id) const;
  void forget_child(const std::string& owner_uid, const ChildId& id);
  const std::map<ChildId, KnownChild>& children(const std::string& owner_uid) const;

  // Children of kinds that are not watched were listed by their labels once; `all`: of watched ones
  // as well; `referring_too`: also where all of them refer to their owner.
  bool is_listed(const std::string& owner_uid, bool all, bool referring_too = false) const;
  void set_listed(const std::string& owner_uid, bool all, bool referring_too = false);

  StatusMemory& status(const std::string& owner_uid) { return owners_[owner_uid].status; }
  // Between them its status is being written: its event may come before the answer.
  void begin_status(const std::string& owner_uid) { owners_[owner_uid].writing_status = true; }
  void end_status(const std::string& owner_uid);
  // A run of this owner has left the child in this state, or is writing it just now; the same of
  // the owner's status. Not of states that others made of it since.
  bool wrote(const std::string& owner_uid, const ChildId& id,
             const std::string& resource_version) const;
  bool wrote_status(const std::string& owner_uid, const std::string& resource_version) const;
  // Whether its children are to stay, of what its finalizers said while it died. They say so only
  // until the garbage collector is done with it, or until another deletion said otherwise: unsure
  // is which of both it was. No: its deletion was seen as it began (`begins`), and said nothing of
  // the kind. Unknown: nobody was there to see that.
  enum class Orphaning { unknown, no, yes, unsure };
  void note_dying(const core::ObjectMeta& owner, bool begins = false);
  Orphaning orphaning(const std::string& owner_uid) const;
  void forget(const std::string& owner_uid);
  // The server's data went back: no version says anything any more. Which children there are stays.
  void forget_versions();

  // The object is not a child, though a rule's hook lists it under `create`: whether that is news.
  bool is_new_stranger(const ChildId& id, const std::string& uid, TimePoint now) {
    return strangers_.admit(id.str() + " " + id.group + " " + uid, now);
  }

  // Two objects that print the same child at the same time: the second is told so. False: taken by
  // another.
  bool claim(const ChildId& id, const std::string& owner_uid);
  void release(const ChildId& id, const std::string& owner_uid);
  bool is_claimed(const ChildId& id) const { return claims_.count(id) > 0; }

  PatchMemory& patches() { return patches_; }
  const PatchMemory& patches() const { return patches_; }
  RivalAlarm& rivals() { return rivals_; }

 private:
  struct PerOwner {
    std::map<ChildId, KnownChild> children;
    struct Listed {
      bool all = false;
      bool referring_too = false;
    };
    std::vector<Listed> listed;
    StatusMemory status;
    bool writing_status = false;
    Orphaning orphaning = Orphaning::unknown;
    std::optional<std::list<std::string>::iterator> resting;  // its place in resting_
  };
  void wake(PerOwner& owner);

  std::size_t max_owners_;
  std::unordered_map<std::string, PerOwner> owners_;
  std::list<std::string> resting_;  // uids of owners without a run; the first to be forgotten first
  std::map<ChildId, std::string> claims_;
  PatchMemory patches_;
  RivalAlarm rivals_;
  OncePer strangers_{Duration::max()};
};

// Never 0.
std::uint64_t text_hash(const std::string& text);

}  // namespace kubewatch::hooks
