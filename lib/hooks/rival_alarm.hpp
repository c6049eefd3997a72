// Notices another process that applies children under our field manager: a second instance without
// leader election. Compares when that manager applied last, as our own last answer said it, with
// what the cache shows later; times are in whole seconds, so two that fight are noticed within a
// few. What this process has not written itself since its start it does not judge, so a restart, or
// a request whose answer was lost, raises no alarm. Pure.
#pragma once

#include <map>
#include <string>

#include "base/json_fwd.hpp"
#include "hooks/ownership.hpp"

namespace kubewatch::hooks {

class RivalAlarm {
 public:
  // The answer to our own apply.
  void wrote(const ChildId& id, const Json& object, const std::string& field_manager);
  // A write of ours that may or may not have happened.
  void unsure(const ChildId& id) { own_.erase(id); }
  // The cache shows a version of a child that we wrote, and it is not ours.
  bool is_suspect(const ChildId& id, const std::string& resource_version) const;
  // `applied_at`: when our field manager last applied it, as that version of the object says; "" =
  // never. No write of ours to it is open.
  bool is_rival(const ChildId& id, const std::string& resource_version,
                const std::string& applied_at) const;

 private:
  struct Own {
    std::string resource_version;
    std::string applied_at;  // of our entry, by the server's clock, in seconds
  };
  std::map<ChildId, Own> own_;  // of some children: one that is shared is enough
};

}  // namespace kubewatch::hooks
