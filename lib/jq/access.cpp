#include "jq/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/utf8.hpp"
#include "jq/number.hpp"
#include "jq/value.hpp"

namespace kubewatch::jq {

namespace {

Error cannot_index(const Json& value, const Json& key) {
  if (key.is_string()) {
    return Error(ErrorKind::invalid, fmt::format("Cannot index {} with string \"{}\"",
                                                 type_name(value), key.get<std::string>()));
  }
  return Error(ErrorKind::invalid,
               fmt::format("Cannot index {} with {}", type_name(value), type_name(key)));
}

const Json* element(const Json& array, const Json& key) {
  if (!key.is_number_integer() && std::trunc(key.get<double>()) != key.get<double>()) {
    return &null_value();
  }
  std::int64_t at = to_int64(key);
  const auto size = static_cast<std::int64_t>(array.size());
  if (at < 0) at += size;
  if (at < 0 || at >= size) return &null_value();
  return &array[static_cast<std::size_t>(at)];
}

// Where `part` occurs in `array`; an empty one nowhere.
Result<Found> positions_of(const Json& array, const Json& part) {
  Comparisons left;
  Json out = Json::array();
  for (std::size_t i = 0; i < array.size(); ++i) {
    bool found = !part.empty();
    for (std::size_t j = 0; found && j < part.size(); ++j) {
      found = i + j < array.size() && compare(array[i + j], part[j], left) == 0;
    }
    if (left.spent()) return Comparisons::too_many();
    if (found) out.push_back(i);
  }
  return Found(std::move(out));
}

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::optional<Range> range_of(const Json& from, const Json& to, std::size_t size) {
  if ((!from.is_null() && !from.is_number()) || (!to.is_null() && !to.is_number())) {
    return std::nullopt;
  }
  const auto length = static_cast<double>(size);
  double begin = from.is_null() ? 0 : from.get<double>();
  double end = to.is_null() ? length : to.get<double>();
  if (begin < 0) begin += length;
  if (end < 0) end += length;
  begin = std::clamp(begin, 0.0, length);
  end = std::clamp(end, begin, length);
  return Range{static_cast<std::size_t>(std::floor(begin)),
               static_cast<std::size_t>(std::ceil(end))};
}

// The byte offset of a character; the end when there are fewer.
std::size_t offset_of(const std::string& text, std::size_t character) {
  std::size_t at = 0;
  for (; character > 0 && at < text.size(); --character) at += base::next_utf8(text, at).size;
  return at;
}

Error bad_slice(const Json& value) {
  return Error(
      ErrorKind::invalid,
      fmt::format("Start and end indices of an {} slice must be numbers", type_name(value)));
}

// std::string::find takes the product of both sizes where much is alike; memmem never does.
std::size_t find_text(std::string_view text, std::string_view part, std::size_t from) {
  const void* found = ::memmem(text.data() + from, text.size() - from, part.data(), part.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

// Up to the first NUL, as in C.
std::string_view c_text(const Json& value) {
  const auto& whole = value.get_ref<const std::string&>();
  return std::string_view(whole).substr(0, whole.find('\0'));
}

bool text_contains(const Json& value, const Json& part, Comparisons& left) {
  constexpr std::size_t kBytesPerNumber = 64;  // searched in the time that a number takes
  const std::string_view in = c_text(value);
  const std::string_view sought = c_text(part);
  if (sought.size() > in.size()) return false;
  if (!left.take((in.size() + sought.size()) / kBytesPerNumber)) return false;
  return find_text(in, sought, 0) != std::string_view::npos;
}

bool contains_value(const Json& value, const Json& part, Comparisons& left);

bool object_contains(const Json& value, const Json& part, Comparisons& left) {
  for (const auto& [key, wanted] : part.items()) {
    const auto it = value.find(key);
    if (it == value.end() || !contains_value(*it, wanted, left)) return false;
  }
  return true;
}

bool array_contains(const Json& value, const Json& part, Comparisons& left) {
  for (const Json& wanted : part) {
    bool found = false;
    for (auto item = value.begin(); !found && item != value.end() && !left.spent(); ++item) {
      found = contains_value(*item, wanted, left);
    }
    if (!found) return false;
  }
  return true;
}

// Members of different kinds simply do not contain each other; only the outermost call is an error.
// False once the comparisons are used up.
bool contains_value(const Json& value, const Json& part, Comparisons& left) {
  if (!left.take()) return false;
  if (value.is_object() && part.is_object()) return object_contains(value, part, left);
  if (value.is_array() && part.is_array()) return array_contains(value, part, left);
  if (value.is_string() && part.is_string()) return text_contains(value, part, left);
  return compare(value, part, left) == 0;
}

}  // namespace

const Json& null_value() {
  static const Json null;
  return null;
}

Result<const Json*> get_field(const Json& value, const std::string& name) {
  if (value.is_object()) {
    const auto it = value.find(name);
    return it == value.end() ? &null_value() : &*it;
  }
  if (value.is_null()) return &null_value();
  return cannot_index(value, Json(name));
}

Result<Found> get_index(const Json& value, const Json& key) {
  if (key.is_string() && (value.is_object() || value.is_null())) {
    KW_ASSIGN(const Json* found, get_field(value, key.get_ref<const std::string&>()));
    return Found(found);
  }
  if (value.is_array() && key.is_number()) return Found(element(value, key));
  if (value.is_null() && (key.is_number() || key.is_object())) return Found(&null_value());
  if (key.is_object() && (value.is_array() || value.is_string())) {
    if (!key.contains("start") || !key.contains("end")) return bad_slice(value);
    return get_slice(value, key["start"], key["end"]);
  }
  if (value.is_array() && key.is_array()) return positions_of(value, key);
  return cannot_index(value, key);
}

Result<Found> get_slice(const Json& value, const Json& from, const Json& to) {
  if (value.is_null()) return Found(&null_value());
  if (!value.is_array() && !value.is_string()) return cannot_index(value, Json::object());
  const std::size_t size =
      value.is_array() ? value.size() : count_characters(value.get_ref<const std::string&>());
  const auto range = range_of(from, to, size);
  if (!range) return bad_slice(value);
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const std::size_t begin = offset_of(text, range->begin);
    return Found(Json(text.substr(begin, offset_of(text, range->end) - begin)));
  }
  Json out = Json::array();
  for (std::size_t i = range->begin; i < range->end; ++i) out.push_back(value[i]);
  return Found(std::move(out));
}

Result<Json> keys_of(const Json& value) {
  Json out = Json::array();
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) out.push_back(key);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) out.push_back(i);
  } else {
    return type_error(value, "has no keys");
  }
  return out;
}

