// One step of a field path: order, text forms. Not the set (field_set.cpp).
#include <fmt/format.h>

#include "base/strings.hpp"
#include "core/go_json.hpp"
#include "schema/field_set.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::schema {
namespace {

// Numbers < strings < booleans < lists < maps < null, as FieldsV1 is sorted.
int rank(const Json& value) {
  if (value.is_number()) return 0;
  if (value.is_string()) return 1;
  if (value.is_boolean()) return 2;
  if (value.is_array()) return 3;
  if (value.is_object()) return 4;
  return 5;
}

std::strong_ordering order(bool less, bool greater) {
  if (less) return std::strong_ordering::less;
  return greater ? std::strong_ordering::greater : std::strong_ordering::equal;
}

std::strong_ordering compare_strings(const std::string& a, const std::string& b) {
  const int result = a.compare(b);
  return order(result<0, result> 0);
}

std::strong_ordering compare_values(const Json& a, const Json& b);

std::strong_ordering compare_maps(const Json& a, const Json& b) {
  auto left = a.begin();
  auto right = b.begin();
  for (; left != a.end() && right != b.end(); ++left, ++right) {
    if (auto names = compare_strings(left.key(), right.key()); names != 0) return names;
    if (auto values = compare_values(left.value(), right.value()); values != 0) return values;
  }
  return order(right != b.end(), left != a.end());
}

std::strong_ordering compare_lists(const Json& a, const Json& b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (auto values = compare_values(a[i], b[i]); values != 0) return values;
  }
  return a.size() <=> b.size();
}

std::strong_ordering compare_values(const Json& a, const Json& b) {
  if (rank(a) != rank(b)) return rank(a) <=> rank(b);
  switch (rank(a)) {
    case 0: return order(a < b, b < a);
    case 1:
      return compare_strings(a.get_ref<const std::string&>(), b.get_ref<const std::string&>());
    case 2: return a.get<bool>() <=> b.get<bool>();
    case 3: return compare_lists(a, b);
    case 4: return compare_maps(a, b);
    default: return std::strong_ordering::equal;
  }
}

std::string value_text(const Json& value) {
  if (value.is_string()) return go_quoted(value.get_ref<const std::string&>());
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return base::dump_json(value);
}

}  // namespace

PathElement PathElement::of_field(std::string name) {
  PathElement element;
  element.field = std::move(name);
  return element;
}

PathElement PathElement::of_key(Json keys) {
  PathElement element;
  element.kind = Kind::key;
  element.json = std::move(keys);
  return element;
}

PathElement PathElement::of_value(Json value) {
  PathElement element;
  element.kind = Kind::value;
  element.json = std::move(value);
  return element;
}

PathElement PathElement::of_index(std::int64_t index) {
  PathElement element;
  element.kind = Kind::index;
  element.index = index;
  return element;
}

std::string PathElement::encode() const {
  switch (kind) {
    case Kind::field: return "f:" + field;
    case Kind::key: return "k:" + core::go_json(json);
    case Kind::value: return "v:" + core::go_json(json);
    case Kind::index: return "i:" + std::to_string(index);
  }
  return {};
}

std::string PathElement::str() const {
  switch (kind) {
    case Kind::field: return "." + field;
    case Kind::value: return "[=" + value_text(json) + "]";
    case Kind::index: return "[" + std::to_string(index) + "]";
    case Kind::key: break;
  }
  std::vector<std::string> parts;
  for (const auto& [name, value] : json.items()) parts.push_back(name + "=" + value_text(value));
  return "[" + base::join(parts, ",") + "]";
}

std::strong_ordering PathElement::compare(const PathElement& other) const {
  if (kind != other.kind) return kind <=> other.kind;
  switch (kind) {
    case Kind::field: return compare_strings(field, other.field);
    case Kind::index: return index <=> other.index;
    case Kind::key: return compare_maps(json, other.json);
    case Kind::value: return compare_values(json, other.json);
  }
  return std::strong_ordering::equal;
}

namespace {

// The text of a JSON string that needs no unescaping; nearly all keys are such.
std::optional<std::string_view> plain_string(std::string_view json) {
  if (json.size() < 2 || json.front() != '"' || json.back() != '"') return std::nullopt;
  const std::string_view inner = json.substr(1, json.size() - 2);
  for (const char c : inner) {
    if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f) return std::nullopt;
  }
  return inner;
}

// {"name":"value"} without a parser.
std::optional<Json> plain_key(std::string_view json) {
  if (json.size() < 2 || json.front() != '{' || json.back() != '}') return std::nullopt;
  const std::size_t colon = json.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto name = plain_string(json.substr(1, colon - 1));
  const auto value = plain_string(json.substr(colon + 1, json.size() - colon - 2));
  if (!name || !value) return std::nullopt;
  Json out = Json::object();
  out[std::string(*name)] = *value;
  return out;
}

}  // namespace

Result<std::optional<PathElement>> PathElement::decode(const std::string& text) {
  const auto broken = [&](const std::string& why) {
    return Error(ErrorKind::invalid, "FieldsV1 key \"" + text + "\" " + why);
  };
  if (text.size() < 2 || text[1] != ':') return broken("has no kind before a colon");
  const std::string rest = text.substr(2);
  if (text[0] == 'f') return std::optional(of_field(rest));
  if (text[0] == 'i') {
    Result<Json> number = base::parse_json(rest);
    if (!number.ok() || !number->is_number_integer()) return broken("holds no index");
    return std::optional(of_index(number->get<std::int64_t>()));
  }
  if (text[0] != 'k' && text[0] != 'v') return std::optional<PathElement>();
  if (auto plain = text[0] == 'k' ? plain_key(rest) : std::nullopt) {
    return std::optional(of_key(std::move(*plain)));
  }
  Result<Json> json = base::parse_json(rest);
  if (!json.ok()) return broken("holds no JSON");
  if (text[0] == 'v') return std::optional(of_value(std::move(*json)));
  if (!json->is_object()) return broken("holds no object");
  return std::optional(of_key(std::move(*json)));
}

std::string path_str(const Path& path) {
  std::string out;
  for (const PathElement& element : path) out += element.str();
  return out;
}

}  // namespace kubewatch::schema
