#include "base/json.hpp"

#include <fmt/format.h>

namespace kubewatch::base {

namespace {

// Depth is checked on the text, before the parser sees it: cheap, and no recursion to overflow.
std::optional<std::size_t> offset_too_deep(std::string_view text, std::size_t max_depth) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > max_depth) return i;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return std::nullopt;
}

template <class J>
J* find_in(J& value, std::initializer_list<std::string_view> path) {
  J* at = &value;
  for (const auto key : path) {
    if (!at->is_object()) return nullptr;
    const auto it = at->find(key);
    if (it == at->end()) return nullptr;
    at = &*it;
  }
  return at;
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return Error(ErrorKind::too_large, fmt::format("JSON of {} bytes, more than the limit of {}",
                                                   text.size(), limits.max_bytes));
  }
  if (const auto at = offset_too_deep(text, limits.max_depth)) {
    return Error(ErrorKind::too_large, fmt::format("JSON nested deeper than {} levels at byte {}",
                                                   limits.max_depth, *at));
  }
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& e) {
    return Error(ErrorKind::invalid, fmt::format("not valid JSON at byte {}", e.byte));
  } catch (const Json::exception& e) {
    return Error(ErrorKind::invalid, fmt::format("not valid JSON: {}", e.what()));
  }
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string dump_json_pretty(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string json_quoted(std::string_view text) {
  return dump_json(Json(text));
}

const Json* find(const Json& value, std::initializer_list<std::string_view> path) {
  return find_in(value, path);
}

Json* find(Json& value, std::initializer_list<std::string_view> path) {
  return find_in(value, path);
}

std::string string_at(const Json& value, std::initializer_list<std::string_view> path) {
  const Json* at = find_in(value, path);
  return at != nullptr && at->is_string() ? at->get<std::string>() : std::string();
}

const Json& items_at(const Json& value, std::initializer_list<std::string_view> path) {
  static const Json none = Json::array();
  const Json* at = find_in(value, path);
  return at != nullptr && at->is_array() ? *at : none;
}

std::vector<std::string> strings_at(const Json& value,
                                    std::initializer_list<std::string_view> path) {
  std::vector<std::string> out;
  for (const Json& item : items_at(value, path)) {
    if (item.is_string()) out.push_back(item.get<std::string>());
  }
  return out;
}

std::optional<std::int64_t> int_at(const Json& value,
                                   std::initializer_list<std::string_view> path) {
  const Json* at = find_in(value, path);
  if (at == nullptr || !at->is_number_integer()) return std::nullopt;
  return at->get<std::int64_t>();
}

bool bool_at(const Json& value, std::initializer_list<std::string_view> path) {
  const Json* at = find_in(value, path);
  return at != nullptr && at->is_boolean() && at->get<bool>();
}

const Json* present_at(const Json& value, std::initializer_list<std::string_view> path) {
  const Json* at = find_in(value, path);
  return at == nullptr || at->is_null() ? nullptr : at;
}

const Json& value_at(const Json& value, std::initializer_list<std::string_view> path) {
  static const Json null;
  const Json* at = find_in(value, path);
  return at == nullptr ? null : *at;
}

}  // namespace kubewatch::base
