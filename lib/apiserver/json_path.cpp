#include "apiserver/json_path.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

namespace kubewatch::apiserver {

namespace {

struct Step {
  enum class Kind { field, index, all, filter } kind = Kind::field;
  std::string field;  // field; filter: dotted path below the item
  std::ptrdiff_t index = 0;
  Json value;  // filter: what it must equal; null = must exist
};

std::string_view strip(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// `@.type=="Ready"` or `@.type`.
std::optional<Step> parse_filter(std::string_view text) {
  text = strip(text);
  if (text.substr(0, 2) != "@.") return std::nullopt;
  text.remove_prefix(2);
  Step step;
  step.kind = Step::Kind::filter;
  const auto equals = text.find("==");
  step.field = std::string(strip(text.substr(0, equals)));
  if (equals == std::string_view::npos) return step;
  std::string wanted(strip(text.substr(equals + 2)));
  if (wanted.size() >= 2 && wanted.front() == '\'' && wanted.back() == '\'') {
    step.value = wanted.substr(1, wanted.size() - 2);
    return step;
  }
  auto parsed = base::parse_json(wanted);
  if (!parsed) return std::nullopt;
  step.value = std::move(parsed).value();
  return step;
}

std::optional<Step> parse_bracket(std::string_view inside) {
  inside = strip(inside);
  Step step;
  if (inside == "*") {
    step.kind = Step::Kind::all;
    return step;
  }
  if (inside.size() >= 2 && (inside.front() == '\'' || inside.front() == '"')) {
    step.field = std::string(inside.substr(1, inside.size() - 2));
    return step;
  }
  if (inside.size() > 3 && inside.substr(0, 2) == "?(" && inside.back() == ')') {
    return parse_filter(inside.substr(2, inside.size() - 3));
  }
  step.kind = Step::Kind::index;
  const auto end = std::from_chars(inside.data(), inside.data() + inside.size(), step.index);
  if (end.ec != std::errc() || end.ptr != inside.data() + inside.size()) return std::nullopt;
  return step;
}

// The end of a bracket that may hold quoted strings with ']'.
std::size_t bracket_end(std::string_view path, std::size_t from) {
  char quote = 0;
  for (std::size_t i = from; i < path.size(); ++i) {
    if (quote != 0) {
      if (path[i] == quote) quote = 0;
    } else if (path[i] == '\'' || path[i] == '"') {
      quote = path[i];
    } else if (path[i] == ']') {
      return i;
    }
  }
  return std::string_view::npos;
}

std::optional<std::vector<Step>> parse(std::string_view path) {
  path = strip(path);
  if (path.size() >= 2 && path.front() == '{' && path.back() == '}') {
    path = path.substr(1, path.size() - 2);
  }
  if (!path.empty() && path.front() == '$') path.remove_prefix(1);
  std::vector<Step> steps;
  std::size_t at = 0;
  while (at < path.size()) {
    if (path[at] == '[') {
      const std::size_t end = bracket_end(path, at + 1);
      if (end == std::string_view::npos) return std::nullopt;
      auto step = parse_bracket(path.substr(at + 1, end - at - 1));
      if (!step) return std::nullopt;
      steps.push_back(std::move(*step));
      at = end + 1;
      continue;
    }
    if (path[at] == '.') ++at;
    Step step;
    while (at < path.size() && path[at] != '.' && path[at] != '[') {
      if (path[at] == '\\' && at + 1 < path.size()) ++at;
      step.field += path[at++];
    }
    if (step.field.empty()) return std::nullopt;
    if (step.field == "*") step.kind = Step::Kind::all;
    steps.push_back(std::move(step));
  }
  return steps;
}

const Json* dotted(const Json& value, const std::string& path) {
  const auto found = json_path_find(value, "." + path);
  return found.empty() ? nullptr : found[0];
}

void follow(const Json& value, const Step& step, std::vector<const Json*>& out) {
  if (step.kind == Step::Kind::field) {
    if (!value.is_object()) return;
    if (const auto it = value.find(step.field); it != value.end()) out.push_back(&*it);
    return;
  }
  if (step.kind == Step::Kind::all) {
    if (value.is_array() || value.is_object()) {
      for (const auto& item : value) out.push_back(&item);
    }
    return;
  }
  if (!value.is_array()) return;
  if (step.kind == Step::Kind::index) {
    const auto size = static_cast<std::ptrdiff_t>(value.size());
    const std::ptrdiff_t index = step.index < 0 ? size + step.index : step.index;
    if (index >= 0 && index < size) out.push_back(&value[static_cast<std::size_t>(index)]);
    return;
  }
  for (const auto& item : value) {
    const Json* found = dotted(item, step.field);
    if (found != nullptr && (step.value.is_null() || *found == step.value)) out.push_back(&item);
  }
}

}  // namespace

std::vector<const Json*> json_path_find(const Json& value, std::string_view path) {
  const auto steps = parse(path);
  if (!steps) return {};
  std::vector<const Json*> found = {&value};
  for (const auto& step : *steps) {
    std::vector<const Json*> next;
    for (const Json* one : found) follow(*one, step, next);
    found = std::move(next);
  }
  return found;
}

bool json_path_set(Json& value, std::string_view path, Json what) {
  const auto steps = parse(path);
  if (!steps || steps->empty()) return false;
  Json* at = &value;
  for (const auto& step : *steps) {
    if (step.kind != Step::Kind::field) return false;
    if (at->is_null()) *at = Json::object();
    if (!at->is_object()) return false;
    at = &(*at)[step.field];
  }
  *at = std::move(what);
  return true;
}

}  // namespace kubewatch::apiserver
