#include "apiserver/go_struct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "schema/go_words.hpp"

namespace kubewatch::apiserver {

namespace {

bool fits_whole(const Json& value, bool narrow) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return false;
  }
  const auto number = value.get<std::int64_t>();
  using Narrow = std::numeric_limits<std::int32_t>;
  return !narrow || (number >= Narrow::min() && number <= Narrow::max());
}

bool fits(const Json& value, GoKind kind) {
  switch (kind) {
    case GoKind::text: return value.is_string();
    case GoKind::boolean: return value.is_boolean();
    case GoKind::int32: return fits_whole(value, true);
    case GoKind::int64: return fits_whole(value, false);
    case GoKind::text_list: return value.is_array();
    case GoKind::structure: return value.is_object();
  }
  return false;
}

// A number that does not fit a number is shown.
std::string shown(const Json& value, GoKind kind) {
  const bool whole = kind == GoKind::int32 || kind == GoKind::int64;
  const std::string word = schema::json_word(value);
  return whole && value.is_number() ? word + " " + base::dump_json(value) : word;
}

std::string misread(const std::string& what, const GoStruct& type, const std::string& path,
                    const char* wanted) {
  return schema::misread_field(what, fmt::format("{}.{}", type.name, path), wanted);
}

const GoField* field_of(const GoStruct& type, const std::string& name) {
  const auto it = std::find_if(type.fields.begin(), type.fields.end(),
                               [&](const GoField& field) { return name == field.name; });
  return it == type.fields.end() ? nullptr : &*it;
}

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

std::optional<std::string> why_misread_at(const GoStruct& type, const Json& value,
                                          const std::string& path) {
  for (const auto& [key, member] : value.items()) {
    const GoField* field = field_of(type, key);
    if (field == nullptr || member.is_null()) continue;
    const std::string at = joined(path, key);
    if (!fits(member, field->kind)) {
      return misread(shown(member, field->kind), type, at, field->type);
    }
    if (field->kind == GoKind::text_list) {
      for (const auto& item : member) {
        if (item.is_null() || item.is_string()) continue;
        return misread(schema::json_word(item), type, at, "string");
      }
    }
    if (field->below == nullptr) continue;
    if (auto why = why_misread_at(*field->below, member, at)) return why;
  }
  return std::nullopt;
}

void drop_unknown_at(const GoStruct& type, Json& value, const std::string& path,
                     std::vector<std::string>& unknown) {
  for (auto it = value.begin(); it != value.end();) {
    const GoField* field = field_of(type, it.key());
    const std::string at = joined(path, it.key());
    if (field == nullptr) {
      unknown.push_back(at);
      it = value.erase(it);
      continue;
    }
    if (field->below != nullptr && it->is_object())
      drop_unknown_at(*field->below, *it, at, unknown);
    ++it;
  }
}

}  // namespace

std::optional<std::string> why_misread(const GoStruct& type, const Json& value) {
  return why_misread_at(type, value, "");
}

void drop_unknown(const GoStruct& type, Json& value, std::vector<std::string>& unknown) {
  drop_unknown_at(type, value, "", unknown);
}

}  // namespace kubewatch::apiserver
