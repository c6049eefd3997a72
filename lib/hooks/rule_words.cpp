// Values that follow Kubernetes' or jq's rules: selectors, names, programs, paths. Of
// rule_values.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "core/resource.hpp"
#include "hooks/rule_values.hpp"

namespace kubewatch::hooks {

namespace {

constexpr std::size_t kLongestLabelValue = 63;

// Selectors may be empty: they match everything, as everywhere in Kubernetes.
template <class Selector>
bool parse_selector(const RuleNode& node, Selector& out) {
  auto parsed = Selector::parse(node.value().get_ref<const std::string&>());
  if (!parsed.ok()) return node.problem(parsed.error().render());
  out = *std::move(parsed);
  return true;
}

}  // namespace

RuleReader program(std::optional<jq::Program>& out) {
  return [&out](const RuleNode& node) {
    if (node.value().is_object()) {
      return node.problem("must be text (a jq program), not a mapping (put it in quotes)");
    }
    std::string source;
    if (!text(source)(node)) return false;
    auto compiled = jq::Program::compile(source);
    if (!compiled.ok()) {
      return node.problem(
          fmt::format("{} is no jq program: {}", in_quotes(source), compiled.error().render()));
    }
    out = *std::move(compiled);
    return true;
  };
}

std::optional<std::vector<std::string>> path_steps(const RuleNode& node) {
  constexpr std::string_view kLike = "such as .spec or .metadata.labels[\"a/b\"]";
  if (node.value().is_string()) {
    const auto& path = node.value().get_ref<const std::string&>();
    if (!path.empty() && path.front() != '.') {
      node.problem(
          fmt::format("{} is no path {}: it must start with a dot", in_quotes(path), kLike));
      return std::nullopt;
    }
  }
  std::optional<jq::Program> compiled;
  if (!program(compiled)(node)) return std::nullopt;
  auto steps = compiled->as_path();
  if (!steps) {
    node.problem(fmt::format("{} is no path of keys alone, {}; a filter is no path",
                             in_quotes(node.value().get_ref<const std::string&>()), kLike));
  }
  return steps;
}

RuleReader label_selector(core::LabelSelector& out) {
  return [&out](const RuleNode& node) {
    if (node.value().is_string()) return parse_selector(node, out);
    if (!node.value().is_object()) {
      return wrong_type(node, "text such as \"tier in (web)\" or {matchLabels, matchExpressions}");
    }
    auto parsed = core::LabelSelector::from_json(node.value());
    if (!parsed.ok()) return node.problem(parsed.error().render());
    out = *std::move(parsed);
    return true;
  };
}

RuleReader field_selector(core::FieldSelector& out) {
  return [&out](const RuleNode& node) {
    if (!node.value().is_string()) return wrong_type(node, "text");
    return parse_selector(node, out);
  };
}

RuleReader namespaces(std::vector<std::string>& out, std::string empty_hint) {
  const RuleReader item = [&out](const RuleNode& node) {
    std::string name;
    if (!text(name)(node)) return false;
    const std::string wrong = core::check_dns_label(name);
    if (!wrong.empty())
      return node.problem(fmt::format("{} is not a namespace: {}", in_quotes(name), wrong));
    if (std::find(out.begin(), out.end(), name) != out.end()) {
      return node.problem(fmt::format("{} is listed twice", in_quotes(name)));
    }
    out.push_back(std::move(name));
    return true;
  };
  return list_of(item, std::move(empty_hint));
}

RuleReader object_name(std::string& out) {
  return [&out](const RuleNode& node) {
    std::string name;
    if (!text(name)(node)) return false;
    std::string wrong = core::check_dns_subdomain(name);
    if (wrong.empty() && name.size() > kLongestLabelValue) {
      wrong = "must be no more than 63 characters: it becomes a label value";
    }
    if (!wrong.empty())
      return node.problem(fmt::format("{} is not a name: {}", in_quotes(name), wrong));
    out = std::move(name);
    return true;
  };
}

}  // namespace kubewatch::hooks
