#include "runtime/served_kind.hpp"

#include <algorithm>

namespace kubewatch::runtime {

ServedKind served_kind(const client::ResourceMap& map, const core::Gvk& gvk) {
  using State = ServedKind::State;
  if (const auto* same = map.find(gvk)) return {State::served, *same};
  // A version that did not answer may have it.
  const std::string prefix = gvk.group + "/";
  const bool silent =
      std::any_of(map.failed_groups.begin(), map.failed_groups.end(), [&](const auto& failure) {
        return failure.starts_with(gvk.api_version() + ":") ||
               (!gvk.group.empty() && failure.starts_with(prefix));
      });
  if (silent) return {};
  const auto& all = map.all();
  const auto other = std::find_if(all.begin(), all.end(), [&](const auto& type) {
    return type.gvk.group == gvk.group && type.gvk.kind == gvk.kind && type.has_verb("list") &&
           type.has_verb("watch");
  });
  if (other != all.end()) return {State::another, *other};
  if (map.find_kind(gvk.group, gvk.kind) != nullptr) return {};
  // Half of discovery may be answered by something else, too.
  const bool told = std::any_of(all.begin(), all.end(), [&](const auto& type) {
    return type.gvk.group.empty() == gvk.group.empty();
  });
  return {told ? State::gone : State::unknown, std::nullopt};
}

}  // namespace kubewatch::runtime
