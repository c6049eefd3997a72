#include "hooks/rule_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json.hpp"
#include "base/json_pointer.hpp"

namespace kubewatch::hooks {

namespace {

// Other rooms' messages may quote all of a selector or program.
constexpr std::size_t kMessageCharacters = 1000;

// YAML 1.1 reads a bare `on` as true, and sigs.k8s.io/yaml keeps that for keys: the table says
// `on`, the document holds "true".
std::string_view key_in_file(const RuleNode& node, std::string_view name) {
  return name == "on" && !node.has("on") && node.has("true") ? "true" : name;
}

}  // namespace

Diagnostic RuleNode::diagnostic(std::string message) const {
  const base::YamlMark at = mark();
  return {source_->file, at.line, at.column, std::move(message)};
}

bool RuleNode::has(std::string_view key) const {
  return value_->is_object() && value_->contains(std::string(key));
}

RuleNode RuleNode::child(const std::string& key, std::string_view shown) const {
  RuleNode out = *this;
  out.value_ = &value_->at(key);
  const std::string name = base::shortened(shown.empty() ? key : shown);
  out.path_ = path_.empty() ? name : path_ + "." + name;
  out.pointer_ = pointer_ + "/" + base::escape_pointer(key);
  return out;
}

RuleNode RuleNode::item(std::size_t index) const {
  RuleNode out = *this;
  out.value_ = &value_->at(index);
  out.path_ = fmt::format("{}[{}]", path_, index);
  out.pointer_ = fmt::format("{}/{}", pointer_, index);
  return out;
}

bool RuleNode::add(base::YamlMark mark, std::string_view message) const {
  std::string line = base::shortened(message, kMessageCharacters);
  if (!path_.empty()) line = fmt::format("{}: {}", path_, line);
  source_->problems.push_back({source_->file, mark.line, mark.column, std::move(line)});
  return false;
}

bool RuleNode::problem(std::string_view message) const {
  return add(mark(), message);
}

bool RuleNode::problem_at_key(std::string_view message) const {
  return add(source_->marks.key_at(pointer_), message);
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
