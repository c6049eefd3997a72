// What kinds the server has: aggregated discovery (v2) in two requests, the old endpoints when the
// server lacks it. A snapshot in memory; refresh() makes a new one. Groups that fail are kept apart
// by name.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "client/client.hpp"
#include "core/resource.hpp"

namespace kubewatch::client {

class ResourceMap {
 public:
  // In the server's order of preference: core first, then groups, versions best first.
  void add(core::ResourceType type);
  const std::vector<core::ResourceType>& all() const { return all_; }

  const core::ResourceType* find(const core::Gvk& gvk) const;
  // The best version of a group's kind.
  const core::ResourceType* find_kind(const std::string& group, const std::string& kind) const;
  // A kubectl resource argument: plural, singular, short name or kind (any case), plain or with
  // .GROUP or .VERSION.GROUP; a category gives several. Empty when nothing matches.
  std::vector<core::ResourceType> resolve(std::string_view argument) const;

  // In the server's order; "" is the core group.
  std::vector<std::string> groups() const;
  // Those that answered, the preferred one first; empty when there is no such group.
  std::vector<std::string> versions(const std::string& group) const;
  // Exactly this version, however the server prefers another. Errors: not_found, naming the
  // versions that there are; unavailable when the group did not answer.
  Result<core::ResourceType> pinned(const core::Gvk& gvk) const;
  // The kinds of the group's preferred version.
  std::vector<core::ResourceType> recommended(const std::string& group) const;
  struct Filter {
    std::vector<std::string> verbs;  // all of them
    std::optional<bool> namespaced;
    std::optional<std::string> group;
  };
  // Every kind once, each in the best version that has it.
  std::vector<core::ResourceType> kinds(const Filter& filter) const;

  // A version of its group failed to answer, so that nobody knows whether there is such a kind.
  bool did_not_answer(const core::Gvk& gvk) const;
  // The same of a word that names its group, "widgets.example.com" or "widgets.v1.example.com".
  bool group_did_not_answer(std::string_view word) const;

  // Groups whose discovery failed ("metrics.k8s.io/v1beta1: 503 ...", of the core group "v1: 503
  // ..."): their kinds may exist.
  std::vector<std::string> failed_groups;
  // Whether one of these is of that group.
  static bool is_of_group(std::string_view failure, std::string_view group);

 private:
  std::vector<core::ResourceType> all_;
};

// Errors: those of the first two requests (unreachable, unauthorized, forbidden); unavailable,
// where what is answered is no discovery, or names no version at all.
[[nodiscard]] PendingPtr discover(
    Client& client, std::function<void(Result<std::shared_ptr<const ResourceMap>>)> done);

// The last discovery, and how old it may get. Callers that ask while a request is on its way share
// it.
class DiscoveryCache {
 public:
  using Map = std::shared_ptr<const ResourceMap>;
  using Done = std::function<void(Result<Map>)>;
  // `client` must outlive it.
  explicit DiscoveryCache(Client& client, Duration max_age = Duration{600000})
      : client_(client), max_age_(max_age) {}

  // The last one, unless it is older than allowed. `done` is called from the loop; a cache that is
  // destroyed tells nobody.
  void get(Done done);
  // A new one in any case, as when a kind is missing that should be there.
  void refresh(Done done);
  // Null before the first; kept when a later one fails.
  const Map& latest() const { return latest_; }
  // Of latest(). Precondition: there is one.
  Duration age() const { return client_.loop().now() - taken_at_; }

 private:
  void take(Result<Map> answer);

  Client& client_;
  const Duration max_age_;
  Map latest_;
  TimePoint taken_at_{};
  std::vector<Done> waiting_;
  PendingPtr request_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace kubewatch::client
