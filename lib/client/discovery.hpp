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

  // Groups whose discovery failed ("metrics.k8s.io/v1beta1: 503 ..."): their kinds may exist.
  std::vector<std::string> failed_groups;

 private:
  std::vector<core::ResourceType> all_;
};

// Errors: those of the first request (unreachable, unauthorized, forbidden).
[[nodiscard]] PendingPtr discover(
    Client& client, std::function<void(Result<std::shared_ptr<const ResourceMap>>)> done);

}  // namespace kubewatch::client
