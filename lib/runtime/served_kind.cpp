#include "runtime/served_kind.hpp"

#include <algorithm>

namespace kubewatch::runtime {

ServedKind served_kind(const client::ResourceMap& map, const core::ResourceType& known) {
  using State = ServedKind::State;
  const core::Gvk& gvk = known.gvk;
  const auto& all = map.all();
  // Several resources may be of one kind.
  const auto same = std::find_if(all.begin(), all.end(), [&](const auto& type) {
    return type.gvk == gvk && type.plural == known.plural && type.namespaced == known.namespaced;
  });
  if (same != all.end()) return {State::served, *same};
  if (const auto* now = map.find(gvk)) return {State::moved, *now};
  // A version that did not answer may have it.
  if (map.did_not_answer(gvk)) return {};
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
