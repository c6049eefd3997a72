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
  bool anywhere = false;             // they may be where no name says
};

// By group and kind: a child is the same in each version.
std::map<std::pair<std::string, std::string>, ChildPlaces> child_places(const Rule& rule,
                                                                        bool owner_namespaced) {
  std::map<std::pair<std::string, std::string>, ChildPlaces> out;
  const auto add = [&out](const core::Gvk& gvk, const std::vector<std::string>& names, bool all,
                          bool anywhere) {
    ChildPlaces& places = out[{gvk.group, gvk.kind}];
    places.namespaces.insert(names.begin(), names.end());
    places.all = places.all || all;
    places.anywhere = places.anywhere || anywhere;
  };
  for (const OwnsRule& owns : rule.owns) {
    const StreamRule& stream = owns.stream;
    const bool selects = !stream.label_selector.empty() || !stream.field_selector.empty();
    const bool by_namespace = !stream.namespace_selector.empty();
    const bool unnamed = !owner_namespaced && stream.namespaces.empty();
    // Where the objects may be anywhere, so their children are watched everywhere.
    const bool every = unnamed || (owner_namespaced && rule.for_.namespaces.empty());
    add(stream.gvk, stream.namespaces, (every && !selects) || by_namespace,
        unnamed || by_namespace);
  }
  for (const WritesRule& writes : rule.writes) {
    const bool unnamed = writes.namespaces.empty() && !owner_namespaced;
    add(writes.gvk, writes.namespaces, unnamed, unnamed);
  }
  return out;
}

}  // namespace

std::vector<std::string> places_left(const OwnerScoped& before, const OwnerScoped& now) {
  std::vector<std::string> out;
  const auto kept = child_places(now.rule, now.namespaced);
  for (const auto& [kind, places] : child_places(before.rule, before.namespaced)) {
    const auto it = kept.find(kind);
    if (it == kept.end()) {
      out.push_back(kind.second);
      continue;
    }
    if (it->second.all) continue;
    if (places.anywhere) out.push_back(kind.second + " in other namespaces");
    for (const std::string& name : places.namespaces) {
      if (it->second.namespaces.count(name) == 0) out.push_back(kind.second + " in " + name);
    }
  }
  return out;
}

}  // namespace kubewatch::hooks
