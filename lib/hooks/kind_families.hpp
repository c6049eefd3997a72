// Rules with {group, kinds: "*"}: which controllers they mean now, as CRDs come and go. Says what
// to start and what to end; the engine does it. Pure but for log lines. Owned by the engine.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/discovery.hpp"
#include "hooks/rule.hpp"
#include "hooks/rule_diff.hpp"

namespace kubewatch::hooks {

inline RuleIdentity identity_of(const Rule& rule) {
  return {rule.name, rule.fingerprint, rule.apply.field_manager, rule.finalizer_name};
}

class KindFamilies {
 public:
  // `shard`: the rule was narrowed to it.
  void add(Rule rule, std::optional<std::size_t> shard);
  // The rule of that name, if there is one; its controllers are the engine's to end.
  std::optional<Rule> remove(const std::string& name);
  void remove_shard(std::size_t shard);
  bool empty() const { return families_.empty(); }
  // One of them is for all kinds of this group.
  bool follows(const std::string& group) const;
  // Rules that have a name of their own go before: the controllers that would collide with them are
  // forgotten, and the engine's to end. Their names.
  std::vector<std::string> give_way(const std::vector<RuleIdentity>& to);
  void stop() { stopped_ = true; }

  // A new discovery. A kind is believed to be gone when it was missing twice in a row: one of
  // several API servers may be behind. True: one was missing for the first time.
  bool discovered(const client::ResourceMap& resources);

  struct Start {
    Rule rule;
    std::optional<std::size_t> shard;
    bool late = false;  // the kind was not there when the rule was looked at first
  };
  struct Change {
    std::vector<Start> start;
    std::vector<std::string> end;  // names of controllers
  };
  struct Taken {
    RuleIdentity rule;
    std::optional<std::size_t> shard;
  };
  // `taken`: what all controllers have that there are, or that wait for others to end.
  Change look(const client::ResourceMap& resources, std::vector<Taken> taken);
  // Rules of which the last look could not tell what kinds they mean, nor any before it: their
  // groups did not answer. Valid until they change.
  struct Unknown {
    const Rule& rule;
    std::string why;
  };
  std::vector<Unknown> unknown() const;
  // The kind that a controller of theirs is for; another version of it where that of the rule is
  // served no more. Of any other rule its own kind.
  core::Gvk served_as(const Rule& rule, const client::ResourceMap& resources) const;

 private:
  struct Family {
    Rule rule;
    std::optional<std::size_t> shard;
    std::map<std::string, RuleIdentity> made{};  // by name
    bool looked_at = false;
    std::string why_unknown{};  // after a look: not yet
  };
  void look_at(Family& family, const client::ResourceMap& resources, std::vector<Taken>& taken,
               Change& change);

  std::vector<Family> families_;
  // Names of controllers. One rule may be there for several shards, and has the same kinds in all.
  std::set<std::string> missing_;  // their kinds, in the last discovery
  std::set<std::string> gone_;     // and in the one before; until look()
  bool stopped_ = false;
};

}  // namespace kubewatch::hooks
