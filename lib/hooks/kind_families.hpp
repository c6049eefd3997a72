// Rules with {group, kinds: "*"}: which controllers they mean now, as CRDs come and go. Says what
// to start and what to end; the engine does it. Pure but for log lines. Owned by the engine.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/discovery.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

class KindFamilies {
 public:
  // `shard`: the rule was narrowed to it.
  void add(Rule rule, std::optional<std::size_t> shard);
  // The rule of that name; its controllers are the engine's to end.
  void remove(const std::string& name);
  void remove_shard(std::size_t shard);
  bool empty() const { return families_.empty(); }
  // One of them is for all kinds of this group.
  bool follows(const std::string& group) const;
  void stop() { stopped_ = true; }

  struct Start {
    Rule rule;
    std::optional<std::size_t> shard;
    bool late = false;  // the kind was not there when the rule was looked at first
  };
  struct Change {
    std::vector<Start> start;
    std::vector<std::string> end;  // names of controllers
  };
  // `running`: the names of all controllers there are.
  Change look(const client::ResourceMap& resources, const std::set<std::string>& running);
  // The kind that a controller of theirs is for; another version of it where that of the rule is
  // served no more. Of any other rule its own kind.
  core::Gvk served_as(const Rule& rule, const client::ResourceMap& resources) const;

 private:
  struct Family {
    Rule rule;
    std::optional<std::size_t> shard;
    std::set<std::string> made{};  // names
    bool looked_at = false;
  };
  void look_at(Family& family, const client::ResourceMap& resources, std::set<std::string>& running,
               Change& change);

  std::vector<Family> families_;
  bool stopped_ = false;
};

}  // namespace kubewatch::hooks
