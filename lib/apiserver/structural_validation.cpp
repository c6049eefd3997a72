// Checking an object against a structural schema: the validation half of structural.hpp.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>
#include <regex>
#include <set>

#include "apiserver/structural.hpp"
#include "base/strings.hpp"
#include "base/time.hpp"

namespace kubewatch::apiserver {

namespace {

std::string type_name(const Json& value) {
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "boolean";
  if (value.is_null()) return "null";
  if (value.is_array()) return "array";
  if (value.is_object()) return "object";
  if (value.is_number_integer()) return "integer";
  const double number = value.get<double>();
  return std::trunc(number) == number ? "integer" : "number";
}

std::string text_at(const Json& schema, const char* key) {
  const auto it = schema.find(key);
  return it != schema.end() && it->is_string() ? it->get<std::string>() : std::string();
}

bool flag(const Json& schema, const char* key) {
  const auto it = schema.find(key);
  return it != schema.end() && it->is_boolean() && it->get<bool>();
}

// Null when the pattern is not ours to judge: syntax that std::regex lacks.
std::shared_ptr<const std::regex> compiled(const std::string& pattern) {
  static std::map<std::string, std::shared_ptr<const std::regex>> cache;
  if (const auto it = cache.find(pattern); it != cache.end()) return it->second;
  if (cache.size() > 1000) cache.clear();
  std::shared_ptr<const std::regex> regex;
  try {
    regex = std::make_shared<const std::regex>(pattern, std::regex::ECMAScript);
  } catch (const std::regex_error&) {
    regex = nullptr;
  }
  cache[pattern] = regex;
  return regex;
}

// std::regex recurses once a character: long texts are not matched at all.
bool pattern_fits(const std::string& text, const std::string& pattern) {
  constexpr std::size_t kLongest = 2048;
  if (text.size() > kLongest) return true;
  const auto regex = compiled(pattern);
  if (!regex) return true;
  try {
    return std::regex_search(text, *regex);
  } catch (const std::regex_error&) {
    return true;
  }
}

class Validator {
 public:
  explicit Validator(FieldErrors& errors) : errors_(errors) {}

  void check(const Json& value, const Json& schema, const std::string& path, bool root) {
    if (!schema.is_object()) return;
    if (value.is_null() && flag(schema, "nullable")) return;
    check_type(value, schema, path);
    check_enum(value, schema, path);
    check_combined(value, schema, path, root);
    if (value.is_string()) check_string(value, schema, path);
    if (value.is_number()) check_number(value, schema, path);
    if (value.is_array()) check_array(value, schema, path);
    if (value.is_object()) check_object(value, schema, path, root);
  }

 private:
  void check_type(const Json& value, const Json& schema, const std::string& path) {
    std::string wanted = text_at(schema, "type");
    const std::string actual = type_name(value);
    bool fits = wanted.empty() || wanted == actual || (wanted == "number" && actual == "integer");
    if (flag(schema, "x-kubernetes-int-or-string")) {
      wanted = "integer,string";
      fits = actual == "integer" || actual == "string";
    }
    if (fits) return;
    errors_.push_back(field_type_invalid(
        path, '"' + actual + '"',
        fmt::format("{} in body must be of type {}: \"{}\"", path, wanted, actual)));
  }

  void check_enum(const Json& value, const Json& schema, const std::string& path) {
    const auto it = schema.find("enum");
    if (it == schema.end() || !it->is_array()) return;
    std::vector<std::string> supported;
    for (const auto& one : *it) {
      if (one == value) return;
      supported.push_back(one.is_string() ? one.get<std::string>() : base::dump_json(one));
    }
    errors_.push_back(field_not_supported(path, base::dump_json(value), supported));
  }

  void refuse(const Json& value, const std::string& path, const std::string& why) {
    errors_.push_back(field_invalid(path, base::dump_json(value), path + " in body " + why));
  }

  void check_string(const Json& value, const Json& schema, const std::string& path) {
    const std::string& text = value.get_ref<const std::string&>();
    if (const auto least = base::int_at(schema, {"minLength"}); least && length(text) < *least) {
      refuse(value, path, fmt::format("should be at least {} chars long", *least));
    }
    if (const auto most = base::int_at(schema, {"maxLength"}); most && length(text) > *most) {
      errors_.push_back({"FieldValueTooLong",
                         fmt::format("Too long: may not be more than {} bytes", *most), path});
    }
    const std::string pattern = text_at(schema, "pattern");
    if (!pattern.empty() && !pattern_fits(text, pattern)) {
      refuse(value, path, fmt::format("should match '{}'", pattern));
    }
    if (text_at(schema, "format") == "date-time" && !base::parse_rfc3339(text)) {
      refuse(value, path, fmt::format("must be of type date-time: {}", base::dump_json(value)));
    }
  }

  static std::int64_t length(const std::string& text) {
    std::int64_t runes = 0;
    for (const char c : text) runes += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
    return runes;
  }

