// KIND as people write it on a command line: which kinds and which rules it names. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/resource.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::hooks {

// Kind, plural, singular or short name, each with .GROUP or .VERSION.GROUP.
bool names_kind(std::string_view word, const core::ResourceType& type);
// Of a kind that the server has not told of: the plural is guessed.
bool names_kind(std::string_view word, const core::Gvk& gvk);

// For a word that names the kind of none of these rules: not_found, with what they are for, and
// whose child the kind is.
Error no_rule_for_kind(const std::string& word, const std::vector<const Rule*>& rules);

}  // namespace kubewatch::hooks
