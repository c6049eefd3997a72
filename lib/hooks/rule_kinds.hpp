// Rules for many kinds: one controller for each, which shares hook, limits and env with the others
// and has its own name, field manager, finalizer, queue and caches. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/discovery.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

// "website" and Deployment: "website-deployment". Never changes for the same two texts: labels of
// children and finalizers are made of it. Longer than `max` it is cut and told apart by a hash.
std::string name_with_kind(const std::string& name, const std::string& kind, std::size_t max);

// `rule` narrowed to `kind`, its names with the kind's added.
Rule rule_of_kind(const Rule& rule, StreamRule kind);

// What the rule watches: for, owns and watches. They live as long as the rule.
std::vector<const StreamRule*> streams_of(const Rule& rule);

// What {group, kinds: "*"} means now: each kind of the group that can be watched, in the server's
// preferred version; without cluster-scoped ones where the rule names namespaces. Absent: the group
// did not answer, and what was known stays.
std::optional<std::vector<core::Gvk>> kinds_of_group(const client::ResourceMap& resources,
                                                     const StreamRule& rule);

}  // namespace kubewatch::hooks
