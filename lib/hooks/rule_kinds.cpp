// Naming and finding the controllers of one rule.
#include "hooks/rule_kinds.hpp"

#include <fmt/format.h>

#include "base/fnv.hpp"
#include "base/strings.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kLongestRuleName = 63;
constexpr std::size_t kHashDigits = 8;

}  // namespace

std::string name_with_kind(const std::string& name, const std::string& kind, std::size_t max) {
  std::string out = name + "-" + base::to_lower(kind);
  if (out.size() <= max) return out;
  const std::string mark = fmt::format("-{:08x}", base::fnv1a32(out));
  return out.substr(0, max - kHashDigits - 1) + mark;
}

Rule rule_of_kind(const Rule& rule, StreamRule kind) {
  Rule out = rule;
  const std::string& word = kind.gvk.kind;
  out.name = name_with_kind(rule.name, word, kLongestRuleName);
  out.apply.field_manager = name_with_kind(rule.apply.field_manager, word, kLongestManager);
  const std::size_t slash = rule.finalizer_name.find('/');
  out.finalizer_name =
      rule.finalizer_name.substr(0, slash + 1) +
      name_with_kind(rule.finalizer_name.substr(slash + 1), word, kLongestRuleName);
  kind.every_kind = false;
  out.for_ = std::move(kind);
  return out;
}

std::vector<const StreamRule*> streams_of(const Rule& rule) {
  std::vector<const StreamRule*> out;
  if (rule.has_for) out.push_back(&rule.for_);
  for (const OwnsRule& owns : rule.owns) out.push_back(&owns.stream);
  for (const WatchesRule& watches : rule.watches) out.push_back(&watches.stream);
  return out;
}

std::optional<std::vector<core::Gvk>> kinds_of_group(const client::ResourceMap& resources,
                                                     const StreamRule& rule) {
  const std::string& group = rule.gvk.group;
  for (const std::string& failed : resources.failed_groups) {
    if (client::ResourceMap::is_of_group(failed, group)) return std::nullopt;
  }
  std::vector<core::Gvk> out;
  client::ResourceMap::Filter filter;
  filter.verbs = {"list", "watch"};
  filter.group = group;
  for (const core::ResourceType& type : resources.kinds(filter)) {
    const bool selects = !rule.namespaces.empty() || !rule.namespace_selector.empty();
    if (selects && !type.namespaced) continue;
    out.push_back(type.gvk);
  }
  return out;
}

}  // namespace kubewatch::hooks