  void check_number(const Json& value, const Json& schema, const std::string& path) {
    const double number = value.get<double>();
    if (const auto it = schema.find("maximum"); it != schema.end() && it->is_number()) {
      const bool open = flag(schema, "exclusiveMaximum");
      if (number > it->get<double>() || (open && number == it->get<double>())) {
        refuse(value, path,
               fmt::format("should be less than {}{}", open ? "" : "or equal to ",
                           base::dump_json(*it)));
      }
    }
    if (const auto it = schema.find("minimum"); it != schema.end() && it->is_number()) {
      const bool open = flag(schema, "exclusiveMinimum");
      if (number < it->get<double>() || (open && number == it->get<double>())) {
        refuse(value, path,
               fmt::format("should be greater than {}{}", open ? "" : "or equal to ",
                           base::dump_json(*it)));
      }
    }
    if (const auto it = schema.find("multipleOf"); it != schema.end() && it->is_number()) {
      const double step = it->get<double>();
      if (step != 0 && std::fmod(number, step) != 0) {
        refuse(value, path, fmt::format("should be a multiple of {}", base::dump_json(*it)));
      }
    }
  }

  void check_count(std::size_t count, const Json& schema, const char* least, const char* most,
                   const char* noun, const std::string& path) {
    const auto size = static_cast<std::int64_t>(count);
    if (const auto limit = base::int_at(schema, {least}); limit && size < *limit) {
      refuse(Json(size), path, fmt::format("should have at least {} {}", *limit, noun));
    }
    if (const auto limit = base::int_at(schema, {most}); limit && size > *limit) {
      errors_.push_back({"FieldValueTooMany",
                         fmt::format("Too many: {}: must have at most {} items", size, *limit),
                         path});
    }
  }

  void check_array(const Json& value, const Json& schema, const std::string& path) {
    check_count(value.size(), schema, "minItems", "maxItems", "items", path);
    if (const auto items = schema.find("items"); items != schema.end()) {
      std::size_t index = 0;
      for (const auto& item : value) {
        check(item, *items, fmt::format("{}[{}]", path, index++), false);
      }
    }
    const std::string type = text_at(schema, "x-kubernetes-list-type");
    if (type != "set" && type != "map") return;
    std::set<Json> seen;
    std::size_t index = 0;
    for (const auto& item : value) {
      const Json identity = type == "set" ? item : key_of(item, schema);
      if (!seen.insert(identity).second) {
        errors_.push_back(
            field_duplicate(fmt::format("{}[{}]", path, index), base::dump_json(identity)));
      }
      ++index;
    }
  }

  static Json key_of(const Json& item, const Json& schema) {
    Json out = Json::object();
    if (const auto keys = schema.find("x-kubernetes-list-map-keys");
        keys != schema.end() && keys->is_array() && item.is_object()) {
      for (const auto& key : *keys) {
        if (!key.is_string()) continue;
        if (const auto it = item.find(key.get<std::string>()); it != item.end()) {
          out[key.get<std::string>()] = *it;
        }
      }
    }
    return out;
  }

  void check_object(const Json& value, const Json& schema, const std::string& path, bool root) {
    check_count(value.size(), schema, "minProperties", "maxProperties", "properties", path);
    const auto below = [&](const std::string& key) {
      return path.empty() ? key : path + "." + key;
    };
    if (const auto it = schema.find("required"); it != schema.end() && it->is_array()) {
      for (const auto& key : *it) {
        if (!key.is_string() || value.contains(key.get<std::string>())) continue;
        errors_.push_back(field_required(below(key.get<std::string>())));
      }
    }
    const auto properties = schema.find("properties");
    const auto additional = schema.find("additionalProperties");
    for (const auto& [key, member] : value.items()) {
      if (root && (key == "metadata" || key == "apiVersion" || key == "kind")) continue;
      if (properties != schema.end() && properties->is_object() && properties->contains(key)) {
        check(member, properties->at(key), below(key), false);
      } else if (additional != schema.end() && additional->is_object()) {
        check(member, *additional, below(key), false);
      }
    }
  }

  // How many of the schemas under a keyword fit.
  std::size_t fitting(const Json& value, const Json& schemas, const std::string& path, bool root) {
    std::size_t fits = 0;
    for (const auto& schema : schemas) {
      FieldErrors errors;
      Validator(errors).check(value, schema, path, root);
      fits += errors.empty() ? 1U : 0U;
    }
    return fits;
  }

  void check_combined(const Json& value, const Json& schema, const std::string& path, bool root) {
    const auto list = [&](const char* key) -> const Json* {
      const auto it = schema.find(key);
      return it != schema.end() && it->is_array() ? &*it : nullptr;
    };
    const auto refuse_all = [&](const std::string& why) {
      errors_.push_back(field_invalid(path, "\"\"", fmt::format("\"{}\" {}", path, why)));
    };
    if (const Json* all = list("allOf")) {
      for (const auto& one : *all) check(value, one, path, root);
    }
    if (const Json* any = list("anyOf"); any != nullptr && fitting(value, *any, path, root) == 0) {
      refuse_all("must validate at least one schema (anyOf)");
    }
    if (const Json* one = list("oneOf")) {
      const std::size_t fits = fitting(value, *one, path, root);
      if (fits != 1) {
        refuse_all(fmt::format("must validate one and only one schema (oneOf). Found {} valid",
                               fits == 0 ? "none" : std::to_string(fits)));
      }
    }
    if (const auto it = schema.find("not"); it != schema.end() && it->is_object()) {
      if (fitting(value, Json::array({*it}), path, root) == 1) {
        refuse_all("must not validate the schema (not)");
      }
    }
  }

  FieldErrors& errors_;
};

}  // namespace

void validate_object(const Json& object, const Json& schema, FieldErrors& errors) {
  Validator(errors).check(object, schema, "", true);
}

}  // namespace kubewatch::apiserver
