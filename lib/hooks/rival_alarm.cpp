#include "hooks/rival_alarm.hpp"

#include "base/json.hpp"
#include "core/resource_version.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMostChildren = 1000;

// When `manager` last changed what it applies; "" when it applies nothing.
std::string applied_at(const Json& object, const std::string& manager) {
  for (const Json& entry : base::items_at(object, {"metadata", "managedFields"})) {
    if (is_apply_of(entry, manager)) return base::string_at(entry, {"time"});
  }
  return "";
}

}  // namespace

void RivalAlarm::wrote(const ChildId& id, const Json& object, const std::string& field_manager) {
  const std::string version = base::string_at(object, {"metadata", "resourceVersion"});
  const std::string time = applied_at(object, field_manager);
  if (version.empty() || time.empty()) return unsure(id);
  if (own_.size() >= kMostChildren && own_.count(id) == 0) own_.erase(own_.begin());
  own_[id] = {version, time};
}

bool RivalAlarm::is_suspect(const ChildId& id, const std::string& resource_version) const {
  const auto it = own_.find(id);
  return it != own_.end() && !core::at_least_version(it->second.resource_version, resource_version);
}

bool RivalAlarm::is_rival(const ChildId& id, const std::string& resource_version,
                          const std::string& applied_at) const {
  // RFC 3339 in UTC: sorts as text.
  return is_suspect(id, resource_version) && applied_at > own_.at(id).applied_at;
}

}  // namespace kubewatch::hooks
