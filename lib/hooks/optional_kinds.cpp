#include "hooks/optional_kinds.hpp"

#include <algorithm>

namespace kubewatch::hooks {
namespace {

bool is_unsure(const client::ResourceMap& resources, const core::Gvk& gvk) {
  for (const std::string& failed : resources.failed_groups) {
    if (failed.starts_with(gvk.group + "/")) return true;
  }
  return false;
}

}  // namespace

std::vector<core::Gvk> optional_kinds(const Rule& rule) {
  std::vector<core::Gvk> out;
  const auto add = [&out](const StreamRule& stream) {
    if (!stream.optional || stream.every_kind) return;
    if (std::find(out.begin(), out.end(), stream.gvk) == out.end()) out.push_back(stream.gvk);
  };
  if (rule.has_for) add(rule.for_);
  for (const OwnsRule& owns : rule.owns) add(owns.stream);
  for (const WatchesRule& watches : rule.watches) add(watches.stream);
  return out;
}

bool is_absent(const client::ResourceMap& resources, const core::Gvk& gvk) {
  return !is_unsure(resources, gvk) && resources.find_kind(gvk.group, gvk.kind) == nullptr;
}

void OptionalKinds::start(const Rule& rule, const client::ResourceMap& resources) {
  kinds_ = optional_kinds(rule);
  absent_.clear();
  missing_.clear();
  for (const core::Gvk& gvk : kinds_) {
    if (is_absent(resources, gvk)) absent_.insert(gvk);
  }
}

bool OptionalKinds::look(const client::ResourceMap& resources) {
  bool changed = false;
  for (const core::Gvk& gvk : kinds_) {
    if (is_unsure(resources, gvk)) continue;
    const bool absent = is_absent(resources, gvk);
    if (absent_.contains(gvk)) {
      changed = changed || !absent;
    } else if (!absent) {
      missing_.erase(gvk);
    } else if (!missing_.insert(gvk).second) {
      changed = true;
    }
  }
  return changed;
}

}  // namespace kubewatch::hooks
