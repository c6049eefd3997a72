// Who made a change: read from metadata.managedFields of both states. The server keeps one entry
// per manager, operation and subresource with the time of its last write, so a change is the work
// of an entry that is newer than before and owns the field. Pure.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/watch/field_changes.hpp"

namespace kubewatch::cli::watch {

struct Writer {
  std::string manager;
  std::string operation;    // "Apply" or "Update"
  std::string subresource;  // "" for the object itself
  std::string time;         // RFC 3339; "" when the server does not say
  bool operator==(const Writer&) const = default;
  // "kubectl-edit (Update)", "kubelet (Update of status)".
  std::string text() const;
  // {"manager", "operation", "subresource"?, "time"?}
  Json json() const;
};

class Writers {
 public:
  // Both must outlive it. `before` null: the object is new. What has no managedFields, or broken
  // ones, has no writers.
  Writers(const Json* before, const Json& after);
  ~Writers();

  // Absent where managedFields do not tell: two entries may be newer and neither owns the field.
  std::optional<Writer> of(const FieldChange& change) const;
  // Whose entries are newer than before, the newest first.
  std::vector<Writer> latest() const;

 private:
  std::optional<Writer> owner_of(const std::vector<FieldStep>& steps) const;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubewatch::cli::watch
