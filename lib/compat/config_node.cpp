// Reading fields.
#include "compat/config_node.hpp"

#include <fmt/format.h>

#include "base/json_pointer.hpp"
#include "base/strings.hpp"

namespace kubewatch::compat {
namespace {

const Json kNull;
// Whoever has as many unknown fields has made a mistake that the first of them tell.
constexpr std::size_t kMostNoted = 20;

}  // namespace

std::string ConfigNode::path_of(const std::string& key) const {
  if (key.empty()) return path_.empty() ? "the configuration" : path_;
  return path_.empty() ? key : path_ + "." + key;
}

void ConfigNode::fail(const std::string& key, const std::string& what, ErrorKind kind) {
  if (failed()) return;
  const base::YamlMark mark =
      marks_.value_at(key.empty() ? pointer_ : pointer_ + "/" + base::escape_pointer(key));
  problem_.error =
      Error(kind, fmt::format("{}:{}: {}: {}", mark.line, mark.column, path_of(key), what));
}

bool ConfigNode::has(const std::string& key) const {
  const auto it = value_.find(key);
  return it != value_.end() && !it->is_null();
}

const Json* ConfigNode::take(const std::string& key) {
  seen_.insert(key);
  if (failed() || !has(key)) return nullptr;
  return &*value_.find(key);
}

const Json& ConfigNode::raw(const std::string& key) {
  const Json* value = take(key);
  return value == nullptr ? kNull : *value;
}

void ConfigNode::text(const std::string& key, std::string& into, bool may_be_empty) {
  const Json* value = take(key);
  if (value == nullptr) return;
  if (!value->is_string()) return fail(key, "must be a string");
  if (!may_be_empty && value->get_ref<const std::string&>().empty()) {
    return fail(key, "must not be empty");
  }
  into = value->get<std::string>();
}

void ConfigNode::flag(const std::string& key, bool& into) {
  const Json* value = take(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) return fail(key, "must be true or false");
  into = value->get<bool>();
}

void ConfigNode::number(const std::string& key, std::optional<double>& into) {
  const Json* value = take(key);
  if (value == nullptr) return;
  if (!value->is_number()) return fail(key, "must be a number");
  into = value->get<double>();
}

void ConfigNode::texts(const std::string& key, std::vector<std::string>& into) {
  const Json* value = take(key);
  if (value == nullptr) return;
  into.clear();
  if (value->is_string()) {
    into.push_back(value->get<std::string>());
    return;
  }
  if (!value->is_array()) return fail(key, "must be a list of strings");
  for (const Json& entry : *value) {
    if (!entry.is_string()) return fail(key, "must be a list of strings");
    into.push_back(entry.get<std::string>());
  }
}

void ConfigNode::object(const std::string& key, const std::function<void(ConfigNode&)>& read) {
  const Json* value = take(key);
  if (value == nullptr) return;
  if (!value->is_object()) return fail(key, "must be a mapping");
  ConfigNode node(*value, marks_, problem_, path_of(key),
                  pointer_ + "/" + base::escape_pointer(key));
  read(node);
  node.finish();
}

void ConfigNode::list(const std::string& key, const std::function<void(ConfigNode&)>& read) {
  const Json* value = take(key);
  if (value == nullptr) return;
  if (!value->is_array()) return fail(key, "must be a list");
  for (std::size_t i = 0; i < value->size() && !failed(); ++i) {
    ConfigNode node((*value)[i], marks_, problem_, fmt::format("{}[{}]", path_of(key), i),
                    fmt::format("{}/{}/{}", pointer_, base::escape_pointer(key), i));
    if (!(*value)[i].is_object()) return node.fail("", "must be a mapping");
    read(node);
    node.finish();
  }
}

std::string ConfigNode::why_unknown(const std::string& key) const {
  const auto close = base::suggest(key, {seen_.begin(), seen_.end()});
  return close.empty() ? "unknown field" : "unknown field, did you mean " + close.front() + "?";
}

void ConfigNode::finish() {
  if (failed()) return;
  for (const auto& [key, value] : value_.items()) {
    if (seen_.count(key) == 0) return fail(key, why_unknown(key));
  }
}

void ConfigNode::note_unknown(std::set<std::string>& into) const {
  for (const auto& [key, value] : value_.items()) {
    if (into.size() >= kMostNoted) return;
    if (seen_.count(key) == 0) into.insert(key + ": " + why_unknown(key));
  }
}

}  // namespace kubewatch::compat
