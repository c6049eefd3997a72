// Kinds and namespaces of children, before and after.
#include "hooks/left_places.hpp"

#include <map>
#include <set>
#include <utility>

namespace kubewatch::hooks {
namespace {

struct ChildPlaces {
  std::set<std::string> namespaces;  // besides the object's own
  bool all = false;                  // children are found wherever they are
};

// By group and kind: a child is the same in each version.
std::map<std::pair<std::string, std::string>, ChildPlaces> child_places(const Rule& rule,
                                                                        bool owner_namespaced) {
  std::map<std::pair<std::string, std::string>, ChildPlaces> out;
  const auto add = [&out](const core::Gvk& gvk, const std::vector<std::string>& names, bool all) {
    ChildPlaces& places = out[{gvk.group, gvk.kind}];
    places.namespaces.insert(names.begin(), names.end());
    places.all = places.all || all;
  };
  for (const OwnsRule& owns : rule.owns) {
    const StreamRule& stream = owns.stream;
    const bool selects = !stream.label_selector.empty() || !stream.field_selector.empty();
    const bool watches_all = stream.namespaces.empty() && !selects;
    add(stream.gvk, stream.namespaces, watches_all || !stream.namespace_selector.empty());
  }
  for (const WritesRule& writes : rule.writes) {
    add(writes.gvk, writes.namespaces, writes.namespaces.empty() && !owner_namespaced);
  }
  return out;
}

}  // namespace

std::vector<std::string> places_left(const Rule& before, const Rule& now, bool owner_namespaced) {
  std::vector<std::string> out;
  const auto kept = child_places(now, owner_namespaced);
  for (const auto& [kind, places] : child_places(before, owner_namespaced)) {
    const auto it = kept.find(kind);
    if (it == kept.end()) {
      out.push_back(kind.second);
      continue;
    }
    if (it->second.all) continue;
    for (const std::string& name : places.namespaces) {
      if (it->second.namespaces.count(name) == 0) out.push_back(kind.second + " in " + name);
    }
  }
  return out;
}

}  // namespace kubewatch::hooks