Result<Json> has_key(const Json& value, const Json& key) {
  if (value.is_null()) return Json(false);
  if (value.is_object() && key.is_string()) {
    return Json(value.contains(key.get_ref<const std::string&>()));
  }
  if (value.is_array() && key.is_number()) {
    const std::int64_t at = to_int64(key);
    return Json(at >= 0 && at < static_cast<std::int64_t>(value.size()));
  }
  return Error(ErrorKind::invalid, fmt::format("Cannot check whether {} has a {} key",
                                               type_name(value), type_name(key)));
}

Result<Json> contains(const Json& value, const Json& part) {
  if (type_name(value) != type_name(part) || (value.is_boolean() && value != part)) {
    return type_error(value, part, "cannot have their containment checked");
  }
  Comparisons left;
  const bool found = contains_value(value, part, left);
  if (left.spent()) return Comparisons::too_many();
  return Json(found);
}

Result<void> check_iterable(const Json& value) {
  if (value.is_array() || value.is_object()) return {};
  return Error(ErrorKind::invalid, fmt::format("Cannot iterate over {}", describe(value)));
}

Json split_text(const std::string& text, const std::string& separator) {
  Json out = Json::array();
  if (separator.empty()) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = base::next_utf8(text, at).size;
      out.push_back(text.substr(at, size));
      at += size;
    }
    return out;
  }
  if (text.empty()) return out;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = find_text(text, separator, begin);
    out.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return out;
    begin = end + separator.size();
  }
}

std::size_t count_characters(const std::string& text) {
  return base::count_utf8(text);
}

}  // namespace kubewatch::jq
