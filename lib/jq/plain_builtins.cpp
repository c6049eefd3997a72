// Builtins that make one value of one input and at most one argument.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/strings.hpp"
#include "jq/access.hpp"
#include "jq/arithmetic.hpp"
#include "jq/builtins.hpp"
#include "jq/number.hpp"
#include "jq/value.hpp"

namespace kubewatch::jq {

namespace {

const std::string& text_of(const Json& value) {
  return value.get_ref<const std::string&>();
}

Error plain_error(std::string_view what) {
  return Error(ErrorKind::invalid, std::string(what));
}

Result<Json> length(const Json& in, const Json&) {
  if (in.is_null()) return Json(0);
  if (in.is_boolean()) return type_error(in, "has no length");
  if (in.is_number()) return compare_numbers(in, Json(0)) < 0 ? negate_number(in) : in;
  if (in.is_string()) return Json(count_characters(text_of(in)));
  return Json(in.size());
}

Result<Json> utf8_length(const Json& in, const Json&) {
  if (!in.is_string()) return type_error(in, "only strings have UTF-8 byte length");
  return Json(text_of(in).size());
}

Result<Json> keys(const Json& in, const Json&) {
  return keys_of(in);
}
Result<Json> type(const Json& in, const Json&) {
  return Json(std::string(type_name(in)));
}
Result<Json> logical_not(const Json& in, const Json&) {
  return Json(!is_truthy(in));
}
Result<Json> to_string(const Json& in, const Json&) {
  return Json(to_display(in));
}
Result<Json> to_json(const Json& in, const Json&) {
  return Json(to_text(in));
}

Result<Json> parse_text(const std::string& text) {
  const std::string_view body = base::trim(text);
  if (body == "nan") return Json();
  if (auto number = parse_number(body)) return *std::move(number);
  auto parsed = base::parse_json(body, {kMaxText, 200});
  if (parsed.ok()) return parsed;
  return plain_error(fmt::format("{} (while parsing '{}')", parsed.error().message(), text));
}

Result<Json> from_json(const Json& in, const Json&) {
  if (!in.is_string()) return type_error(in, "only strings can be parsed");
  return parse_text(text_of(in));
}

Result<Json> to_number(const Json& in, const Json&) {
  if (in.is_number()) return in;
  if (!in.is_string()) return type_error(in, "cannot be parsed as a number");
  KW_ASSIGN(Json value, parse_text(text_of(in)));
  const bool was_nan = value.is_null() && base::trim(text_of(in)) == "nan";
  if (!value.is_number() && !was_nan) return type_error(in, "cannot be parsed as a number");
  return value;
}

Result<Json> change_case(const Json& in, char from, char to, int by) {
  if (!in.is_string()) return plain_error("explode input must be a string");
  std::string out = text_of(in);
  for (char& c : out) {
    if (c >= from && c <= to) c = static_cast<char>(c + by);
  }
  return Json(std::move(out));
}

Result<Json> down(const Json& in, const Json&) {
  return change_case(in, 'A', 'Z', 'a' - 'A');
}
Result<Json> up(const Json& in, const Json&) {
  return change_case(in, 'a', 'z', 'A' - 'a');
}

Result<Json> floor_of(const Json& in, const Json&) {
  if (!in.is_number()) return type_error(in, "number required");
  return in.is_number_integer() ? in : make_number(std::floor(in.get<double>()));
}

Result<Json> add(const Json& in, const Json&) {
  KW_TRY(check_iterable(in));
  Json sum;
  for (const Json& item : in) {
    KW_ASSIGN(sum, add_to(std::move(sum), item));
  }
  return sum;
}

Result<Json> sort(const Json& in, const Json&) {
  if (!in.is_array()) return type_error(in, "cannot be sorted, as it is not an array");
  return sorted_by(in, in);
}

Result<Json> unique(const Json& in, const Json&) {
  KW_TRY(check_iterable(in));
  if (!in.is_array()) {
    Json wrapped = Json::array();
    for (const Json& item : in) wrapped.push_back(Json::array({item}));
    return type_error(in, wrapped, "cannot be sorted, as they are not both arrays");
  }
  Json out = Json::array();
  for (const Json& item : sorted_by(in, in)) {
    if (out.empty() || compare(out.back(), item) != 0) out.push_back(item);
  }
  return out;
}

Result<Json> extreme(const Json& in, bool largest) {
  if (!in.is_array()) return type_error(in, in, "cannot be iterated over");
  return extreme_by(in, in, largest);
}

Result<Json> min(const Json& in, const Json&) {
  return extreme(in, false);
}
Result<Json> max(const Json& in, const Json&) {
  return extreme(in, true);
}

Result<Json> entries(const Json& in, const Json&) {
  return to_entries(in);
}
Result<Json> unentries(const Json& in, const Json&) {
  return from_entries(in);
}

// `depth` as a jq value: compared and counted down only where an array stands.
Result<void> flatten_into(Json& out, const Json& in, const Json& depth) {
  for (const Json& item : in) {
    if (item.is_array() && compare(depth, Json(0)) != 0) {
      KW_ASSIGN(const Json less, calculate(Operator::subtract, depth, Json(1)));
      KW_TRY(flatten_into(out, item, less));
    } else {
      out.push_back(item);
    }
  }
  return {};
}

Result<Json> flatten_to(const Json& in, const Json& depth) {
  if (compare(depth, Json(0)) < 0) return plain_error("flatten depth must not be negative");
  KW_TRY(check_iterable(in));
  Json out = Json::array();
  KW_TRY(flatten_into(out, in, depth));
  return out;
}

Result<Json> flatten(const Json& in, const Json&) {
  KW_TRY(check_iterable(in));
  Json out = Json::array();
  KW_TRY(flatten_into(out, in, Json(-1)));
  return out;
}

Result<Json> reverse(const Json& in, const Json& none) {
  KW_ASSIGN(const Json count, length(in, none));
  if (!in.is_array() && compare_numbers(count, Json(0)) > 0) {
    KW_TRY(get_index(in, count));
  }
  Json out = Json::array();
  if (in.is_array()) std::reverse_copy(in.begin(), in.end(), std::back_inserter(out));
  return out;
}

Result<Json> at(const Json& in, const Json& key) {
  KW_ASSIGN(const Found found, get_index(in, key));
  return found.get();
}

Result<Json> first(const Json& in, const Json&) {
  return at(in, Json(0));
}
Result<Json> last(const Json& in, const Json&) {
  return at(in, Json(-1));
}

Result<Json> starts_with(const Json& in, const Json& part) {
  if (!in.is_string() || !part.is_string()) {
    return plain_error("startswith() requires string inputs");
  }
  return Json(text_of(in).starts_with(text_of(part)));
}

Result<Json> ends_with(const Json& in, const Json& part) {
  if (!in.is_string() || !part.is_string()) {
    return plain_error("endswith() requires string inputs");
  }
  return Json(text_of(in).ends_with(text_of(part)));
}

Result<Json> left_trim(const Json& in, const Json& part) {
  if (!in.is_string() || !part.is_string() || !text_of(in).starts_with(text_of(part))) return in;
  return Json(text_of(in).substr(text_of(part).size()));
}

Result<Json> right_trim(const Json& in, const Json& part) {
  if (!in.is_string() || !part.is_string() || !text_of(in).ends_with(text_of(part))) return in;
  return Json(text_of(in).substr(0, text_of(in).size() - text_of(part).size()));
}

Result<Json> split(const Json& in, const Json& separator) {
  if (!in.is_string() || !separator.is_string()) {
    return plain_error("split input and separator must be strings");
  }
  return split_text(text_of(in), text_of(separator));
}

// What join puts between separators: null and false-like things are empty, containers are refused
// by +.
Json join_piece(const Json& item) {
  if (item.is_boolean() || item.is_number()) return to_text(item);
  return item.is_null() ? Json("") : item;
}

Result<Json> join(const Json& in, const Json& separator) {
  KW_TRY(check_iterable(in));
  Json out;
  for (const Json& item : in) {
    if (out.is_null()) {
      out = "";
    } else {
      KW_ASSIGN(out, add_to(std::move(out), separator));
    }
    KW_ASSIGN(out, add_to(std::move(out), join_piece(item)));
  }
  return is_truthy(out) ? out : Json("");
}

constexpr Builtin kPlain[] = {
    {"length", 0, length, nullptr},
    {"utf8bytelength", 0, utf8_length, nullptr},
    {"keys", 0, keys, nullptr},
    {"keys_unsorted", 0, keys, nullptr},
    {"type", 0, type, nullptr},
    {"not", 0, logical_not, nullptr},
    {"tostring", 0, to_string, nullptr},
    {"tojson", 0, to_json, nullptr},
    {"fromjson", 0, from_json, nullptr},
    {"tonumber", 0, to_number, nullptr},
    {"ascii_downcase", 0, down, nullptr},
    {"ascii_upcase", 0, up, nullptr},
    {"floor", 0, floor_of, nullptr},
    {"add", 0, add, nullptr},
    {"sort", 0, sort, nullptr},
    {"unique", 0, unique, nullptr},
    {"min", 0, min, nullptr},
    {"max", 0, max, nullptr},
    {"to_entries", 0, entries, nullptr},
    {"from_entries", 0, unentries, nullptr},
    {"flatten", 0, flatten, nullptr},
    {"flatten", 1, flatten_to, nullptr},
    {"reverse", 0, reverse, nullptr},
    {"first", 0, first, nullptr},
    {"last", 0, last, nullptr},
    {"nth", 1, at, nullptr},
    {"has", 1, has_key, nullptr},
    {"contains", 1, contains, nullptr},
    {"startswith", 1, starts_with, nullptr},
    {"endswith", 1, ends_with, nullptr},
    {"ltrimstr", 1, left_trim, nullptr},
    {"rtrimstr", 1, right_trim, nullptr},
    {"split", 1, split, nullptr},
    {"join", 1, join, nullptr},
};

}  // namespace

Result<Json> to_entries(const Json& input) {
  KW_ASSIGN(const Json names, keys_of(input));
  Json out = Json::array();
  std::size_t i = 0;
  for (const Json& value : input) out.push_back({{"key", names[i++]}, {"value", value}});
  return out;
}

Result<Json> from_entries(const Json& input) {
  KW_TRY(check_iterable(input));
  Json out = Json::object();
  for (const Json& entry : input) {
    const Json* key = &null_value();
    for (const char* name : {"key", "Key", "name", "Name"}) {
      KW_ASSIGN(key, get_field(entry, name));
      if (is_truthy(*key)) break;
    }
    KW_ASSIGN(const Json has_value, has_key(entry, Json("value")));
    KW_ASSIGN(const Json* value, get_field(entry, has_value.get<bool>() ? "value" : "Value"));
    if (!key->is_string()) {
      return plain_error(fmt::format("Cannot use {} as object key", describe(*key)));
    }
    out[key->get_ref<const std::string&>()] = *value;
  }
  return out;
}

const Builtin* find_plain_builtin(std::string_view name, std::size_t arity) {
  const auto it = std::find_if(std::begin(kPlain), std::end(kPlain), [&](const Builtin& b) {
    return b.name == name && b.arity == arity;
  });
  return it == std::end(kPlain) ? nullptr : it;
}

}  // namespace kubewatch::jq
