// One document of a rule file to one Rule; inside lib/hooks only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "hooks/rule.hpp"
#include "hooks/rule_node.hpp"

namespace kubewatch::hooks {

// A rule and where the names stand that must differ from other rules'.
struct ReadRule {
  Rule rule;
  std::vector<StreamRule> kinds;  // where `for` is a list; rule.for_ is none of them
  base::Remark name_at;
  base::Remark manager_at;
  base::Remark finalizer_at;
};

// True for documents that are no business of ours: in a folder, manifests may lie beside the rules.
bool is_foreign(const Json& document);

// The controllers of a document: one for each kind where `for` is a list, else one.
std::vector<ReadRule> one_per_kind(ReadRule read);

// `folder` is absolute. Always gives a rule for a Controller document that could be read at all,
// with as much as could be understood, so that checks across rules see it too.
std::optional<ReadRule> read_document(const RuleNode& node, const std::string& folder);

}  // namespace kubewatch::hooks
