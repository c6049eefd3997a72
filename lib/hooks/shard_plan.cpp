#include "hooks/shard_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/strings.hpp"
#include "runtime/shard_map.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::string_view kNamespace = "namespace=";
constexpr std::string_view kLabel = "label=";
constexpr std::size_t kMostWords = 200;  // of a description

Error flag_error(const std::string& message) {
  return Error(ErrorKind::invalid, "--shard-by: " + message);
}

Result<ShardPlan> by_namespace(std::string_view text, std::optional<std::size_t> shards) {
  ShardPlan plan;
  plan.by = ShardPlan::By::namespaces;
  std::set<std::string> seen;
  for (const std::string& group : base::split(text, ';')) {
    std::vector<std::string> names;
    for (const std::string& part : base::split(group, ',')) {
      std::string name(base::trim(part));
      if (auto wrong = core::check_dns_label(name); !wrong.empty()) {
        return flag_error("\"" + name + "\" is no namespace: " + wrong);
      }
      if (!seen.insert(name).second) {
        return flag_error("namespace " + name + " is in two places: it would be run twice");
      }
      names.push_back(std::move(name));
    }
    plan.namespaces.push_back(std::move(names));
  }
  plan.count = plan.namespaces.size();
  if (shards && *shards != plan.count) {
    return flag_error("it names " + std::to_string(plan.count) + " shards, --shards says " +
                      std::to_string(*shards));
  }
  return plan;
}

Result<ShardPlan> by_label(std::string_view text, std::optional<std::size_t> shards) {
  ShardPlan plan;
  plan.by = ShardPlan::By::label;
  plan.label = text;
  if (auto wrong = core::check_label_key(plan.label); !wrong.empty()) {
    return flag_error("\"" + plan.label + "\" is no label key: " + wrong);
  }
  if (!shards) return flag_error("label=KEY needs --shards N: objects carry KEY=0 to KEY=N-1");
  plan.count = *shards;
  return plan;
}

}  // namespace

Result<ShardPlan> parse_shard_plan(std::string_view shard_by, std::optional<std::size_t> shards) {
  if (shards && *shards == 0) return Error(ErrorKind::invalid, "--shards must be at least 1");
  if (shard_by.empty()) {
    ShardPlan plan;
    plan.count = shards.value_or(1);
    return plan;
  }
  if (shard_by.substr(0, kNamespace.size()) == kNamespace) {
    return by_namespace(shard_by.substr(kNamespace.size()), shards);
  }
  if (shard_by.substr(0, kLabel.size()) == kLabel) {
    return by_label(shard_by.substr(kLabel.size()), shards);
  }
  return flag_error("\"" + std::string(shard_by) + "\" is neither namespace=a,b;c nor label=KEY");
}

std::string describe(const ShardPlan& plan) {
  const std::string count = fmt::format("{}{}", plan.count, runtime::kPlanWords);
  if (plan.by == ShardPlan::By::hash) return count + "hash of names";
  if (plan.by == ShardPlan::By::label) return count + "label " + plan.label;
  std::vector<std::string> groups;
  for (const auto& names : plan.namespaces) groups.push_back(base::join(names, ","));
  const std::string text = count + "namespace " + base::join(groups, ";");
  if (text.size() <= kMostWords) return text;
  return fmt::format("{}namespace, {:016x}", count, runtime::stable_hash(text));
}

std::optional<std::size_t> shard_of(const ShardPlan& plan, const core::ObjectMeta& meta) {
  const auto label = std::find_if(meta.labels.begin(), meta.labels.end(),
                                  [&](const auto& one) { return one.first == plan.label; });
  for (std::size_t shard = 0; shard < plan.count; ++shard) {
    if (plan.by == ShardPlan::By::label) {
      if (label != meta.labels.end() && label->second == std::to_string(shard)) return shard;
      continue;
    }
    const auto& names = plan.namespaces[shard];
    if (std::find(names.begin(), names.end(), meta.namespace_) != names.end()) return shard;
  }
  return std::nullopt;
}

std::optional<Rule> rule_of_shard(const Rule& rule, const ShardPlan& plan, std::size_t shard) {
  // One run for everything is one instance's.
  if (!rule.has_for) return shard == 0 ? std::optional(rule) : std::nullopt;
  Rule out = rule;
  if (plan.by == ShardPlan::By::label) {
    out.for_.shard_selector = plan.label + "=" + std::to_string(shard);
    return out;
  }
  const auto& mine = plan.namespaces[shard];
  const auto& asked = rule.for_.namespaces;
  out.for_.namespaces.clear();
  out.for_.shard_namespaces = asked.empty();
  for (const std::string& name : mine) {
    const bool wanted = asked.empty() || std::find(asked.begin(), asked.end(), name) != asked.end();
    if (wanted) out.for_.namespaces.push_back(name);
  }
  if (out.for_.namespaces.empty()) return std::nullopt;
  return out;
}

bool is_in_no_shard(const StreamRule& narrowed, const core::ResourceType& type) {
  return !type.namespaced && narrowed.shard_namespaces && narrowed.namespace_selector.empty();
}

}  // namespace kubewatch::hooks
