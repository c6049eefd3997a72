#include "apiserver/printer_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.hpp"

namespace kubewatch::apiserver::parts {

using base::find;
using base::string_at;

std::int64_t number(const Json& o, Path path, std::int64_t fallback) {
  return base::int_at(o, path).value_or(fallback);
}

bool flag(const Json& o, Path path, bool fallback) {
  const Json* found = find(o, path);
  return found != nullptr && found->is_boolean() ? found->get<bool>() : fallback;
}

std::string text(const Json& o, Path path, const char* fallback) {
  std::string found = string_at(o, path);
  return found.empty() ? fallback : found;
}

std::string shown(const Json& o, Path path, const char* fallback) {
  const Json* value = find(o, path);
  if (value == nullptr || value->is_null()) return fallback;
  return value->is_string() ? value->get<std::string>() : base::dump_json(*value);
}

std::size_t count(const Json& o, Path path) {
  const Json* found = find(o, path);
  return found != nullptr && found->is_structured() ? found->size() : 0;
}

bool exists(const Json& o, Path path) {
  const Json* found = find(o, path);
  return found != nullptr && !found->is_null();
}

void each(const Json& o, Path path, const std::function<void(const Json& item)>& visit) {
  const Json* items = find(o, path);
  if (items == nullptr || !items->is_array()) return;
  for (const auto& item : *items) visit(item);
}

std::vector<std::string> texts(const Json& o, Path path, Path field) {
  std::vector<std::string> out;
  each(o, path, [&](const Json& item) { out.push_back(string_at(item, field)); });
  return out;
}

const Json* condition(const Json& o, std::string_view type) {
  const Json* found = nullptr;
  each(o, {"status", "conditions"}, [&](const Json& one) {
    if (found == nullptr && string_at(one, {"type"}) == type) found = &one;
  });
  return found;
}

bool condition_true(const Json& o, std::string_view type) {
  const Json* found = condition(o, type);
  return found != nullptr && string_at(*found, {"status"}) == "True";
}

std::string pairs(const Json* map) {
  if (map == nullptr || !map->is_object() || map->empty()) return "<none>";
  std::vector<std::string> out;
  for (const auto& [key, value] : map->items()) {
    out.push_back(key + "=" +
                  (value.is_string() ? value.get<std::string>() : base::dump_json(value)));
  }
  return base::join(out, ",");
}

std::string selector(const Json* selector, const char* empty) {
  if (selector == nullptr) return empty;
  std::vector<std::pair<std::string, std::string>> out;  // by key
  if (const Json* labels = find(*selector, {"matchLabels"}); labels && labels->is_object()) {
    for (const auto& [key, value] : labels->items()) {
      out.emplace_back(key, key + "=" + (value.is_string() ? value.get<std::string>() : ""));
    }
  }
  bool valid = true;
  each(*selector, {"matchExpressions"}, [&](const Json& one) {
    const std::string key = string_at(one, {"key"});
    const std::string op = string_at(one, {"operator"});
    auto values = texts(one, {"values"}, {});
    std::sort(values.begin(), values.end());
    const std::string set = "(" + base::join(values, ",") + ")";
    if (op == "In") {
      out.emplace_back(key, key + " in " + set);
    } else if (op == "NotIn") {
      out.emplace_back(key, key + " notin " + set);
    } else if (op == "Exists") {
      out.emplace_back(key, key);
    } else if (op == "DoesNotExist") {
      out.emplace_back(key, "!" + key);
    } else {
      valid = false;
    }
  });
  if (!valid) return "<error>";
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> parts;
  for (const auto& one : out) parts.push_back(one.second);
  return parts.empty() ? empty : base::join(parts, ",");
}

std::string few_of(const std::vector<std::string>& few, std::size_t all,
                   std::string_view separator) {
  const std::string text = base::join(few, separator);
  return all > few.size() ? fmt::format("{} + {} more...", text, all - few.size()) : text;
}

std::string first_few(std::vector<std::string> all, std::size_t most, std::string_view separator) {
  const std::size_t count = all.size();
  all.resize(std::min(count, most));
  return few_of(all, count, separator);
}

std::vector<std::string> sorted_set(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

std::string load_balancer(const Json& o) {
  std::vector<std::string> out;
  each(o, {"status", "loadBalancer", "ingress"}, [&](const Json& one) {
    std::string at = text(one, {"ip"});
    if (at.empty()) at = text(one, {"hostname"});
    if (!at.empty()) out.push_back(std::move(at));
  });
  return base::join(sorted_set(std::move(out)), ",");
}

std::string default_name(const Json& o, std::string_view annotation) {
  const std::string name = string_at(o, {"metadata", "name"});
  return string_at(o, {"metadata", "annotations", annotation}) == "true" ? name + " (default)"
                                                                         : name;
}

Json since(const Json& o, Path path, WallTime now) {
  return age_of(string_at(o, path), now);
}

const BuiltinColumn kName = {"Name", "string", 0, KW_CELL(string_at(o, {"metadata", "name"}))};
const BuiltinColumn kAge = {"Age", "string", 0,
                            KW_CELL(since(o, {"metadata", "creationTimestamp"}, now))};

}  // namespace kubewatch::apiserver::parts
