#include "schema/go_words.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/utf8.hpp"
#include "core/go_json.hpp"
#include "schema/validator.hpp"

namespace kubewatch::schema {

std::string json_word(const Json& value) {
  return value.is_boolean() ? "bool" : value.type_name();
}

std::string misread_value(std::string_view found, std::string_view type) {
  return fmt::format("json: cannot unmarshal {} into Go value of type {}", found, type);
}

std::string misread_field(std::string_view found, std::string_view field, std::string_view type) {
  return fmt::format("json: cannot unmarshal {} into Go struct field {} of type {}", found, field,
                     type);
}

std::string go_type(const Json& value) {
  switch (value.type()) {
    case Json::value_t::string: return "string";
    case Json::value_t::boolean: return "bool";
    case Json::value_t::array: return "[]interface {}";
    case Json::value_t::object: return "map[string]interface {}";
    case Json::value_t::number_float: return "float64";
    case Json::value_t::null: return "<nil>";
    default: return "int64";
  }
}

std::string go_text(const Json& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return go_number(value.get<double>());
  if (!value.is_structured()) return base::dump_json(value);
  std::string out = value.is_object() ? "map[" : "[";
  const char* between = "";
  for (const auto& [key, below] : value.items()) {
    out += between;
    if (value.is_object()) out += key + ":";
    out += go_text(below);
    between = " ";
  }
  return out + "]";
}

std::string go_literal(const Json& value) {
  if (value.is_null()) return "interface {}(nil)";
  if (!value.is_structured()) return base::dump_json(value);
  std::string out = value.is_object() ? "map[string]interface {}{" : "[]interface {}{";
  const char* between = "";
  for (const auto& [key, below] : value.items()) {
    out += between;
    if (value.is_object()) out += go_quoted(key) + ":";
    out += go_literal(below);
    between = ", ";
  }
  return out + "}";
}

std::string go_quoted(std::string_view text) {
  constexpr std::string_view kLettered = "\a\b\f\n\r\t\v\"\\";
  constexpr std::string_view kLetters = "abfnrtv\"\\";
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const base::Utf8Char one = base::next_utf8(text, at);
    const std::string_view bytes = text.substr(at, one.size);
    at += one.size;
    const std::size_t letter = one.size == 1 ? kLettered.find(bytes[0]) : std::string_view::npos;
    if (letter != std::string_view::npos) {
      out += '\\';
      out += kLetters[letter];
    } else if (!one.valid || (one.code < 0x80 && !base::is_print(one.code))) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
    } else if (base::is_print(one.code)) {
      out += bytes;
    } else {
      const auto code = static_cast<unsigned>(one.code);
      out += code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
    }
  }
  return out + '"';
}

std::string shown_value(const Json& value) {
  return value.is_string() ? go_quoted(value.get_ref<const std::string&>()) : core::go_json(value);
}

Result<std::uint64_t> parse_uint(const std::string& text) {
  std::uint64_t value = 0;
  const char* last = text.data() + text.size();
  const auto end = std::from_chars(text.data(), last, value);
  const bool digits = !text.empty() && end.ptr == last;
  if (digits && end.ec == std::errc()) return value;
  const bool too_large = digits && end.ec == std::errc::result_out_of_range;
  return Error(ErrorKind::invalid,
               fmt::format("strconv.ParseUint: parsing {}: {}", go_quoted(text),
                           too_large ? "value out of range" : "invalid syntax"));
}

}  // namespace kubewatch::schema
