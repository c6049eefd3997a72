// Notices another process that applies children under our field manager: a second instance without
// leader election. Compares managedFields as our own last answer showed them with what the server
// has later; what it has not written itself since the start it does not judge, so a restart, or a
// request whose answer was lost, raises no alarm. Pure.
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
  // The cache shows a version of a child that we wrote, and it is not ours: worth reading it whole.
  bool is_suspect(const ChildId& id, const std::string& resource_version) const;
  // `object` was read from the server; no write of ours to it is open.
  bool is_rival(const ChildId& id, const Json& object, const std::string& field_manager) const;

 private:
  struct Own {
    std::string resource_version;
    std::string applied_at;  // of our entry, by the server's clock, in seconds
  };
  std::map<ChildId, Own> own_;  // of some children: one that is shared is enough
};

}  // namespace kubewatch::hooks
