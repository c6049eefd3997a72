#include "core/field_text.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/ascii.hpp"
#include "base/json.hpp"

namespace kubewatch::core {

namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostReadings = 32;

// The place behind a bracket that opens at 0; quotes may hold brackets.
std::size_t end_of_bracket(std::string_view path) {
  bool quoted = false;
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (quoted && path[i] == '\\') {
      ++i;
    } else if (path[i] == '"') {
      quoted = !quoted;
    } else if (path[i] == ']' && !quoted) {
      return i + 1;
    }
  }
  return 0;
}

// `name="web",port=80` as an object. Values are JSON.
std::optional<Json> keys_of(std::string_view text) {
  Json out = Json::object();
  while (!text.empty()) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string name(text.substr(0, equals));
    text.remove_prefix(equals + 1);
    bool quoted = false;
    std::size_t end = 0;
    for (; end < text.size() && (quoted || text[end] != ','); ++end) {
      if (text[end] == '\\')
        ++end;
      else if (text[end] == '"')
        quoted = !quoted;
    }
    auto value = base::parse_json(text.substr(0, end));
    if (!value.ok()) return std::nullopt;
    out[name] = std::move(*value);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

const Json* in_list(const Json& list, std::string_view step) {
  if (!list.is_array() || step.empty()) return nullptr;
  const bool number = std::all_of(step.begin(), step.end(), base::is_digit);
  if (number) {
    const auto index = base::parse_json(step);
    if (!index.ok() || !index->is_number_unsigned() || index->get<std::size_t>() >= list.size())
      return nullptr;
    return &list[index->get<std::size_t>()];
  }
  const auto keys = step.front() == '=' ? std::nullopt : keys_of(step);
  const auto wanted = step.front() == '=' ? base::parse_json(step.substr(1)) : Result<Json>(Json());
  for (const auto& item : list) {
    if (keys && item.is_object()) {
      const bool same =
          std::all_of(keys->items().begin(), keys->items().end(), [&](const auto& key) {
            const auto found = item.find(key.key());
            return found != item.end() && *found == key.value();
          });
      if (same) return &item;
    }
    if (!keys && wanted.ok() && item == *wanted) return &item;
  }
  return nullptr;
}

// Visits no value of the object twice.
void read_on(const Json& value, std::string_view field, FieldReading& so_far,
             std::vector<FieldReading>& out) {
  if (out.size() >= kMostReadings || so_far.steps.size() > kDeepest) return;
  if (field.empty()) {
    out.push_back({so_far.steps, {}, &value});
    return;
  }
  const auto step = [&](const Json& inner, std::size_t length) {
    so_far.steps.push_back(field.substr(0, length));
    read_on(inner, field.substr(length), so_far, out);
    so_far.steps.pop_back();
  };
  if (field.front() == '[') {
    const std::size_t end = end_of_bracket(field);
    const Json* item = end < 2 ? nullptr : in_list(value, field.substr(1, end - 2));
    if (item != nullptr) return step(*item, end);
    out.push_back({so_far.steps, field, nullptr});
    return;
  }
  if (field.front() != '.' || !value.is_object()) return;
  for (const auto& [key, inner] : value.items()) {
    if (!field.substr(1).starts_with(key)) continue;
    const std::string_view rest = field.substr(1 + key.size());
    if (rest.empty() || rest.front() == '.' || rest.front() == '[') step(inner, 1 + key.size());
  }
}

}  // namespace

std::vector<FieldReading> readings_of(const Json& object, std::string_view field) {
  std::vector<FieldReading> out;
  FieldReading so_far;
  read_on(object, field, so_far, out);
  return out;
}

const Json* value_at_field(const Json& object, std::string_view field) {
  for (const FieldReading& reading : readings_of(object, field)) {
    if (reading.value != nullptr) return reading.value;
  }
  return nullptr;
}

}  // namespace kubewatch::core
