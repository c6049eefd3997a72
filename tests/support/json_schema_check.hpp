// Validates a value against a JSON Schema (draft 2020-12): the keywords that our own schemas use,
// by their text in the standard. An unknown keyword fails, so that none is taken for fulfilled.
#pragma once

#include <regex>
#include <set>
#include <string>

#include "base/json.hpp"

namespace kubewatch::test {

class JsonSchemaCheck {
 public:
  // "" when `value` is valid; else the first place and keyword that refuses it.
  std::string operator()(const Json& schema, const Json& value) const {
    return check(schema, value, "");
  }

 private:
  static bool is_type(const std::string& type, const Json& value) {
    if (type == "null") return value.is_null();
    if (type == "boolean") return value.is_boolean();
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "number") return value.is_number();
    if (type == "integer") return value.is_number_integer();
    throw std::logic_error("no type " + type);
  }

  std::string check(const Json& schema, const Json& value, const std::string& at) const {
    if (schema.is_boolean()) return schema.get<bool>() ? "" : at + ": false";
    for (const auto& [keyword, argument] : schema.items()) {
      std::string wrong = apply(schema, keyword, argument, value, at);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

  bool holds(const Json& schema, const Json& value) const {
    return check(schema, value, "").empty();
  }

  std::size_t count_of(const Json& schemas, const Json& value) const {
    std::size_t count = 0;
    for (const Json& one : schemas) count += holds(one, value) ? 1 : 0;
    return count;
  }

  std::string apply(const Json& schema, const std::string& keyword, const Json& argument,
                    const Json& value, const std::string& at) const {
    static const std::set<std::string> kNotes = {"$schema", "title", "description", "then", "else"};
    if (kNotes.count(keyword) > 0) return "";
    if (keyword == "if") {
      const char* branch = holds(argument, value) ? "then" : "else";
      return schema.contains(branch) ? check(schema[branch], value, at) : "";
    }
    if (is_inside(keyword)) return inside(schema, keyword, argument, value, at);
    return fulfils(keyword, argument, value) ? "" : at + ": " + keyword + " " + argument.dump();
  }

  static bool is_inside(const std::string& keyword) {
    static const std::set<std::string> kInside = {"properties",    "additionalProperties", "items",
                                                  "propertyNames", "prefixItems",          "allOf"};
    return kInside.count(keyword) > 0;
  }

  std::string inside(const Json& schema, const std::string& keyword, const Json& argument,
                     const Json& value, const std::string& at) const {
    std::string wrong;
    const auto look = [&](const Json& part, const Json& inner, const std::string& name) {
      if (wrong.empty()) wrong = check(part, inner, at + "/" + name);
    };
    if (keyword == "allOf") {
      for (const Json& one : argument) look(one, value, "");
    } else if (value.is_object()) {
      for (const auto& [name, inner] : value.items()) {
        const bool known = schema.contains("properties") && schema["properties"].contains(name);
        if (keyword == "properties" && known) look(argument[name], inner, name);
        if (keyword == "additionalProperties" && !known) look(argument, inner, name);
        if (keyword == "propertyNames") look(argument, name, name);
      }
    } else if (value.is_array()) {
      const std::size_t first = schema.contains("prefixItems") ? schema["prefixItems"].size() : 0;
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (keyword == "items" && i >= first) look(argument, value[i], std::to_string(i));
        if (keyword == "prefixItems" && i < first) look(argument[i], value[i], std::to_string(i));
      }
    }
    return wrong;
  }

  bool fulfils(const std::string& keyword, const Json& argument, const Json& value) const {
    if (keyword == "type") return is_one_type(argument, value);
    if (keyword == "enum") {
      for (const Json& one : argument) {
        if (one == value) return true;
      }
      return false;
    }
    if (keyword == "const") return argument == value;
    if (keyword == "not") return !holds(argument, value);
    if (keyword == "anyOf") return count_of(argument, value) > 0;
    if (keyword == "oneOf") return count_of(argument, value) == 1;
    if (keyword == "required") return has_all(argument, value);
    if (keyword == "uniqueItems") return !value.is_array() || is_unique(value);
    if (keyword == "pattern") return !value.is_string() || matches(argument, value);
    return is_within(keyword, argument, value);
  }

  static bool is_one_type(const Json& types, const Json& value) {
    if (types.is_string()) return is_type(types.get<std::string>(), value);
    for (const Json& type : types) {
      if (is_type(type.get<std::string>(), value)) return true;
    }
    return false;
  }

  static bool has_all(const Json& names, const Json& value) {
    if (!value.is_object()) return true;
    for (const Json& name : names) {
      if (!value.contains(name.get<std::string>())) return false;
    }
    return true;
  }

  static bool is_unique(const Json& list) {
    return std::set<Json>(list.begin(), list.end()).size() == list.size();
  }

  static bool matches(const Json& pattern, const Json& value) {
    return std::regex_search(value.get<std::string>(), std::regex(pattern.get<std::string>()));
  }

  static bool is_within(const std::string& keyword, const Json& limit, const Json& value) {
    const bool at_least = keyword.rfind("min", 0) == 0;
    double found = 0;
    if (keyword == "minimum" || keyword == "maximum") {
      if (!value.is_number()) return true;
      found = value.get<double>();
    } else if (keyword == "minLength" || keyword == "maxLength") {
      if (!value.is_string()) return true;
      found = static_cast<double>(value.get_ref<const std::string&>().size());
    } else if (keyword == "minItems") {
      if (!value.is_array()) return true;
      found = static_cast<double>(value.size());
    } else if (keyword == "minProperties" || keyword == "maxProperties") {
      if (!value.is_object()) return true;
      found = static_cast<double>(value.size());
    } else {
      throw std::logic_error("no keyword " + keyword);
    }
    return at_least ? found >= limit.get<double>() : found <= limit.get<double>();
  }
};

}  // namespace kubewatch::test
