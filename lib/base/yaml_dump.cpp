// Writes one value as block-style YAML through yaml-cpp's emitter; which strings need quotes is
// decided here, with the reader's own rules.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <stdexcept>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/utf8.hpp"
#include "base/yaml.hpp"
#include "base/yaml_scalar.hpp"

namespace kubewatch::base {

namespace {

// libyaml reads a simple key only up to 1024 characters.
constexpr std::size_t kMaxSimpleKey = 500;

// Characters that the reader refuses or folds when they stand unescaped.
bool is_awkward(char32_t c) {
  return (c < 0x20 && c != U'\n') || (c >= 0x7f && c <= 0xa0) || c == 0x2028 || c == 0x2029 ||
         c == 0xfeff || (c >= 0xfffe && c <= 0xffff);
}

bool has_awkward(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char c = next_utf8(text, at);
    if (!c.valid || is_awkward(c.code)) return true;
    at += c.size;
  }
  return false;
}

bool is_word_char(char c) {
  return is_alphanumeric(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// Dates are strings for us, but not for every reader of what we print.
bool looks_like_date(std::string_view text) {
  return text.size() >= 8 && text.find_first_not_of("0123456789") == 4 && text[4] == '-';
}

bool is_plain_safe(std::string_view text) {
  if (text.empty() || has_awkward(text) || text.find('\n') != std::string_view::npos) return false;
  if (!is_word_char(text.front()) && text.front() != '/') return false;
  if (text.find_first_of("{}[],&*!|>'\"%`") != std::string_view::npos) return false;
  if (text.back() == ' ' || text.back() == ':') return false;
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) {
    return false;
  }
  // 1:30 is a number for YAML 1.1 readers other than Go's.
  const bool sexagesimal = text.find_first_not_of("0123456789:.") == std::string_view::npos;
  return !sexagesimal && !looks_like_date(text) && resolve_plain_scalar(text).is_string();
}

// Text of several lines that a literal block gives back unchanged.
bool is_literal_safe(std::string_view text) {
  if (text.size() < 2 || text.back() != '\n' || text[text.size() - 2] == '\n') return false;
  if (text.find('\n') == text.size() - 1 || has_awkward(text)) return false;
  // Leading white space would need an indentation indicator; trailing white space is invisible.
  return text.front() != ' ' && text.front() != '\n' && text.find(" \n") == std::string_view::npos;
}

void emit_quoted(YAML::Emitter& out, const std::string& text) {
  const YAML::EMITTER_MANIP charset = has_awkward(text) ? YAML::EscapeNonAscii : YAML::EmitNonAscii;
  out.SetOutputCharset(charset);
  out << YAML::DoubleQuoted << text;
}

// As it is. The emitter would match each string against a dozen expressions to learn whether it may
// stand plain, a quarter of the time of crd-gen; what it writes as a number it does not look at.
void emit_plain(YAML::Emitter& out, std::string_view text) {
  out.WriteIntegralType(text);
}

void emit_string(YAML::Emitter& out, const std::string& text, bool is_key) {
  if (is_plain_safe(text)) {
    emit_plain(out, text);
  } else if (!is_key && is_literal_safe(text)) {
    // The end of the line comes from what follows; a second one would print an empty line.
    out << YAML::Literal << text.substr(0, text.size() - 1);
  } else {
    emit_quoted(out, text);
  }
}

std::string repaired(const std::string& text) {
  if (is_valid_utf8(text)) return text;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char c = next_utf8(text, at);
    append_utf8(out, c.valid ? c.code : 0xfffd);
    at += c.size;
  }
  return out;
}

void emit(YAML::Emitter& out, const Json& value) {
  if (value.is_object() && value.empty()) {
    out << YAML::Flow << YAML::BeginMap << YAML::EndMap;
  } else if (value.is_array() && value.empty()) {
    out << YAML::Flow << YAML::BeginSeq << YAML::EndSeq;
  } else if (value.is_null()) {
    out << YAML::LowerNull << YAML::Null;
  } else if (value.is_object()) {
    out << YAML::BeginMap;
    for (const auto& [key, member] : value.items()) {
      const std::string name = repaired(key);
      if (name.size() > kMaxSimpleKey) out << YAML::LongKey;
      out << YAML::Key;
      emit_string(out, name, true);
      out << YAML::Value;
      emit(out, member);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    out << YAML::BeginSeq;
    for (const Json& item : value) emit(out, item);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    emit_string(out, repaired(value.get_ref<const std::string&>()), false);
  } else {
    emit_plain(out, dump_json(value));
  }
}

}  // namespace

std::string dump_yaml(const Json& value) {
  YAML::Emitter out;
  out.SetIndent(2);
  emit(out, value);
  // The emitter fails only when it is driven wrongly.
  if (!out.good()) throw std::logic_error("YAML emitter: " + out.GetLastError());
  return std::string(out.c_str(), out.size()) + "\n";
}

}  // namespace kubewatch::base
