#include "hooks/rule_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json.hpp"

namespace kubewatch::hooks {

namespace {

// YAML 1.1 reads a bare `on` as true, and sigs.k8s.io/yaml keeps that for keys: the table says
// `on`, the document holds "true".
std::string_view key_in_file(const RuleNode& node, std::string_view name) {
  return name == "on" && !node.has("on") && node.has("true") ? "true" : name;
}

}  // namespace

RuleNode RuleNode::child(const std::string& key, std::string_view shown) const {
  RuleNode out = *this;
  out.enter(key, shown);
  return out;
}

RuleNode RuleNode::item(std::size_t index) const {
  RuleNode out = *this;
  out.enter(index);
  return out;
}

bool RuleNode::problem(std::string_view message) const {
  source_->problems.push_back(remark(source_->file, mark(), message));
  return false;
}

bool RuleNode::problem_at_key(std::string_view message) const {
  source_->problems.push_back(remark(source_->file, source_->marks.key_at(pointer()), message));
  return false;
}

bool read_keys(const RuleNode& node, const std::vector<RuleKey>& keys) {
  if (node.probe() != nullptr) node.probe()->on_keys(node.path(), keys);
  if (!node.value().is_object()) {
    return node.problem(fmt::format("must be a mapping, not {}", type_name(node.value())));
  }
  bool ok = true;
  std::set<std::string, std::less<>> known;
  for (const RuleKey& key : keys) {
    const std::string name(key_in_file(node, key.name));
    known.insert(name);
    if (node.has(name)) {
      ok = key.read(node.child(name, key.name)) && ok;
    } else if (key.required) {
      ok = node.problem(fmt::format("key \"{}\" is missing", key.name)) && ok;
    }
  }
  for (const auto& [name, value] : node.value().items()) {
    if (known.contains(name)) continue;
    std::vector<std::string> names;
    for (const RuleKey& key : keys) names.emplace_back(key.name);
    ok = node.child(name).problem_at_key("unknown key" + did_you_mean(name, names)) && ok;
  }
  return ok;
}

}  // namespace kubewatch::hooks
