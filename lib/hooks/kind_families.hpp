// Rules with {group, kinds: "*"}: which controllers they mean now, as CRDs come and go. Says what
// to start and what to end; the engine does it. Asks for another discovery when a CRD of such a
// group changes, and once a minute. Owned by the engine.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/discovery.hpp"
#include "hooks/rule.hpp"
#include "hooks/streams.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::hooks {

class KindFamilies {
 public:
  // `ask`: make a new discovery; its answer comes by look().
  KindFamilies(loop::EventLoop& loop, StreamPool& pool, std::function<void()> ask);

  // `shard`: the rule was narrowed to it.
  void add(Rule rule, std::optional<std::size_t> shard);
  // The rule of that name; its controllers are the engine's to end.
  void remove(const std::string& name);
  void remove_shard(std::size_t shard);
  bool empty() const { return families_.empty(); }
  void stop();

  struct Start {
    Rule rule;
    std::optional<std::size_t> shard;
  };
  struct Change {
    std::vector<Start> start;
    std::vector<std::string> end;  // names of controllers
  };
  // `running`: the names of all controllers there are.
  Change look(const client::ResourceMap& resources, const std::set<std::string>& running);

 private:
  struct Family {
    Rule rule;
    std::optional<std::size_t> shard;
    std::set<std::string> made;  // names
  };
  void look_at(Family& family, const client::ResourceMap& resources, std::set<std::string>& running,
               Change& change);
  void watch_definitions(const client::ResourceMap& resources);
  void on_definition(const std::string& name);
  void ask_after(std::vector<Duration> delays);
  void ask_regularly();

  loop::EventLoop& loop_;
  StreamPool& pool_;
  std::function<void()> ask_;
  std::vector<Family> families_;
  std::optional<StreamGroup> definitions_;
  loop::Timer soon_;
  loop::Timer regular_;
  bool stopped_ = false;
};

}  // namespace kubewatch::hooks
