// Following the kinds of groups.
#include "hooks/kind_families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "hooks/rule_kinds.hpp"

namespace kubewatch::hooks {
namespace {

bool collides(const Rule& rule, std::optional<std::size_t> shard,
              const std::vector<KindFamilies::Taken>& taken) {
  const RuleIdentity identity = identity_of(rule);
  return std::any_of(taken.begin(), taken.end(), [&](const KindFamilies::Taken& other) {
    return other.shard == shard && !may_start(identity, {other.rule});
  });
}

std::string why_unknown(const client::ResourceMap& resources, const std::string& group) {
  std::string out = "the server did not say what kinds the group " + group + " has";
  for (const std::string& failure : resources.failed_groups) {
    if (client::ResourceMap::is_of_group(failure, group)) {
      out += " (discovery failed: " + failure + ")";
    }
  }
  return out;
}

// It may be that its CRDs are to come, or that it is spelt otherwise.
void tell_none(const Rule& rule) {
  base::log_warn("the group " + rule.for_.gvk.group +
                     " has no kind that the rule could watch: it waits for one",
                 {{"controller", rule.name}, {"file", fmt::format("{}:{}", rule.file, rule.line)}});
}

}  // namespace

void KindFamilies::add(Rule rule, std::optional<std::size_t> shard) {
  families_.push_back({std::move(rule), shard});
}

std::optional<Rule> KindFamilies::remove(const std::string& name) {
  std::optional<Rule> removed;
  std::erase_if(families_, [&](const Family& family) {
    if (family.rule.name != name) return false;
    removed = family.rule;
    return true;
  });
  return removed;
}

void KindFamilies::remove_shard(std::size_t shard) {
  std::erase_if(families_, [&](const Family& family) { return family.shard == shard; });
}

bool KindFamilies::follows(const std::string& group) const {
  return std::any_of(families_.begin(), families_.end(),
                     [&](const Family& family) { return family.rule.for_.gvk.group == group; });
}

std::vector<std::string> KindFamilies::give_way(const std::vector<RuleIdentity>& to) {
  std::vector<std::string> names;
  for (Family& family : families_) {
    std::erase_if(family.made, [&](const auto& made) {
      if (may_start(made.second, to)) return false;
      names.push_back(made.first);
      return true;
    });
  }
  return names;
}

bool KindFamilies::discovered(const client::ResourceMap& resources) {
  const auto before = std::exchange(missing_, {});
  bool doubts = false;
  for (const Family& family : families_) {
    const auto kinds = kinds_of_group(resources, family.rule.for_);
    std::set<std::string> there;
    for (const core::Gvk& gvk : kinds.value_or(std::vector<core::Gvk>{})) {
      StreamRule stream = family.rule.for_;
      stream.gvk = gvk;
      there.insert(rule_of_kind(family.rule, std::move(stream)).name);
    }
    for (const auto& [name, identity] : family.made) {
      const bool was_missing = before.contains(name);
      if (kinds ? there.contains(name) : !was_missing) continue;
      missing_.insert(name);
      if (!kinds) continue;  // nobody knows
      if (was_missing) gone_.insert(name);
      doubts = doubts || !was_missing;
    }
  }
  return doubts;
}

KindFamilies::Change KindFamilies::look(const client::ResourceMap& resources,
                                        std::vector<Taken> taken) {
  Change change;
  if (stopped_ || families_.empty()) return change;
  for (Family& family : families_) look_at(family, resources, taken, change);
  gone_.clear();
  return change;
}

void KindFamilies::look_at(Family& family, const client::ResourceMap& resources,
                           std::vector<Taken>& taken, Change& change) {
  const auto kinds = kinds_of_group(resources, family.rule.for_);
  if (!kinds) {
    if (!family.looked_at) family.why_unknown = why_unknown(resources, family.rule.for_.gvk.group);
    return;
  }
  const bool late = family.looked_at || !std::exchange(family.why_unknown, {}).empty();
  if (kinds->empty() && !family.looked_at) tell_none(family.rule);
  for (const core::Gvk& gvk : *kinds) {
    StreamRule stream = family.rule.for_;
    stream.gvk = gvk;
    Rule rule = rule_of_kind(family.rule, std::move(stream));
    if (family.made.count(rule.name) > 0) continue;
    // Of another rule, or of a kind that went and whose last runs have not ended.
    if (collides(rule, family.shard, taken)) {
      base::log_warn(
          "a controller of this name, field manager or finalizer is there already; this one waits",
          {{"controller", rule.name}, {"kind", gvk.str()}});
      continue;
    }
    taken.push_back({identity_of(rule), family.shard});
    family.made.emplace(rule.name, taken.back().rule);
    change.start.push_back({std::move(rule), family.shard, late});
  }
  family.looked_at = true;
  std::erase_if(family.made, [&](const auto& made) {
    if (!gone_.contains(made.first)) return false;
    change.end.push_back(made.first);
    return true;
  });
}

std::vector<KindFamilies::Unknown> KindFamilies::unknown() const {
  std::vector<Unknown> out;
  for (const Family& family : families_) {
    if (!family.why_unknown.empty()) out.push_back({family.rule, family.why_unknown});
  }
  return out;
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
