#include "hooks/optional_kinds.hpp"

#include <algorithm>

#include "hooks/rule_kinds.hpp"

namespace kubewatch::hooks {

std::vector<core::Gvk> optional_kinds(const Rule& rule) {
  std::vector<core::Gvk> out;
  for (const StreamRule* stream : streams_of(rule)) {
    if (!stream->optional || stream->every_kind) continue;
    if (std::find(out.begin(), out.end(), stream->gvk) == out.end()) out.push_back(stream->gvk);
  }
  return out;
}

bool is_absent(const client::ResourceMap& resources, const core::Gvk& gvk) {
  return !resources.did_not_answer(gvk) && resources.find_kind(gvk.group, gvk.kind) == nullptr;
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
    if (resources.did_not_answer(gvk)) continue;
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
