// How objects are shared out among instances (--shards, --shard-by): by hash of their names, by
// namespace, or by a label that they carry. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/meta.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

struct ShardPlan {
  // hash: every instance watches everything and runs the objects of its shards. namespaces, label:
  // an instance watches only what is in its shards.
  enum class By { hash, namespaces, label } by = By::hash;
  std::size_t count = 1;
  std::vector<std::vector<std::string>> namespaces;  // of each shard
  std::string label;  // its value is the shard's number, 0 to count-1

  bool narrows() const { return by != By::hash; }
};

// `shard_by`: "", "namespace=a,b;c" (as many shards as groups; a namespace in none of them is not
// handled) or "label=KEY" (needs `shards`; an object without the label, or with another value, is
// not handled). Errors: invalid, naming the flag.
Result<ShardPlan> parse_shard_plan(std::string_view shard_by, std::optional<std::size_t> shards);

// The same for all instances that share the objects out alike, another for all others: what stands
// in the Lease that they share.
std::string describe(const ShardPlan& plan);

// The one that an object is of; absent: of none, and nobody handles it. Precondition:
// plan.narrows().
std::optional<std::size_t> shard_of(const ShardPlan& plan, const core::ObjectMeta& meta);

// The rule as one shard has it; absent when it has nothing there. What it relates to (`watches`) is
// not narrowed. Precondition: plan.narrows(). Whether its kind has namespaces is not known here:
// of one that has none no shard by namespace has anything, which is_in_no_shard() tells.
std::optional<Rule> rule_of_shard(const Rule& rule, const ShardPlan& plan, std::size_t shard);
bool is_in_no_shard(const StreamRule& narrowed, const core::ResourceType& type);

}  // namespace kubewatch::hooks
