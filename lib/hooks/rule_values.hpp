// Readers of single values of a rule file: text, numbers, durations, sizes, choices, selectors, jq.
// Each checks the type and the range, reports at the value and fills in what it was made for.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "core/selector.hpp"
#include "hooks/rule_node.hpp"
#include "jq/jq.hpp"

namespace kubewatch::hooks {

// Longer is a mistake, and would overflow what deadlines are computed with.
constexpr Duration kLongestDuration = std::chrono::hours(8760);
// The kernel refuses a longer argument or environment string (MAX_ARG_STRLEN).
constexpr std::size_t kLongestArgument = 131'071;

// Reports "must be WANTED, not a list"; false.
bool wrong_type(const RuleNode& node, std::string_view wanted);

// Text without NUL, not empty, at most kLongestArgument bytes.
RuleReader text(std::string& out);
RuleReader flag(bool& out);
RuleReader whole_number(std::int64_t& out, std::int64_t min, std::int64_t max);
RuleReader number(double& out, double min, double max);
// "30s", "1h30m"; a bare 0 where min allows it.
RuleReader duration(Duration& out, Duration min = Duration{0}, Duration max = kLongestDuration);
// "256Mi", "4M", 65536: bytes.
RuleReader size(std::size_t& out, std::size_t min, std::size_t max);

template <class Int>
RuleReader whole(Int& out, std::int64_t min, std::int64_t max) {
  return [&out, min, max](const RuleNode& node) {
    std::int64_t value = 0;
    if (!whole_number(value, min, max)(node)) return false;
    out = static_cast<Int>(value);
    return true;
  };
}

// One of some words; the index of the word.
std::optional<std::size_t> one_of(const RuleNode& node, const std::vector<std::string>& words);

template <class Enum>
RuleReader choice(Enum& out, std::vector<std::pair<std::string, Enum>> options) {
  return [&out, options = std::move(options)](const RuleNode& node) {
    std::vector<std::string> words;
    for (const auto& option : options) words.push_back(option.first);
    const auto index = one_of(node, words);
    if (index) out = options[*index].second;
    return index.has_value();
  };
}

// A list whose items all go to `item`; empty lists are refused with `empty_hint` unless it is "".
RuleReader list_of(RuleReader item, std::string empty_hint = "");

RuleReader program(std::optional<jq::Program>& out);
// The keys of a path such as .spec or .metadata.labels["a/b"]; absent: a problem was reported.
std::optional<std::vector<std::string>> path_steps(const RuleNode& node);
RuleReader label_selector(core::LabelSelector& out);
RuleReader field_selector(core::FieldSelector& out);
// A list of namespace names, each once.
RuleReader namespaces(std::vector<std::string>& out, std::string empty_hint);
// A name that is also a label value: DNS-1123 subdomain of at most 63 characters.
RuleReader object_name(std::string& out);

}  // namespace kubewatch::hooks
