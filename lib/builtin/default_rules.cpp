#include "builtin/default_rules.hpp"

namespace kubewatch::builtin {

namespace {

template <typename AnyJson>
void visit_at(AnyJson& object, Path path, const std::function<void(AnyJson&)>& visit) {
  if (path.empty()) {
    visit(object);
    return;
  }
  if (!object.is_object()) return;
  const std::size_t dot = path.find('.');
  std::string_view step = path.substr(0, dot);
  const Path rest = dot == Path::npos ? Path() : path.substr(dot + 1);
  const bool list = step.ends_with("[]");
  if (list) step.remove_suffix(2);
  const auto found = object.find(step);
  if (found == object.end()) return;
  if (!list) {
    visit_at(*found, rest, visit);
  } else if (found->is_array()) {
    for (AnyJson& item : *found) visit_at(item, rest, visit);
  }
}

}  // namespace

void for_each_at(Json& object, Path path, const std::function<void(Json&)>& visit) {
  visit_at(object, path, visit);
}

void for_each_at(const Json& object, Path path, const std::function<void(const Json&)>& visit) {
  visit_at(object, path, visit);
}

bool is_absent(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null();
}

bool is_unset(const Json& object, std::string_view key) {
  if (is_absent(object, key)) return true;
  const Json& value = *object.find(key);
  return value == "" || value == 0 || (value.is_array() && value.empty());
}

bool has_text(const Json& object, std::string_view key, std::string_view text) {
  if (text.empty()) return is_unset(object, key);
  const auto found = object.find(key);
  return found != object.end() && *found == text;
}

DefaultRules::DefaultRules(std::initializer_list<Rule> rules) {
  for (const Rule& rule : rules) {
    const std::size_t dot = rule.path.rfind('.');
    const bool top = dot == Path::npos;
    rules_.push_back({std::string(top ? Path() : rule.path.substr(0, dot)),
                      std::string(top ? rule.path : rule.path.substr(dot + 1)),
                      Json::parse(rule.value), rule.over, std::string(rule.sibling),
                      std::string(rule.text)});
  }
}

void DefaultRules::apply(Json& object) const {
  for (const Compiled& rule : rules_) {
    for_each_at(object, rule.parent, [&rule](Json& at) {
      if (!at.is_object()) return;
      if (!rule.sibling.empty() && !has_text(at, rule.sibling, rule.text)) return;
      const bool missing = rule.over == kUnset ? is_unset(at, rule.key) : is_absent(at, rule.key);
      if (missing) at[rule.key] = rule.value;
    });
  }
}

}  // namespace kubewatch::builtin
