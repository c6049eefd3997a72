// Following the kinds of groups.
#include "hooks/kind_families.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "hooks/rule_kinds.hpp"

namespace kubewatch::hooks {
void KindFamilies::add(Rule rule, std::optional<std::size_t> shard) {
  families_.push_back({std::move(rule), shard});
}

void KindFamilies::remove(const std::string& name) {
  std::erase_if(families_, [&](const Family& family) { return family.rule.name == name; });
}

void KindFamilies::remove_shard(std::size_t shard) {
  std::erase_if(families_, [&](const Family& family) { return family.shard == shard; });
}

bool KindFamilies::follows(const std::string& group) const {
  return std::any_of(families_.begin(), families_.end(),
                     [&](const Family& family) { return family.rule.for_.gvk.group == group; });
}

KindFamilies::Change KindFamilies::look(const client::ResourceMap& resources,
                                        const std::set<std::string>& running) {
  Change change;
  if (stopped_ || families_.empty()) return change;
  std::set<std::string> names = running;
  for (Family& family : families_) look_at(family, resources, names, change);
  return change;
}

void KindFamilies::look_at(Family& family, const client::ResourceMap& resources,
                           std::set<std::string>& running, Change& change) {
  const auto kinds = kinds_of_group(resources, family.rule.for_);
  if (!kinds) return;
  std::set<std::string> wanted;
  for (const core::Gvk& gvk : *kinds) {
    StreamRule stream = family.rule.for_;
    stream.gvk = gvk;
    Rule rule = rule_of_kind(family.rule, std::move(stream));
    wanted.insert(rule.name);
    if (family.made.count(rule.name) > 0) continue;
    // One of another rule, or of a kind that went and whose last runs have not ended.
    if (family.shard ? false : !running.insert(rule.name).second) {
      base::log_warn("a controller of this name is there already; this one waits",
                     {{"controller", rule.name}, {"kind", gvk.str()}});
      continue;
    }
    family.made.insert(rule.name);
    change.start.push_back({std::move(rule), family.shard, family.looked_at});
  }
  family.looked_at = true;
  for (auto it = family.made.begin(); it != family.made.end();) {
    if (wanted.count(*it) > 0) {
      ++it;
      continue;
    }
    change.end.push_back(*it);
    it = family.made.erase(it);
  }
}

core::Gvk KindFamilies::served_as(const Rule& rule, const client::ResourceMap& resources) const {
  const core::Gvk& own = rule.for_.gvk;
  const bool made = std::any_of(families_.begin(), families_.end(), [&](const Family& family) {
    return family.made.count(rule.name) > 0;
  });
  if (!made || resources.find(own) != nullptr) return own;
  const auto* other = resources.find_kind(own.group, own.kind);
  return other != nullptr ? other->gvk : own;
}

}  // namespace kubewatch::hooks
