// What a step of a test case expects, checked where it stands. What can never happen would be met
// for ever where it says `times: 0`: members and words are those that there are.
#pragma once

#include "hooks/rule_node.hpp"

namespace kubewatch::rehearsal {

// All of these report at the node; false: something was wrong.

bool is_list(const hooks::RuleNode& node);
bool is_mapping(const hooks::RuleNode& node);
// A mapping with a kind and a name, or metadata.name; the rest may be anything.
bool is_reference(const hooks::RuleNode& node);
// The same as no more than a name: {apiVersion, kind, namespace, name}, or a manifest, of which
// nothing else counts.
bool is_name_of_object(const hooks::RuleNode& node);

// The value of `expect`.
bool check_expect(const hooks::RuleNode& node);

}  // namespace kubewatch::rehearsal
